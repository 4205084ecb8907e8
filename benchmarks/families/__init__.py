"""Scenes drawn at random from families, beside the peers: `python -m benchmarks.families`."""
