"""Projected Jacobi, Gauss-Seidel and SOR."""
