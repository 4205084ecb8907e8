"""Nearest points: in a box, in a disk, in a regular polygon, in a friction cone."""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.problem import FRICTION_CONE, FRICTION_POLYGON


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
def polygon_sector(x: float, y: float, directions: int) -> tuple[float, float]:
    """(cos, sin) of the normal of the polygon's edge in whose sector (x, y) lies.

    Edges run from vertex to vertex, and vertices are at the angles 2 pi k / directions.
    """
    width = 2.0 * pi / directions
    angle = (atan2(y, x) // width + 0.5) * width
    return cos(angle), sin(angle)


@kernel
def project_polygon(x: float, y: float, radius: float, directions: int) -> tuple[float, float]:
    """Nearest point to (x, y) in the regular polygon with vertices radius (cos, sin)(2 pi k / n).

    With the sector's edge normal e and p = (x, y).e, q across it: inside where p <= r cos(pi/n),
    else p = r cos(pi/n) and |q| <= r sin(pi/n). Sectors are mirror images of each other across
    the rays to the vertices, so the nearest edge is the sector's own.
    Check   tests/engine/problem/test_projection.py: against a minimiser
    """
    if radius <= 0.0:
        return 0.0 * (x + y), 0.0 * (x + y)
    if x * x + y * y == 0.0:
        return x, y
    e1, e2 = polygon_sector(x, y, directions)
    depth = radius * cos(pi / directions)
    p = x * e1 + y * e2
    if p <= depth:
        return x, y
    half = radius * sin(pi / directions)
    q = clamp(y * e1 - x * e2, -half, half)
    return depth * e1 - q * e2, depth * e2 + q * e1


@kernel
def project_pair(
    x: float, y: float, radius: float, kind: int, directions: int
) -> tuple[float, float]:
    """Nearest point to (x, y) in the set of a friction kind: disk, square or polygon."""
    if kind == FRICTION_CONE:
        return project_disk(x, y, radius)
    if kind == FRICTION_POLYGON:
        return project_polygon(x, y, radius, directions)
    radius = max(radius, 0.0)
    return clamp(x, -radius, radius), clamp(y, -radius, radius)


@kernel
def project_cone(n: float, x: float, y: float, mu: float) -> tuple[float, float, float]:
    """Nearest point to (n, x, y) in the cone K_mu = {sqrt(x^2 + y^2) <= mu n}.

    Inside: itself.  In the polar cone (mu |t| <= -n): the tip.  Else on the surface:
        n' = (n + mu |t|) / (1 + mu^2),   t' = mu n' t / |t|
    Check   tests/engine/problem/test_projection.py: against a minimiser
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
