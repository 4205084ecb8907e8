"""Any two convex solids through their support functions."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.narrow.closest_feature import MISS, Hit, hit_of_points
from cardan.engine.collision.narrow.epa import epa
from cardan.engine.collision.narrow.gjk import FAR, MEET, gjk
from cardan.engine.collision.narrow.solid import radius_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import Pair, Polytope


@kernel
def convex_convex(pair: Pair, limit: float, simplex: NDArray, polytope: Polytope) -> Hit:
    """Gap, normal and point of two solids, MISS beyond `limit` [m].

    The gap is the distance of the cores, or minus the least depth of cores that intersect, less
    both radii.

    Writes  simplex, polytope (scratch)
    """
    r0 = radius_of(pair, 0)
    r1 = radius_of(pair, 1)
    status, count, a, b = gjk(pair, limit + r0 + r1, simplex)
    if status == FAR:
        return MISS
    if status == MEET:
        for i in range(count):
            for k in range(9):
                polytope.vertex[i, k] = simplex[i, k]
        overlap, n, a, b = epa(pair, count, polytope)
        # on A the surface is at a + r0 n, on B at b - r1 n
        shift = 0.5 * (r0 - r1)
        point = (
            0.5 * (a[0] + b[0]) + shift * n[0],
            0.5 * (a[1] + b[1]) + shift * n[1],
            0.5 * (a[2] + b[2]) + shift * n[2],
        )
        return (-overlap - r0 - r1, n, point)
    return hit_of_points(a, b, r0, r1, (0.0, 0.0, 1.0))
