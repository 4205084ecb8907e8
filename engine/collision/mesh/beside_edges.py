"""Contacts over faces that a solid leaves over a convex edge.

What tips or slides over an edge of a mesh touches it along the normal of its own face, or of the
triangle that it comes to. The triangle that it leaves ends there, and would push along its own
normal what only moves past.
"""

from __future__ import annotations

from cardan.engine.collision.manifold.contact_reduction import (
    DROPPED,
    SAME_NORMAL,
    SAME_POINT,
    drop_marked,
)
from cardan.engine.collision.mesh.swept_bounds import relative_velocity
from cardan.engine.collision.mesh.triangle import bottom_of, top_of, triangle_of
from cardan.engine.collision.narrow.solid import radius_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import add, add_scaled, dot, load3, load3_from, sub
from cardan.engine.world.collision import (
    BOUND,
    CLUSTER_POINTS,
    POSITION,
    CollisionScratch,
    Pair,
    Reduction,
)
from cardan.engine.world.model import Meshes

# Points closer than this share of the size to a plane are in it; of contacts at a distance also
# those closer than that, and than this share of the size.
ONE_PLANE = 1e-3
MOST_APART = 1e-2


@kernel
def is_above(reduction: Reduction, pair: Pair, row: int) -> bool:
    """Whether the solid is nowhere below the plane of a contact."""
    n = load3(reduction.normal, row)
    level = dot(n, load3(reduction.point, row)) - 0.5 * abs(reduction.gap[row])
    slack = SAME_POINT * pair.solids[0, BOUND]
    return bool(bottom_of(pair, n, radius_of(pair, 0)) >= level - slack)


@kernel
def is_in_plane(reduction: Reduction, pair: Pair, row: int, other: int) -> bool:
    """Whether a contact is in the plane of another, which is no deeper."""
    size, gap = pair.solids[0, BOUND], reduction.gap[other]
    d = sub(load3(reduction.point, other), load3(reduction.point, row))
    near = max(abs(gap), abs(reduction.gap[row]))
    near = ONE_PLANE * size + min(near, MOST_APART * size)
    away = dot(load3(reduction.normal, other), d)
    return bool(abs(away) <= near and gap <= reduction.gap[row] + near)


@kernel
def passes_over(scratch: CollisionScratch, sides: tuple[int, int], row: int, other: int) -> bool:
    """Whether the point of a contact is beyond that of another, where the face ends, before its gap
    closes."""
    reduction = scratch.reduction
    n, p, gap = load3(reduction.normal, row), load3(reduction.point, row), reduction.gap[row]
    if not gap > 0.0 or reduction.gap[other] > gap:
        return False
    v = relative_velocity(scratch, sides, add(load3_from(scratch.solids, sides[0], POSITION), p))
    closing = -dot(n, v)
    if not closing > 0.0:
        return False
    m = load3(reduction.normal, other)
    beyond = add_scaled(m, -dot(m, n), n)
    way = sub(add_scaled(p, gap / closing, v), load3(reduction.point, other))
    return bool(dot(beyond, way) > 0.0)


@kernel
def falls_back(reduction: Reduction, pair: Pair, meshes: Meshes, row: int, other: int) -> bool:
    """Whether the triangle of a contact is nowhere before the plane of another: not in a hollow."""
    m = load3(reduction.normal, other)
    level = dot(m, load3(reduction.point, other)) + 0.5 * abs(reduction.gap[other])
    corners = triangle_of(pair, meshes, reduction.triangle[row])
    return bool(top_of(corners, m) <= level + ONE_PLANE * pair.solids[0, BOUND])


@kernel
def is_left(
    scratch: CollisionScratch, pair: Pair, meshes: Meshes, sides: tuple[int, int], row: int
) -> bool:
    """Whether the solid goes on below the plane of a contact, and stands on another in whose plane
    that is, or where that face ends."""
    reduction = scratch.reduction
    n = load3(reduction.normal, row)
    for g in range(reduction.used[0]):
        first = g * CLUSTER_POINTS
        for other in range(first, first + reduction.size[g]):
            # another point of the same flat region does not end it
            if dot(n, load3(reduction.normal, other)) > SAME_NORMAL:
                continue
            beside = is_in_plane(reduction, pair, row, other)
            if not (beside or passes_over(scratch, sides, row, other)):
                continue
            if is_above(reduction, pair, other) and falls_back(reduction, pair, meshes, row, other):
                return not is_above(reduction, pair, row)
    return False


@kernel
def drop_beside_edges(
    scratch: CollisionScratch, pair: Pair, meshes: Meshes, sides: tuple[int, int]
) -> None:
    """Drop contacts over faces that the solid leaves; sides = (solid, mesh).

    Check   tests/laws/test_passing.py
    """
    reduction = scratch.reduction
    for g in range(reduction.used[0]):
        first = g * CLUSTER_POINTS
        for row in range(first, first + reduction.size[g]):
            if is_left(scratch, pair, meshes, sides, row):
                reduction.triangle[row] = DROPPED
        drop_marked(reduction, g)
