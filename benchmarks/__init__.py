"""Every figure of docs/figures.md, from one run: `python -m benchmarks`."""
