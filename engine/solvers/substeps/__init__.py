"""Soft-constraint Gauss-Seidel solver in substeps of a time step."""
