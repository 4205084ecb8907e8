"""Depth of two overlapping cores: the expanding polytope of van den Bergen, in a form that does
not need the origin inside.

A polytope of points of A - B grows at the face nearest to the origin (signed: the origin may still
be outside) until that face lies on the surface. Its normal is then the direction of least
penetration; in every state, n . w of the newest point w is an overlap that n truly separates.
"""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.gjk import write_support
from cardan.engine.collision.narrow.refine_normal import lifted, refined_normal
from cardan.engine.collision.narrow.simplex import triangle_weights
from cardan.engine.collision.narrow.solid import scale_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    Vec3,
    cross,
    dot,
    load3,
    negate,
    norm,
    perpendicular,
    scale,
    sub,
)
from cardan.engine.world.collision import MAX_POLYTOPE_POINTS, Pair, Polytope

# The nearest face is on the surface when no point is farther out than this share of the size.
TOLERANCE = 1e-10
# With so many vertices the surface is about equally near all around (a ball in a cylinder): from
# here on only the newest faces are refined, to a local minimum; refine_normal.py continues from
# there.
GLOBAL_POINTS = 192
# An initial simplex thinner than this share of the size is extended by wider points ...
THIN = 1e-6
# ... and if there are none wider than this, the difference has no volume.
FLAT = 1e-13
# A point sees a face when it is this share of the size in front of it.
VISIBLE = 1e-13


@kernel
def put_face(polytope: Polytope, f: int, a: int, b: int, c: int) -> None:
    """Face f = (a, b, c) with its plane; a face without area is never the nearest one."""
    polytope.face[f, 0] = a
    polytope.face[f, 1] = b
    polytope.face[f, 2] = c
    p = load3(polytope.vertex, a)
    q = load3(polytope.vertex, b)
    r = load3(polytope.vertex, c)
    u, v = sub(q, p), sub(r, p)
    n = cross(u, v)
    length = norm(n)
    if length > 1e-13 * norm(u) * norm(v) and length > 0.0:
        n = scale(1.0 / length, n)
        polytope.plane[f, 3] = (dot(n, p) + dot(n, q) + dot(n, r)) / 3.0
    else:
        n = (0.0, 0.0, 0.0)
        polytope.plane[f, 3] = math.inf
    for k in range(3):
        polytope.plane[f, k] = n[k]


@kernel
def world_direction(k: int) -> Vec3:
    """+x, +y, +z, -x, -y, -z."""
    s = 1.0 if k < 3 else -1.0
    return (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)


@kernel
def farthest_from_line(pair: Pair, polytope: Polytope) -> None:
    """Vertex 2: off the line through vertices 0 and 1, tried in six directions across it."""
    a = load3(polytope.vertex, 0)
    d = sub(load3(polytope.vertex, 1), a)
    e = perpendicular(scale(1.0 / norm(d), d))
    g = scale(1.0 / norm(d), cross(d, e))
    best = 0.0
    best_direction = e
    for k in range(6):
        angle = k * (math.pi / 3.0)
        direction = (
            math.cos(angle) * e[0] + math.sin(angle) * g[0],
            math.cos(angle) * e[1] + math.sin(angle) * g[1],
            math.cos(angle) * e[2] + math.sin(angle) * g[2],
        )
        w = write_support(pair, direction, polytope.vertex, 2)
        apart = norm(cross(sub(w, a), d))
        if apart > best * (1.0 + 1e-9):
            best = apart
            best_direction = direction
    write_support(pair, best_direction, polytope.vertex, 2)


@kernel
def spread_vertices(polytope: Polytope, count: int, thin: float) -> int:
    """How many of the first `count` vertices span a simplex thicker than `thin` [m]: 1 to 4."""
    a = load3(polytope.vertex, 0)
    u = sub(load3(polytope.vertex, 1), a)
    if count < 2 or norm(u) <= thin:
        return 1
    n = cross(u, sub(load3(polytope.vertex, 2), a))
    area = norm(n)
    if count < 3 or area <= thin * norm(u):
        return 2
    if count < 4 or abs(dot(n, sub(load3(polytope.vertex, 3), a))) <= thin * area:
        return 3
    return 4


