"""Nearest points: in a box, in a disk, in a friction cone."""

from __future__ import annotations

from math import sqrt

from engine.kernel import kernel


@kernel
def clamp(x: float, lo: float, hi: float) -> float:
    """Nearest number to x in [lo, hi]; NaN stays NaN."""
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


@kernel
def project_disk(x: float, y: float, radius: float) -> tuple[float, float]:
    """Nearest point to (x, y) in the disk of a radius (negative: taken as 0) about the origin."""
    squared = x * x + y * y
    if radius <= 0.0:
        return 0.0 * squared, 0.0 * squared
    if squared > radius * radius:
        share = radius / sqrt(squared)
        return share * x, share * y
    return x, y


@kernel
def project_cone(n: float, x: float, y: float, mu: float) -> tuple[float, float, float]:
    """Nearest point to (n, x, y) in the cone K_mu = {sqrt(x^2 + y^2) <= mu n}.

    Inside: itself.  In the polar cone (mu |t| <= -n): the tip.  Else on the surface:
        n' = (n + mu |t|) / (1 + mu^2),   t' = mu n' t / |t|
    Check   tests/engine/solvers/test_projection.py: against a minimiser
    """
    length = sqrt(x * x + y * y)
    if length <= mu * n:
        return n, x, y
    if mu * length <= -n:
        return 0.0, 0.0, 0.0
    if length == 0.0:
        return max(n, 0.0), 0.0, 0.0
    n_new = (n + mu * length) / (1.0 + mu * mu)
    share = mu * n_new / length
    return n_new, share * x, share * y
