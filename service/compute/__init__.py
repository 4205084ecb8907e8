"""Computations that answer a request: validation, dynamics, complementarity, import."""
