"""Any two convex solids through their support functions."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.narrow.closest_feature import MISS, Hit, hit_of_points, midpoint
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
        return (-overlap - r0 - r1, n, midpoint(a, b, r0, r1, n))
    return hit_of_points(a, b, r0, r1, (0.0, 0.0, 1.0))