@kernel
def farthest_from_point(pair: Pair, polytope: Polytope) -> None:
    """Vertex 1: away from vertex 0, tried along the six world directions."""
    p = load3(polytope.vertex, 0)
    best = 0.0
    direction = (1.0, 0.0, 0.0)
    for k in range(6):
        d = world_direction(k)
        w = sub(write_support(pair, d, polytope.vertex, 1), p)
        if dot(w, w) > best * (1.0 + 1e-9):
            best = dot(w, w)
            direction = d
    write_support(pair, direction, polytope.vertex, 1)


@kernel
def farthest_from_triangle(pair: Pair, polytope: Polytope) -> None:
    """Vertex 3: off the plane of the first three, to the side that reaches farther."""
    a = load3(polytope.vertex, 0)
    n = cross(sub(load3(polytope.vertex, 1), a), sub(load3(polytope.vertex, 2), a))
    up = abs(dot(n, sub(write_support(pair, n, polytope.vertex, 3), a)))
    down = abs(dot(n, sub(write_support(pair, negate(n), polytope.vertex, 3), a)))
    if up > down:
        write_support(pair, n, polytope.vertex, 3)


@kernel
def write_tetrahedron(pair: Pair, count: int, polytope: Polytope) -> bool:
    """Complete the first `count` vertices to a tetrahedron; False if A - B is flat."""
    size = scale_of(pair)
    count = spread_vertices(polytope, count, THIN * size)
    if count < 2:
        farthest_from_point(pair, polytope)
    if count < 3:
        if spread_vertices(polytope, 2, FLAT * size) < 2:
            return False
        farthest_from_line(pair, polytope)
    if count < 4:
        if spread_vertices(polytope, 3, FLAT * size) < 3:
            return False
        farthest_from_triangle(pair, polytope)
    if spread_vertices(polytope, 4, FLAT * size) < 4:
        return False
    # outward faces: the fourth vertex lies behind (0, 1, 2)
    a = load3(polytope.vertex, 0)
    n = cross(sub(load3(polytope.vertex, 1), a), sub(load3(polytope.vertex, 2), a))
    if dot(n, sub(load3(polytope.vertex, 3), a)) > 0.0:
        write_four_faces(polytope, 0, 2, 1)
    else:
        write_four_faces(polytope, 0, 1, 2)
    return True


@kernel
def write_four_faces(polytope: Polytope, a: int, b: int, c: int) -> None:
    """Faces of the tetrahedron (a, b, c, 3) with (a, b, c) counter-clockwise from outside."""
    put_face(polytope, 0, a, b, c)
    put_face(polytope, 1, b, a, 3)
    put_face(polytope, 2, c, b, 3)
    put_face(polytope, 3, a, c, 3)


@kernel
def toggle_edge(polytope: Polytope, count: int, a: int, b: int) -> int:
    """Edge a -> b of a visible face: it cancels its twin b -> a, else it joins the horizon."""
    for e in range(count):
        if polytope.edge[e, 0] == b and polytope.edge[e, 1] == a:
            polytope.edge[e, 0] = polytope.edge[count - 1, 0]
            polytope.edge[e, 1] = polytope.edge[count - 1, 1]
            return count - 1
    polytope.edge[count, 0] = a
    polytope.edge[count, 1] = b
    return count + 1


@kernel
def replace_visible(
    polytope: Polytope, faces: int, nearest: int, vertex: int, eps: float
) -> tuple[int, int]:
    """Remove the faces that `vertex` sees, close the hole with it; (faces, first of the new)."""
    w = load3(polytope.vertex, vertex)
    edges = 0
    f = faces - 1
    while f >= 0:
        plane = polytope.plane
        n = load3(plane, f)
        if f == nearest or dot(n, w) - plane[f, 3] > eps:
            for k in range(3):
                edges = toggle_edge(
                    polytope, edges, polytope.face[f, k], polytope.face[f, (k + 1) % 3]
                )
            # the last face moves into the gap; it has been tested already
            faces -= 1
            for k in range(3):
                polytope.face[f, k] = polytope.face[faces, k]
            for k in range(4):
                plane[f, k] = plane[faces, k]
        f -= 1
    first_new = faces
    for e in range(edges):
        if faces < len(polytope.face):
            put_face(polytope, faces, polytope.edge[e, 0], polytope.edge[e, 1], vertex)
            faces += 1
    return (faces, first_new)


