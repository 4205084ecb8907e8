"""HTTP routes: one resource per file; parse, call, answer."""
