"""Equilibria, reactions, stability, linear models and inverse kinematics of scenes."""
