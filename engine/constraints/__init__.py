"""Constraint rows: which relative velocities are not allowed."""
