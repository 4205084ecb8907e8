"""Every figure the README gives, from one run: `python -m benchmarks`."""
