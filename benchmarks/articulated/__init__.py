"""Chains and figures, this engine beside its peers: `python -m benchmarks.articulated`."""
