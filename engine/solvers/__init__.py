"""Solvers of the constraint problem  w = A lam + b:  direct, pivoting, Newton, sweeps, gradient.

A solver reads a `Problem`, and the factor of the trees that it refers to. Two read more: direct
methods factor the graph of bodies and equations, and soft substeps (`substeps/`) read constraint
rows, softness and the length of the step.
"""