@kernel
def nearest_face(polytope: Polytope, first: int, faces: int) -> int:
    """The face of least offset from number `first` on; the first of equals."""
    best = first
    for f in range(first + 1, faces):
        if polytope.plane[f, 3] < polytope.plane[best, 3]:
            best = f
    return best


@kernel
def epa(pair: Pair, count: int, polytope: Polytope) -> tuple[float, Vec3, Vec3, Vec3]:
    """(overlap, normal from A to B, point on A, point on B) of two cores that meet.

    Moving B by overlap * normal separates them; no shorter move does. The first `count` vertices
    of the polytope are the simplex of gjk.

    Source  van den Bergen 2001, Proximity Queries and Penetration Depth Computation
    Check   tests/engine/collision/narrow/test_gap.py
    """
    size = scale_of(pair)
    slack = TOLERANCE * size
    faces = 4
    if not write_tetrahedron(pair, count, polytope):
        return flat_overlap(pair, polytope)
    vertices = 4
    first_new = 0
    least = math.inf
    normal = (0.0, 0.0, 1.0)
    a = load3(polytope.vertex, 0)
    b = a
    while vertices < MAX_POLYTOPE_POINTS:
        f = nearest_face(polytope, first_new if vertices > GLOBAL_POINTS else 0, faces)
        n = load3(polytope.plane, f)
        offset = polytope.plane[f, 3]
        # also when every face that may hold the nearest point has been tested
        if offset == math.inf or offset > least + slack:
            break
        w = write_support(pair, n, polytope.vertex, vertices)
        overlap = dot(n, w)
        p, q, is_under = face_points(polytope, f)
        if overlap < least - slack or (is_under and overlap < least + slack):
            least = overlap
            normal = n
            # the face lies slightly below round surfaces: project onto them along n
            a = lifted(p, n, polytope, vertices, 3)
            b = lifted(q, n, polytope, vertices, 6)
        if overlap - offset > slack:
            faces, first_new = replace_visible(polytope, faces, f, vertices, VISIBLE * size)
            vertices += 1
        elif is_under:
            break
        else:
            # on the surface, but the nearest point lies in another face of the same plane
            polytope.plane[f, 3] = math.inf
    if least == math.inf:
        return flat_overlap(pair, polytope)
    if vertices > GLOBAL_POINTS:
        return refined_normal(pair, polytope, (least, normal, a, b))
    return (least, normal, a, b)


@kernel
def face_points(polytope: Polytope, f: int) -> tuple[Vec3, Vec3, bool]:
    """Points of A and of B whose difference is the face's point nearest to the origin.

    The third value: whether that point lies inside the face.
    """
    i, j, k = polytope.face[f, 0], polytope.face[f, 1], polytope.face[f, 2]
    p = polytope.vertex
    x, y, z = triangle_weights(load3(p, i), load3(p, j), load3(p, k))
    return (
        (
            x * p[i, 3] + y * p[j, 3] + z * p[k, 3],
            x * p[i, 4] + y * p[j, 4] + z * p[k, 4],
            x * p[i, 5] + y * p[j, 5] + z * p[k, 5],
        ),
        (
            x * p[i, 6] + y * p[j, 6] + z * p[k, 6],
            x * p[i, 7] + y * p[j, 7] + z * p[k, 7],
            x * p[i, 8] + y * p[j, 8] + z * p[k, 8],
        ),
        bool(x > 0.0 and y > 0.0 and z > 0.0),
    )


@kernel
def flat_overlap(pair: Pair, polytope: Polytope) -> tuple[float, Vec3, Vec3, Vec3]:
    """Overlap of an A - B without volume: the world axis of least extent."""
    least = math.inf
    normal = (0.0, 0.0, 1.0)
    for k in range(6):
        d = world_direction(k)
        overlap = dot(d, write_support(pair, d, polytope.vertex, 0))
        if overlap < least:
            least = overlap
            normal = d
    write_support(pair, normal, polytope.vertex, 0)
    p = polytope.vertex
    return (least, normal, (p[0, 3], p[0, 4], p[0, 5]), (p[0, 6], p[0, 7], p[0, 8]))
