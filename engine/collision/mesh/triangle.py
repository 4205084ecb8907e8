"""One triangle of a mesh as a side of a pair, and its normal cones.

Contacts over the face of a triangle have its normal. At an edge or a vertex the normal is in the
normal cone of the adjacent faces. For flat and concave edges this cone contains the face normals
only, so that a solid does not catch on them.
"""

from __future__ import annotations

from cardan.engine.collision.narrow.solid import position_of, to_world
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, load3, norm, normalised, scale, sub
from cardan.engine.world.collision import (
    BOUND,
    FACE_COUNT,
    FACE_START,
    KIND,
    N_COLUMNS,
    POINT_COUNT,
    POINT_START,
    POSITION,
    ROTATION,
    Pair,
    Patch,
)
from cardan.engine.world.model import CONVEX, EDGE_BORDER, EDGE_CONVEX, EDGE_INNER, Meshes

# Corners, counter-clockwise from outside [m]
Triangle = tuple[Vec3, Vec3, Vec3]

# Directions with a larger cosine to a face's normal count as that normal: 4.5e-5 rad.
ALONG_FACE = 1.0 - 1e-9
# A direction may be outside the normal cone by this sine: rounding.
LEAN = 1e-6

MESH_ROW = 2


@kernel
def mesh_point(pair: Pair, x: Vec3) -> Vec3:
    """A point given in the mesh's axes, in those of the pair."""
    return add(position_of(pair, MESH_ROW), to_world(pair, MESH_ROW, x))


@kernel
def triangle_of(pair: Pair, meshes: Meshes, t: int) -> Triangle:
    """Corners of triangle t in the axes of the pair."""
    return (
        mesh_point(pair, load3(meshes.vertex, meshes.corner[t, 0])),
        mesh_point(pair, load3(meshes.vertex, meshes.corner[t, 1])),
        mesh_point(pair, load3(meshes.vertex, meshes.corner[t, 2])),
    )


@kernel
def clear_triangle(pair: Pair) -> None:
    """Make side 1 a hull of three vertices of zero thickness, in world axes."""
    solids = pair.solids
    for k in range(N_COLUMNS):
        solids[1, k] = 0.0
    solids[1, KIND] = CONVEX
    for k in range(3):
        solids[1, ROTATION + 4 * k] = 1.0
    solids[1, POINT_START] = len(pair.points) - 3
    solids[1, POINT_COUNT] = 3
    solids[1, FACE_START] = 0
    solids[1, FACE_COUNT] = 0


@kernel
def write_triangle(pair: Pair, corners: Triangle) -> None:
    """Write the triangle as side 1, with its centroid as origin."""
    a, b, c = corners
    middle = scale(1.0 / 3.0, add(add(a, b), c))
    first = len(pair.points) - 3
    reach = 0.0
    for k in range(3):
        x = sub(corners[k], middle)
        reach = max(reach, norm(x))
        for i in range(3):
            pair.points[first + k, i] = x[i]
    pair.solids[1, BOUND] = reach
    for i in range(3):
        pair.solids[1, POSITION + i] = middle[i]


@kernel
def put_corners(patch: Patch, corners: Triangle) -> None:
    """Write the triangle as the feature of side 1."""
    for k in range(3):
        x = corners[k]
        for i in range(3):
            patch.polygon[1, k, i] = x[i]


@kernel
def is_over(corners: Triangle, n: Vec3, p: Vec3, slack: float) -> bool:
    """True if p, projected along the normal n, is at most `slack` [m] outside the triangle."""
    for k in range(3):
        a = corners[k]
        b = corners[(k + 1) % 3]
        inward = normalised(cross(n, sub(b, a)))
        if dot(inward, sub(p, a)) < -slack:
            return False
    return True


@kernel
def top_of(corners: Triangle, d: Vec3) -> float:
    """max d . x over the triangle [m]."""
    return max(dot(d, corners[0]), dot(d, corners[1]), dot(d, corners[2]))


