"""Elementary constraints: each writes one row and returns its second derivative."""
