"""Factorisations, Schur complements, and the solvers that hold the matrix."""
