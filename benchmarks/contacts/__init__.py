"""Contact scenes, this engine beside its peers: `python -m benchmarks.contacts`."""
