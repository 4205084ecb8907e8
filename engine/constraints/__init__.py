"""Constraint rows: Jacobians, biases and bounds of joints, limits, motors and contacts."""
