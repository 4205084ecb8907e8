"""Projected Gauss-Seidel on several contacts at a time, by graph colouring."""
