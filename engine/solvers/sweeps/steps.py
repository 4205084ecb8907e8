"""Steps of sweeps: how far a row moves for its velocity, the same in all forms of A."""

from __future__ import annotations

from math import sqrt

from cardan.engine.compiler.kernel import kernel


@kernel
def step_of(D: float) -> float:
    """Step of a row, or of a pair with this block_diagonal: 1 / D, or 0 for D = 0."""
    return 1.0 / D if D > 0.0 else 0.0


@kernel
def block_diagonal(D1: float, D2: float, c: float) -> float:
    """Larger eigenvalue of [[D1, c], [c, D2]]; its inverse is a safe step for a tangent pair."""
    half = 0.5 * (D1 - D2)
    return 0.5 * (D1 + D2) + sqrt(half * half + c * c)
