"""Projected Gauss-Seidel on eight contacts at a time, by graph colouring."""
