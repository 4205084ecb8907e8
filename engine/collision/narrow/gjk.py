"""Distance of two convex cores: Gilbert, Johnson and Keerthi."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.narrow.simplex import Weights, simplex_weights
from cardan.engine.collision.narrow.solid import position_of, scale_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, negate, sub
from cardan.engine.world.collision import Pair

FAR, APART, MEET = 0, 1, 2

MAX_STEPS = 64
# Relative accuracy of the squared distance: v.v - v.w bounds the error (Gilbert et al., theorem 3).
TOLERANCE = 1e-11
# Cores nearer than this share of the size intersect: their distance is rounding.
TOUCHING = 1e-7


@kernel
def write_support(pair: Pair, d: Vec3, array: NDArray, i: int) -> Vec3:
    """Row i = (a - b, a, b), a farthest in A along d, b farthest in B along -d; returns a - b."""
    a = support(pair, 0, d)
    b = support(pair, 1, negate(d))
    w = sub(a, b)
    for k in range(3):
        array[i, k] = w[k]
        array[i, 3 + k] = a[k]
        array[i, 6 + k] = b[k]
    return w


@kernel
def weighted(simplex: NDArray, count: int, column: int, weights: Weights) -> Vec3:
    """Weighted sum of the corners' columns column : column + 3."""
    x = 0.0
    y = 0.0
    z = 0.0
    for i in range(count):
        w = weights[i]
        x += w * simplex[i, column]
        y += w * simplex[i, column + 1]
        z += w * simplex[i, column + 2]
    return (x, y, z)


@kernel
def keep_carriers(simplex: NDArray, count: int, weights: Weights) -> tuple[int, Weights]:
    """Drop corners of zero weight; returns the new count and weights."""
    kept = 0
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        w = weights[i]
        if w > 0.0:
            if kept != i:
                for k in range(9):
                    simplex[kept, k] = simplex[i, k]
            if kept == 0:
                a = w
            elif kept == 1:
                b = w
            elif kept == 2:
                c = w
            else:
                d = w
            kept += 1
    return (kept, (a, b, c, d))


@kernel
def is_known(simplex: NDArray, count: int, w: Vec3) -> bool:
    """True if w is already a corner."""
    for i in range(count):
        if simplex[i, 0] == w[0] and simplex[i, 1] == w[1] and simplex[i, 2] == w[2]:
            return True
    return False


@kernel
def gjk(pair: Pair, limit: float, simplex: NDArray) -> tuple[int, int, Vec3, Vec3]:
    """(FAR | APART | MEET, corners, a, b): nearest points of the two cores where they are apart.

    FAR: the cores are more than `limit` apart, a and b are undefined. MEET: a and b are undefined,
    the simplex contains the origin.
    Each step takes the corner w farthest against v, the nearest point so far; v . w / |v| is a
    lower bound of the distance, |v| an upper one.

    Source  van den Bergen 2003, Collision Detection in Interactive 3D Environments, 4.3
    Check   tests/engine/collision/narrow/test_gap.py
    """
    touching = TOUCHING * scale_of(pair)
    v = sub(position_of(pair, 0), position_of(pair, 1))
    if dot(v, v) <= 0.0:
        v = (1.0, 0.0, 0.0)
    count = 0
    a = v
    b = v
    last = math.inf
    for _ in range(MAX_STEPS):
        w = write_support(pair, negate(v), simplex, count)
        vw = dot(v, w)
        v2 = dot(v, v)
        if vw > 0.0 and vw * vw > limit * limit * v2:
            return (FAR, count, a, b)
        if count > 0 and (v2 - vw <= TOLERANCE * v2 or is_known(simplex, count, w)):
            break
        count, weights = keep_carriers(
            simplex, count + 1, simplex_weights(simplex, count + 1, touching)
        )
        if count == 4:
            return (MEET, 4, a, b)
        v = weighted(simplex, count, 0, weights)
        v2 = dot(v, v)
        if v2 <= touching * touching:
            return (MEET, count, a, b)
        # a step without progress is rounding: the previous one was the last
        if v2 >= last:
            break
        last = v2
        a = weighted(simplex, count, 3, weights)
        b = weighted(simplex, count, 6, weights)
    return (APART, count, a, b)
