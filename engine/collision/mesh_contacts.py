"""A convex solid against a mesh: every triangle near it, then the few contacts that matter.

1 walk      triangles whose bounds the solid may reach within the step
2 faces     where the solid lies over a triangle: gap along the triangle's normal
3 edges     where it does not: gap to an edge or a corner that stands out
4 groups    contacts of like normals thinned to four, those that others resolve dropped

Triangles push to their outer side only. Nothing depends on how a flat surface is cut.
Check   tests/engine/collision/test_mesh_contacts.py, tests/engine/test_meshes.py
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.collision.clip import SIDE
from engine.collision.clusters import add_touch, choose_contacts, drop_resolved
from engine.collision.feature import write_feature
from engine.collision.manifold import (
    NEAREST,
    SAME_DEPTH,
    add_nearest,
    face_candidates,
    feature_number,
    frame_of,
    least_gap,
    put_candidate,
    snap_to_face,
)
from engine.collision.mesh_edges import edge_hit, is_met
from engine.collision.mesh_tree import (
    Box,
    nearest_on_triangle,
    nearest_triangle,
    next_leaf,
    pseudo_normal,
    start_walk,
    triangle_above,
    triangle_meets,
)
from engine.collision.motion import closing_reach, load3_at, point_velocity
from engine.collision.scratch import (
    BOUND,
    KIND,
    N_COLUMNS,
    POINT_START,
    POSITION,
    TURNING,
    CollisionScratch,
    Faces,
    Pair,
)
from engine.collision.solid import axis_of, position_of, radius_of, scale_of, to_shape
from engine.collision.support import support
from engine.collision.triangle import (
    MESH_ROW,
    Triangle,
    bottom_of,
    clear_triangle,
    has_edges,
    is_over,
    put_corners,
    top_of,
    triangle_of,
    world_normal,
    write_triangle,
)
from engine.kernel import kernel
from engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    dot,
    load3,
    negate,
    norm,
    scale,
    store3,
    sub,
)
from engine.world.contacts import Contacts
from engine.world.model import (
    EDGE_CONVEX,
    INSIDE_BELOW,
    INSIDE_NONE,
    MESH,
    TREE_LEAF,
    Meshes,
)

# A contact deeper than this share of the size must lie in a triangle that the solid really meets.
DEEP = 1e-3

# (margin [m], largest gap that may close within the step [m], time step [s])
Reach = tuple[float, float, float]


@kernel
def write_rows(scratch: CollisionScratch, solid: int, mesh: int) -> Vec3:
    """The solid becomes side 0 and the mesh row 2 of the pair; returns their origin in W."""
    origin = load3_at(scratch.solids, solid, POSITION)
    for k in range(N_COLUMNS):
        scratch.pair[0, k] = scratch.solids[solid, k]
        scratch.pair[MESH_ROW, k] = scratch.solids[mesh, k]
    for k in range(3):
        scratch.pair[0, POSITION + k] -= origin[k]
        scratch.pair[MESH_ROW, POSITION + k] -= origin[k]
    return origin


@kernel
def relative_velocity(scratch: CollisionScratch, sides: tuple[int, int], p_W: Vec3) -> Vec3:
    """Velocity of the solid's point at p_W against the mesh's [m/s]."""
    solid, mesh = sides
    v = point_velocity(scratch.solids, solid, p_W)
    return sub(v, point_velocity(scratch.solids, mesh, p_W))


@kernel
def reach_box(scratch: CollisionScratch, pair: Pair, sides: tuple[int, int], reach: Reach) -> Box:
    """Bounds in the mesh's axes of all that the solid may come near within the step.

    Its extent along each axis of the mesh, carried on by the motion of its middle against the
    mesh, and widened by the margin and by what both turns add.
    """
    margin, _, h = reach
    solid, mesh = sides
    origin = load3_at(scratch.solids, solid, POSITION)
    r = radius_of(pair, 0)
    bound = pair.solids[0, BOUND]
    turn = norm(load3_at(scratch.solids, solid, TURNING))
    turn += norm(load3_at(scratch.solids, mesh, TURNING))
    wide = margin + min(turn * h, 2.0) * bound
    motion = scale(h, relative_velocity(scratch, sides, origin))
    low = (0.0, 0.0, 0.0)
    high = (0.0, 0.0, 0.0)
    for k in range(3):
        e = axis_of(pair, MESH_ROW, k)
        from_mesh = dot(e, position_of(pair, MESH_ROW))
        along = dot(e, motion)
        least = bottom_of(pair, e, r) - from_mesh + min(along, 0.0) - wide
        most = dot(e, support(pair, 0, e)) + r - from_mesh + max(along, 0.0) + wide
        low = (least if k == 0 else low[0], least if k == 1 else low[1], least if k == 2 else low[2])
        high = (most if k == 0 else high[0], most if k == 1 else high[1], most if k == 2 else high[2])
    return (low, high)


@kernel
def take(
    scratch: CollisionScratch,
    sides: tuple[int, int],
    touch: tuple[Vec3, Vec3, float],
    ids: tuple[int, int],
    reach: Reach,
) -> None:
    """Keep a contact whose gap may close within the step: gap <= margin + closing speed * h."""
    p, n, gap = touch
    solid = sides[0]
    origin = load3_at(scratch.solids, solid, POSITION)
    closing = -dot(n, relative_velocity(scratch, sides, add(origin, p)))
    if gap <= reach[0] + max(0.0, closing) * reach[2]:
        scales = (scratch.solids[solid, BOUND], reach[1])
        add_touch(scratch.clusters, touch, ids, scales, scratch.spare)


@kernel
def take_candidates(
    scratch: CollisionScratch,
    sides: tuple[int, int],
    found: tuple[int, Vec3],
    ids: tuple[int, int],
    reach: Reach,
) -> None:
    """Turn candidates in the frame of the normal into contacts.

    Reads   found   how many, and the normal from the solid to the mesh
            ids     number that marks the place in features, triangle
    """
    count, n = found
    place, t = ids
    _, t1, t2 = frame_of(n)
    patch = scratch.patch
    for k in range(count):
        x, y = patch.candidate[k, 0], patch.candidate[k, 1]
        z, gap = patch.candidate[k, 2], patch.candidate[k, 3]
        p = add_scaled(add_scaled(scale(x, t1), y, t2), z, n)
        feature = patch.feature[k]
        # corners of the solid are known by the flat piece they are over; cuts by the triangle
        is_cut = ((feature >> 13) & (2 * SIDE - 1)) >= SIDE or (feature & (2 * SIDE - 1)) >= SIDE
        number = len(scratch.clusters.triangle) + t if is_cut else place
        take(scratch, sides, (p, negate(n), gap), (feature + (number << 26), t), reach)


@kernel
def drift_of(
    scratch: CollisionScratch, sides: tuple[int, int], x: Vec3, n: Vec3, gap: float, reach: Reach
) -> Vec3:
    """How far the solid's point x moves along the face until it meets its plane [m].

    Zero within the margin, so that contacts at rest do not know of it.
    """
    margin, _, h = reach
    v = relative_velocity(scratch, sides, add(load3_at(scratch.solids, sides[0], POSITION), x))
    closing = -dot(n, v)
    if gap <= margin or closing <= 0.0:
        return (0.0, 0.0, 0.0)
    return scale(min(gap / closing, h), add_scaled(v, closing, n))


@kernel
def face_points(
    scratch: CollisionScratch,
    pair: Pair,
    faces: Faces,
    corners: Triangle,
    n: Vec3,
    gaps: tuple[float, float],
) -> int:
    """Candidates where the solid lies over the triangle; gaps to its plane: least and largest."""
    patch = scratch.patch
    down = negate(n)
    f0 = write_feature(pair, 0, down, faces, patch)
    put_corners(patch, corners)
    frame = frame_of(down)
    count = face_candidates(pair, patch, frame, f0, (3, 0, n), gaps)
    size = scale_of(pair)
    x = support(pair, 0, down)
    if least_gap(patch, count) > gaps[0] + SAME_DEPTH * size and is_over(
        corners, n, x, 1e-5 * size
    ):
        z = dot(down, x) + radius_of(pair, 0)
        feature = feature_number(0, 0, NEAREST, NEAREST)
        put_candidate(
            patch, count, dot(frame[1], x), dot(frame[2], x), (z, z + gaps[0]), feature
        )
        count += 1
    return count


@kernel
def yields_sideways(pair: Pair, meshes: Meshes, t: int, corners: Triangle, depth: float) -> bool:
    """True if a face beyond a convex edge lets the solid out by a shorter way than `depth`."""
    slack = SAME_DEPTH * scale_of(pair)
    for k in range(3):
        if meshes.edge_kind[t, k] == EDGE_CONVEX:
            m = world_normal(pair, meshes, meshes.neighbour[t, k])
            overlap = top_of(corners, m) - bottom_of(pair, m, radius_of(pair, 0))
            if overlap < depth - slack:
                return True
    return False


@kernel
def take_triangle(
    scratch: CollisionScratch,
    faces: Faces,
    meshes: Meshes,
    t: int,
    sides: tuple[int, int],
    reach: Reach,
) -> None:
    """All contacts of the solid with triangle t."""
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    corners = triangle_of(pair, meshes, t)
    n = world_normal(pair, meshes, t)
    r = radius_of(pair, 0)
    plane = dot(n, corners[0])
    x = support(pair, 0, negate(n))
    gap = dot(n, x) - r - plane
    if gap > reach[1] or dot(n, support(pair, 0, n)) + r <= plane:
        return
    write_triangle(pair, corners)
    drift = drift_of(scratch, sides, x, n, gap, reach)
    ahead = (sub(corners[0], drift), sub(corners[1], drift), sub(corners[2], drift))
    count = face_points(scratch, pair, faces, ahead, n, (gap, reach[1]))
    depth = -least_gap(scratch.patch, count)
    if depth > DEEP * scale_of(pair) and (
        yields_sideways(pair, meshes, t, corners, depth)
        or not is_met(pair, corners, scratch.simplex)
    ):
        count = 0
        depth = -math.inf
    if not has_edges(meshes, t):
        take_candidates(scratch, sides, (count, negate(n)), (meshes.region[t], t), reach)
        return
    hit, feature = edge_hit(scratch, pair, meshes, t, corners, reach[1])
    # of two ways out the shorter; apart, both count
    is_edge = hit[0] <= reach[1] and (hit[0] >= 0.0 or -hit[0] < depth or count == 0)
    if not (is_edge and hit[0] < 0.0 and depth > 0.0):
        take_candidates(scratch, sides, (count, negate(n)), (meshes.region[t], t), reach)
    if is_edge:
        patch = scratch.patch
        f0 = write_feature(pair, 0, hit[1], faces, patch)
        corners_of_edge(scratch, corners, feature)
        f1 = (feature[0], 0, negate(hit[1]))
        hit = snap_to_face(pair, hit, f0, f1)
        limits = (hit[0], reach[1])
        count = face_candidates(pair, patch, frame_of(hit[1]), f0, f1, limits)
        count = add_nearest(pair, hit, count, patch)
        place = len(scratch.clusters.triangle) + t
        take_candidates(scratch, sides, (count, hit[1]), (place, t), reach)


@kernel
def corners_of_edge(
    scratch: CollisionScratch, corners: Triangle, feature: tuple[int, int]
) -> None:
    """The edge or corner of the triangle as the feature of side 1."""
    count, k = feature
    for i in range(count):
        x = corners[(k + i) % 3]
        for j in range(3):
            scratch.patch.polygon[1, i, j] = x[j]


@kernel
def middle_in_mesh(pair: Pair) -> Vec3:
    """Middle of the solid's extents along the mesh's axes, in them [m]."""
    x = (0.0, 0.0, 0.0)
    for k in range(3):
        e = axis_of(pair, MESH_ROW, k)
        most = dot(e, support(pair, 0, e))
        least = dot(e, support(pair, 0, negate(e)))
        value = 0.5 * (most + least) - dot(e, position_of(pair, MESH_ROW))
        x = (value if k == 0 else x[0], value if k == 1 else x[1], value if k == 2 else x[2])
    return x


@kernel
def triangle_out(meshes: Meshes, m: int, x: Vec3, stack: NDArray) -> int:
    """The triangle through which a point x of the mesh's inside gets out, or -1 if it is outside.

    Of an enclosed volume the nearest one; of a heightfield the one over x.
    """
    root = meshes.node_start[m]
    is_field = meshes.inside[m] == INSIDE_BELOW
    for k in range(3):
        low = x[k] < meshes.node[root, k] and (k < 2 or not is_field)
        if low or x[k] > meshes.node[root, 3 + k]:
            return -1
    if is_field:
        t = triangle_above(meshes, m, x, stack)
        if t < 0:
            return -1
        out = load3(meshes.normal, t)
        q = load3(meshes.vertex, meshes.corner[t, 0])
    else:
        t = nearest_triangle(meshes, m, x, stack)
        if t < 0:
            return -1
        q, weights = nearest_on_triangle(meshes, t, x)
        out = pseudo_normal(meshes, t, weights)
    return t if dot(out, sub(x, q)) < 0.0 else -1


@kernel
def take_inside(
    scratch: CollisionScratch, meshes: Meshes, m: int, sides: tuple[int, int], reach: Reach
) -> None:
    """A solid that meets no triangle may be wholly inside: out along the normal of a face."""
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    t = triangle_out(meshes, m, middle_in_mesh(pair), scratch.clusters.stack)
    if t < 0:
        return
    n = world_normal(pair, meshes, t)
    corners = triangle_of(pair, meshes, t)
    x = support(pair, 0, negate(n))
    r = radius_of(pair, 0)
    gap = dot(n, sub(x, corners[0])) - r
    # half way between the surfaces: r and half the gap below the core's lowest point
    p = add_scaled(x, -(r + 0.5 * gap), n)
    feature = feature_number(0, 0, NEAREST, NEAREST) + (meshes.region[t] << 26)
    take(scratch, sides, (p, n, gap), (feature, t), reach)


@kernel
def write_mesh_contacts(
    scratch: CollisionScratch,
    faces: Faces,
    meshes: Meshes,
    ij: tuple[int, int],
    margin: float,
    h: float,
    contacts: Contacts,
) -> None:
    """Append the contacts of shapes i < j, one of them a mesh; beyond the capacity they count."""
    i, j = ij
    solids = scratch.solids
    is_first = solids[i, KIND] == MESH
    sides = (j, i) if is_first else (i, j)
    m = int(solids[sides[1], POINT_START])
    origin = write_rows(scratch, sides[0], sides[1])
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    clear_triangle(pair)
    limit = margin + closing_reach(solids, i, h) + closing_reach(solids, j, h)
    reach = (margin, limit, h)
    clusters = scratch.clusters
    clusters.used[0] = 0
    box = reach_box(scratch, pair, sides, reach)
    start_walk(clusters.stack)
    leaf = next_leaf(meshes, m, box, clusters.stack)
    while leaf >= 0:
        for k in range(leaf, leaf + TREE_LEAF):
            t = meshes.leaf[k]
            if t >= 0 and triangle_meets(meshes, t, box):
                take_triangle(scratch, faces, meshes, t, sides, reach)
        leaf = next_leaf(meshes, m, box, clusters.stack)
    if clusters.used[0] == 0 and meshes.inside[m] != INSIDE_NONE:
        take_inside(scratch, meshes, m, sides, reach)
    size = pair.solids[0, BOUND]
    drop_resolved(clusters, pair, meshes, size)
    count = choose_contacts(clusters, size, limit, scratch.spare)
    for k in range(count):
        row = clusters.chosen[k]
        c = contacts.count[0]
        if c < len(contacts.gap):
            n = load3(clusters.normal, row)
            contacts.shape_a[c] = i
            contacts.shape_b[c] = j
            contacts.gap[c] = clusters.gap[row]
            contacts.feature[c] = clusters.feature[row]
            store3(contacts.point_W, c, add(origin, load3(clusters.point, row)))
            store3(contacts.normal_W, c, n if is_first else negate(n))
            contacts.count[0] = c + 1
        else:
            contacts.dropped[0] += 1
