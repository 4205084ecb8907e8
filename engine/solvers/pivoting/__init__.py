"""Exact methods for linear complementarity problems: Lemke, principal pivoting."""
