"""Constraint rows of a step in words and as tables, and the problem that the next step solves."""