@kernel
def bottom_of(pair: Pair, d: Vec3, radius: float) -> float:
    """min d . x over the solid [m]."""
    return dot(d, support(pair, 0, (-d[0], -d[1], -d[2]))) - radius


@kernel
def has_edges(meshes: Meshes, t: int) -> bool:
    """True if a solid may rest on an edge or a corner of triangle t and on no face."""
    return bool(
        meshes.edge_kind[t, 0] != EDGE_INNER
        or meshes.edge_kind[t, 1] != EDGE_INNER
        or meshes.edge_kind[t, 2] != EDGE_INNER
    )


@kernel
def feature_towards(corners: Triangle, d: Vec3) -> tuple[int, int]:
    """The feature of the triangle farthest along d: 2, k is edge k -> k + 1; 1, k is corner k."""
    most = top_of(corners, d)
    count = 0
    last = 0
    missing = 0
    for k in range(3):
        fall = most - dot(d, corners[k])
        nearest_edge = max(
            norm(sub(corners[k], corners[(k + 1) % 3])), norm(sub(corners[k], corners[(k + 2) % 3]))
        )
        if fall <= LEAN * nearest_edge:
            count += 1
            last = k
        else:
            missing = k
    if count == 2:
        return (2, (missing + 1) % 3)
    return (count, last)


@kernel
def falls_away(pair: Pair, meshes: Meshes, v: int, other: int, d: Vec3) -> bool:
    """True if vertex `other` is not farther than vertex v along d (axes of the pair)."""
    x = to_world(pair, MESH_ROW, sub(load3(meshes.vertex, other), load3(meshes.vertex, v)))
    return bool(dot(d, x) <= LEAN * norm(x))


@kernel
def world_normal(pair: Pair, meshes: Meshes, t: int) -> Vec3:
    """Normal of triangle t in the axes of the pair."""
    return to_world(pair, MESH_ROW, load3(meshes.normal, t))


@kernel
def edge_may_push(pair: Pair, meshes: Meshes, t: int, k: int, d: Vec3) -> bool:
    """True if d lies strictly between the normals of the two faces at edge k of triangle t.

    At the border of the surface: on the outer side of its only face.
    """
    n = world_normal(pair, meshes, t)
    if meshes.edge_kind[t, k] == EDGE_INNER or dot(d, n) > ALONG_FACE:
        return False
    v = meshes.corner[t, k]
    if not falls_away(pair, meshes, v, meshes.corner[t, (k + 2) % 3], d):
        return False
    if meshes.edge_kind[t, k] == EDGE_BORDER:
        return bool(dot(d, n) >= 0.0)
    other = meshes.neighbour[t, k]
    m = world_normal(pair, meshes, other)
    if dot(d, m) > ALONG_FACE or dot(d, add(n, m)) <= 0.0:
        return False
    # all corners of the neighbour; those on the edge have the same height
    falls = True
    for c in range(3):
        falls = falls and falls_away(pair, meshes, v, meshes.corner[other, c], d)
    return falls


@kernel
def corner_may_push(pair: Pair, meshes: Meshes, t: int, k: int, d: Vec3) -> bool:
    """True if no edge at corner k of triangle t rises along d, and d is on the outer side."""
    before = (k + 2) % 3
    if meshes.edge_kind[t, k] == EDGE_INNER and meshes.edge_kind[t, before] == EDGE_INNER:
        return False
    if dot(d, world_normal(pair, meshes, t)) > ALONG_FACE:
        return False
    for side in (k, before):
        other = meshes.neighbour[t, side]
        is_convex = meshes.edge_kind[t, side] == EDGE_CONVEX
        if is_convex and dot(d, world_normal(pair, meshes, other)) > ALONG_FACE:
            return False
    v = meshes.corner[t, k]
    if dot(d, to_world(pair, MESH_ROW, load3(meshes.vertex_normal, v))) <= 0.0:
        return False
    falls = True
    for i in range(meshes.ring_start[v], meshes.ring_start[v + 1]):
        falls = falls and falls_away(pair, meshes, v, meshes.ring[i], d)
    return falls
