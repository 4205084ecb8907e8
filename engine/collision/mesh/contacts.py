"""Contacts of a convex solid with a mesh: all triangles near it, then contact reduction.

1 walk      triangles whose bounds the solid may reach within the step
2 faces     where the solid lies over a triangle: gap along the triangle's normal
3 edges     where it does not: gap to a convex edge or corner
4 groups    contacts of similar normals reduced to four, those that others resolve dropped

Triangles push to their outer side only. The triangulation of a flat surface has no effect.
Check   tests/engine/collision/mesh/test_contacts.py, tests/engine/test_meshes.py
"""

from __future__ import annotations

import math

from cardan.engine.collision.manifold.clip import SIDE
from cardan.engine.collision.manifold.contact_points import (
    add_nearest,
    face_candidates,
    feature_number,
    frame_of,
    least_gap,
    put_candidate,
    snap_to_face,
)
from cardan.engine.collision.manifold.contact_reduction import (
    GRAZING,
    choose_contacts,
    drop_below,
    drop_resolved,
)
from cardan.engine.collision.manifold.extent import MOST_POINTS, extent_of_feature, set_share
from cardan.engine.collision.manifold.feature import (
    SAME_DEPTH,
    Feature,
    turn_cap,
    write_feature,
)
from cardan.engine.collision.mesh.aabb_tree import (
    next_leaf,
    start_walk,
    triangle_meets,
)
from cardan.engine.collision.mesh.beside_edges import drop_beside_edges
from cardan.engine.collision.mesh.edges import edge_hit, is_met
from cardan.engine.collision.mesh.inside import take_inside
from cardan.engine.collision.mesh.joined import REPEATED, joined_contact
from cardan.engine.collision.mesh.swept_bounds import (
    ImpactWindow,
    drift_of,
    reach_box,
    take,
    write_rows,
)
from cardan.engine.collision.mesh.triangle import (
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
from cardan.engine.collision.narrow.solid import radius_of, scale_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    dot,
    load3,
    negate,
    scale,
    store3,
    sub,
)
from cardan.engine.world.collision import (
    BOUND,
    CLUSTER_POINTS,
    KIND,
    NEAREST,
    POINT_START,
    REACH,
    CollisionScratch,
    Faces,
    Pair,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import (
    EDGE_CONVEX,
    INSIDE_NONE,
    MESH,
    TREE_LEAF,
    Meshes,
)

# A point is over a face when it is farther from its outline than this share of the size.
LEAN = 1e-6
# A contact deeper than this share of the size must lie in a triangle that intersects the solid.
DEEP = 1e-3


@kernel
def take_candidates(
    scratch: CollisionScratch,
    sides: tuple[int, int],
    found: tuple[int, Vec3],
    ids: tuple[int, int],
    reach: ImpactWindow,
) -> None:
    """Convert candidates in the frame of the normal to contacts.

    Reads   found   their number, and the normal from the solid to the mesh
            ids     number of the location in the feature, triangle
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
        # the flat region below identifies corners of the solid, the triangle clipped points
        is_cut = ((feature >> 13) & (2 * SIDE - 1)) >= SIDE or (feature & (2 * SIDE - 1)) >= SIDE
        number = len(scratch.reduction.triangle) + t if is_cut else place
        take(scratch, sides, (p, negate(n), gap), (feature + (number << 26), t), reach)


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
    turn_cap(pair, 0, down, f0, patch)
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
        put_candidate(patch, count, dot(frame[1], x), dot(frame[2], x), (z, z + gaps[0]), feature)
        count += 1
    return count


@kernel
def yields_sideways(pair: Pair, meshes: Meshes, t: int, corners: Triangle, depth: float) -> bool:
    """True if a face beyond a convex edge separates the solid by a motion shorter than `depth`."""
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
    reach: ImpactWindow,
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
    # the deepest point of the solid, above the face, is also nearest to the triangle: no edge is
    if gap + r > 0.0 and is_over(corners, n, x, -LEAN * scale_of(pair)):
        take_candidates(scratch, sides, (count, negate(n)), (meshes.region[t], t), reach)
        return
    hit, feature, of_face = edge_hit(scratch, pair, meshes, t, corners, reach[1])
    # in penetration the shorter of two separating motions; without it both contacts
    is_edge = hit[0] <= reach[1] and (hit[0] >= 0.0 or hit[0] > gap)
    patch = scratch.patch
    f0: Feature = (0, 0, n)
    if is_edge:
        f0 = write_feature(pair, 0, hit[1], faces, patch)
        is_edge = f0[0] > 2 or not of_face
    if not (is_edge and hit[0] < 0.0 and depth > 0.0):
        take_candidates(scratch, sides, (count, negate(n)), (meshes.region[t], t), reach)
    if is_edge:
        corners_of_edge(scratch, corners, feature)
        f1 = (feature[0], 0, negate(hit[1]))
        hit = snap_to_face(pair, hit, f0, f1)
        limits = (hit[0], reach[1])
        count = face_candidates(pair, patch, frame_of(hit[1]), f0, f1, limits)
        count = add_nearest(pair, hit, count, patch)
        place = len(scratch.reduction.triangle) + t
        take_candidates(scratch, sides, (count, hit[1]), (place, t), reach)


@kernel
def corners_of_edge(scratch: CollisionScratch, corners: Triangle, feature: tuple[int, int]) -> None:
    """The edge or corner of the triangle as the feature of side 1."""
    count, k = feature
    for i in range(count):
        x = corners[(k + i) % 3]
        for j in range(3):
            scratch.patch.polygon[1, i, j] = x[j]


@kernel
def share_of_group(
    scratch: CollisionScratch, pair: Pair, faces: Faces, rows: tuple[int, int]
) -> None:
    """Share of a chosen contact in the face of the solid that its group stands on.

    Reads   rows   row of the contact, number of chosen contacts
    Writes  patch.share
    """
    reduction, patch = scratch.reduction, scratch.patch
    row, count = rows
    group = row // CLUSTER_POINTS
    size = 0
    for k in range(count):
        if reduction.chosen[k] // CLUSTER_POINTS == group:
            size += 1
    down = negate(load3(reduction.normal, row))
    f = write_feature(pair, 0, down, faces, patch)
    extent = extent_of_feature(pair, patch, 0, f, frame_of(down))
    set_share(patch, f[0], extent)
    for k in range(2):
        patch.share[k] *= min(f[0], MOST_POINTS) / size


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
    """Append the contacts of shapes i < j, one a mesh; beyond the capacity they are counted."""
    i, j = ij
    solids = scratch.solids
    is_first = solids[i, KIND] == MESH
    sides = (j, i) if is_first else (i, j)
    m = int(solids[sides[1], POINT_START])
    origin = write_rows(scratch, sides[0], sides[1])
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    clear_triangle(pair)
    limit = margin + solids[i, REACH] + solids[j, REACH]
    reach = (margin, limit, h)
    reduction = scratch.reduction
    reduction.used[0] = 0
    box = reach_box(scratch, pair, sides, reach)
    start_walk(reduction.stack)
    leaf = next_leaf(meshes, m, box, reduction.stack)
    while leaf >= 0:
        for k in range(leaf, leaf + TREE_LEAF):
            t = meshes.leaf[k]
            if t >= 0 and triangle_meets(meshes, t, box):
                take_triangle(scratch, faces, meshes, t, sides, reach)
        leaf = next_leaf(meshes, m, box, reduction.stack)
    if reduction.used[0] == 0 and meshes.inside[m] != INSIDE_NONE:
        take_inside(scratch, meshes, m, sides, reach)
    size = pair.solids[0, BOUND]
    drop_beside_edges(scratch, pair, meshes, sides)
    if reduction.used[0] > 1:
        drop_resolved(reduction, pair, meshes)
        drop_below(reduction, pair, meshes, GRAZING * margin)
    count = choose_contacts(reduction, size, limit, scratch.spare)
    for k in range(count):
        row = reduction.chosen[k]
        facet, touch = joined_contact(reduction, pair, meshes, k, count)
        if facet == REPEATED:
            continue
        p, n, gap = touch
        c = contacts.count[0]
        if c < len(contacts.gap):
            contacts.shape_a[c] = i
            contacts.shape_b[c] = j
            contacts.gap[c] = gap
            contacts.facet[c] = facet
            contacts.struck[c] = 0
            contacts.feature[c] = reduction.feature[row]
            store3(contacts.point_W, c, add(origin, p))
            store3(contacts.normal_W, c, n if is_first else negate(n))
            share_of_group(scratch, pair, faces, (row, count))
            for axis in range(2):
                contacts.patch[c, axis] = scratch.patch.share[axis]
            contacts.count[0] = c + 1
        else:
            contacts.dropped[0] += 1
