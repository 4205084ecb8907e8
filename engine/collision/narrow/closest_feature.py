"""Result of the narrow phase for one pair: gap, normal and point."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3

# (gap [m], unit normal from side 0 to side 1, midpoint between the surfaces [m])
Hit = tuple[float, Vec3, Vec3]

# farther apart than the limit
MISS: Hit = (math.inf, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@kernel
def midpoint(a: Vec3, b: Vec3, radius_a: float, radius_b: float, n: Vec3) -> Vec3:
    """Half way between the surfaces at a + radius_a n and b - radius_b n [m]."""
    shift = 0.5 * (radius_a - radius_b)
    return (
        0.5 * (a[0] + b[0]) + shift * n[0],
        0.5 * (a[1] + b[1]) + shift * n[1],
        0.5 * (a[2] + b[2]) + shift * n[2],
    )


@kernel
def hit_of_points(a: Vec3, b: Vec3, radius_a: float, radius_b: float, n0: Vec3) -> Hit:
    """The hit of nearest core points a, b with a radius each; n0 is the normal if they coincide.

    n = (b - a) / |b - a|,   gap = |b - a| - radius_a - radius_b
    point = midpoint of the surfaces
    """
    d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    # |d| scaled by the largest component: squares of tiny numbers would underflow
    most = max(abs(d[0]), abs(d[1]), abs(d[2]))
    n = n0
    distance = 0.0
    if most > 1e-150:
        e = (d[0] / most, d[1] / most, d[2] / most)
        length = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        n = (e[0] / length, e[1] / length, e[2] / length)
        distance = most * length
    return (distance - radius_a - radius_b, n, midpoint(a, b, radius_a, radius_b, n))
