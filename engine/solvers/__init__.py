"""Solvers of one Problem; none has heard of joints, bodies' shapes or time."""
