"""Contact scenes run by this engine and by its peers, side by side: `python -m benchmarks.contacts`."""
