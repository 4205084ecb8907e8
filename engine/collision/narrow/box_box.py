"""Two boxes by separating axes: three face normals each and nine products of edges."""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.closest_feature import MISS, Hit
from cardan.engine.collision.narrow.solid import axis_of, position_of, scale_of, to_shape
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    Vec3,
    add_scaled,
    cross,
    dot,
    negate,
    normalised,
    scale,
    sub,
)
from cardan.engine.world.collision import SIZE, Pair

# A later axis must beat an earlier one, and edges must beat faces, by this share of the size and
# of the depth: which axis wins must not depend on rounding.
PREFER_SIZE = 1e-7
PREFER_DEPTH = 1e-4


@kernel
def write_cosines(pair: Pair) -> None:
    """cosine[0, i, j] = a_i . b_j of the axes, cosine[1] = their absolute values."""
    for j in range(3):
        b = axis_of(pair, 1, j)
        column = to_shape(pair, 0, b)
        for i in range(3):
            c = column[i]
            pair.cosine[0, i, j] = c
            pair.cosine[1, i, j] = abs(c)


@kernel
def best_face(pair: Pair, t_A: Vec3, t_B: Vec3, limit: float) -> tuple[float, int]:
    """Largest separation along a face normal and its number (0-2 of A, 3-5 of B).

    along a_i:  |t . a_i| - half_A_i - sum_j |a_i . b_j| half_B_j
    """
    best = -math.inf
    number = 0
    slack = PREFER_SIZE * scale_of(pair)
    c = pair.cosine
    for i in range(3):
        reach = pair.solids[0, SIZE + i]
        for j in range(3):
            reach += c[1, i, j] * pair.solids[1, SIZE + j]
        gap = abs(t_A[i]) - reach
        if gap > best + slack:
            best = gap
            number = i
    for j in range(3):
        reach = pair.solids[1, SIZE + j]
        for i in range(3):
            reach += c[1, i, j] * pair.solids[0, SIZE + i]
        gap = abs(t_B[j]) - reach
        if gap > best + slack:
            best = gap
            number = 3 + j
        if best > limit:
            break
    return (best, number)


@kernel
def best_edges(pair: Pair, t_A: Vec3, limit: float) -> tuple[float, int]:
    """Largest separation along a product of edges a_i x b_j and its number 3 i + j.

        length^2 = 1 - (a_i . b_j)^2
        along e_i x c (c = b_j in A):  |t_i2 c_i1 - t_i1 c_i2| - reach_A - reach_B, all / length
    Edges parallel within 1e-5 rad are left out: there a face normal separates as well.
    """
    best = -math.inf
    number = 0
    slack = PREFER_SIZE * scale_of(pair)
    c = pair.cosine
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            length2 = 1.0 - c[0, i, j] * c[0, i, j]
            if length2 > 1e-10:
                j1, j2 = (j + 1) % 3, (j + 2) % 3
                apart = abs(t_A[i2] * c[0, i1, j] - t_A[i1] * c[0, i2, j])
                reach = (
                    pair.solids[0, SIZE + i1] * c[1, i2, j]
                    + pair.solids[0, SIZE + i2] * c[1, i1, j]
                    + pair.solids[1, SIZE + j1] * c[1, i, j2]
                    + pair.solids[1, SIZE + j2] * c[1, i, j1]
                )
                gap = (apart - reach) / math.sqrt(length2)
                if gap > best + slack:
                    best = gap
                    number = 3 * i + j
                if best > limit:
                    return (best, number)
    return (best, number)


@kernel
def edge_hit(pair: Pair, gap: float, n: Vec3, i: int, j: int) -> Hit:
    """The two supporting edges and the points where they pass."""
    u = axis_of(pair, 0, i)
    v = axis_of(pair, 1, j)
    a = support(pair, 0, n)
    b = support(pair, 1, negate(n))
    w = sub(b, a)
    c = dot(u, v)
    s = (dot(u, w) - c * dot(v, w)) / (1.0 - c * c)
    return (gap, n, add_scaled(add_scaled(a, s, u), 0.5 * gap, n))


@kernel
def box_box(pair: Pair, limit: float) -> Hit:
    """Axis of least penetration; where apart, the axis of largest separation.

    When apart and the nearest features are not a face and a corner or two edges, the true gap
    is larger: the caller finds out because no contact point reaches this gap.

    Source  Gottschalk, Lin and Manocha 1996, OBBTree, section 5
    Check   tests/engine/collision/narrow/test_gap.py
    """
    write_cosines(pair)
    t = sub(position_of(pair, 1), position_of(pair, 0))
    t_A = to_shape(pair, 0, t)
    face, number = best_face(pair, t_A, to_shape(pair, 1, t), limit)
    if face > limit:
        return MISS
    edge, edges = best_edges(pair, t_A, limit)
    if edge > limit:
        return MISS
    if edge > face + PREFER_SIZE * scale_of(pair) + PREFER_DEPTH * abs(face):
        i, j = edges // 3, edges % 3
        n = normalised(cross(axis_of(pair, 0, i), axis_of(pair, 1, j)))
        n = n if dot(n, t) >= 0.0 else negate(n)
        return edge_hit(pair, edge, n, i, j)
    if number < 3:
        n = scale(1.0 if t_A[number] >= 0.0 else -1.0, axis_of(pair, 0, number))
        return (face, n, add_scaled(support(pair, 1, negate(n)), -0.5 * face, n))
    axis = axis_of(pair, 1, number - 3)
    n = axis if dot(axis, t) >= 0.0 else negate(axis)
    return (face, n, add_scaled(support(pair, 0, n), 0.5 * face, n))
