"""A convex solid against the convex edges and corners of a triangle of a mesh."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.mesh.triangle import (
    Triangle,
    corner_may_push,
    edge_may_push,
    feature_towards,
)
from cardan.engine.collision.narrow.closest_feature import MISS, Hit, hit_of_points
from cardan.engine.collision.narrow.epa import epa
from cardan.engine.collision.narrow.gjk import APART, FAR, MEET, gjk
from cardan.engine.collision.narrow.simplex import triangle_weights
from cardan.engine.collision.narrow.solid import kind_of, position_of, radius_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, dot, negate, norm, scale, sub
from cardan.engine.world.collision import CollisionScratch, Pair
from cardan.engine.world.model import SPHERE, Meshes

# An edge that leans less than this [rad] against what is on it lies there.
LYING = 1e-2


@kernel
def nearest_corner_point(corners: Triangle, p: Vec3) -> Vec3:
    """The point of the triangle nearest to p."""
    a, b, c = corners
    x, y, z = triangle_weights(sub(a, p), sub(b, p), sub(c, p))
    return add(add(scale(x, a), scale(y, b)), scale(z, c))


@kernel
def is_met(pair: Pair, corners: Triangle, simplex: NDArray) -> bool:
    """True if the solid and the triangle intersect."""
    r = radius_of(pair, 0)
    if kind_of(pair, 0) == SPHERE:
        c = position_of(pair, 0)
        return norm(sub(nearest_corner_point(corners, c), c)) <= r
    status, _, a, b = gjk(pair, r, simplex)
    return status == MEET or (status == APART and norm(sub(a, b)) <= r)


@kernel
def nearest_to_triangle(
    scratch: CollisionScratch, pair: Pair, corners: Triangle, limit: float
) -> Hit:
    """Gap, normal from the solid to the triangle and midpoint; a sphere in closed form."""
    r = radius_of(pair, 0)
    if kind_of(pair, 0) == SPHERE:
        c = position_of(pair, 0)
        b = nearest_corner_point(corners, c)
        d = sub(b, c)
        if dot(d, d) <= 0.0:
            return MISS
        return hit_of_points(c, b, r, 0.0, (0.0, 0.0, 1.0))
    status, count, a, b = gjk(pair, limit + r, scratch.simplex)
    if status == FAR:
        return MISS
    if status == APART:
        return hit_of_points(a, b, r, 0.0, (0.0, 0.0, 1.0))
    polytope = scratch.polytope
    for i in range(count):
        for k in range(9):
            polytope.vertex[i, k] = scratch.simplex[i, k]
    overlap, n, a, b = epa(pair, count, polytope)
    middle = scale(0.5, add(a, b))
    return (-overlap - r, n, add(middle, scale(0.5 * r, n)))


@kernel
def lying_edge(pair: Pair, meshes: Meshes, t: int, corners: Triangle, k: int, d: Vec3) -> int:
    """The edge at corner k of triangle t that lies along what touches the corner; -1 if none does.

    Along a straight rim of many edges the nearest point of all but one is a corner from which the
    next edge rises towards the solid.
    """
    for e in (k, (k + 2) % 3):
        way = sub(corners[(e + 1) % 3], corners[e])
        rise = dot(d, way) / dot(way, way)
        if abs(rise) * norm(way) < LYING and edge_may_push(
            pair, meshes, t, e, add_scaled(d, -rise, way)
        ):
            return e
    return -1


@kernel
def edge_hit(
    scratch: CollisionScratch,
    pair: Pair,
    meshes: Meshes,
    t: int,
    corners: Triangle,
    limit: float,
) -> tuple[Hit, tuple[int, int], bool]:
    """The hit with an edge or corner of triangle t if the normal is in its cone, else MISS.

    The second value is the feature: 2, k edge k -> k + 1; 1, k corner k. Faces are excluded. The
    third one says that only a face of the solid touches the edge: its nearest point is a corner
    from which another edge rises.
    """
    hit = nearest_to_triangle(scratch, pair, corners, limit)
    if not hit[0] <= limit:
        return (MISS, (0, 0), False)
    d = negate(hit[1])
    feature = feature_towards(corners, d)
    count, k = feature
    if count == 2:
        # without penetration an edge belongs to the triangle with the lower number
        other = meshes.neighbour[t, k]
        if hit[0] >= 0.0 and 0 <= other < t:
            return (MISS, feature, False)
        if edge_may_push(pair, meshes, t, k, d):
            return (hit, feature, False)
    elif count == 1:
        if corner_may_push(pair, meshes, t, k, d):
            return (hit, feature, False)
        edge = lying_edge(pair, meshes, t, corners, k, d)
        if edge >= 0:
            return (hit, (2, edge), True)
    return (MISS, feature, False)
