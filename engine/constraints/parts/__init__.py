"""Parts of which joints are sums: each writes one row and states its exact time derivative."""
