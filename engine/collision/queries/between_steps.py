"""Queries between two steps: ray casts, and the nearest points of two bodies."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.broad.aabb import pose_shape
from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.hollow.ray import ray_hollow
from cardan.engine.collision.mesh.contacts import write_mesh_contacts
from cardan.engine.collision.mesh.distance import solid_mesh
from cardan.engine.collision.mesh.ray import ray_mesh
from cardan.engine.collision.narrow.closest_feature import MISS, Hit
from cardan.engine.collision.narrow.convex import convex_convex
from cardan.engine.collision.narrow.dispatch import nearest
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.collision.narrow.solid import faces_of, kind_of, position_of, to_shape, to_world
from cardan.engine.collision.queries.ray import span_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    load3,
    load3_from,
    negate,
    norm,
    store3,
    sub,
)
from cardan.engine.world.collision import (
    CENTRE,
    KIND,
    POSITION,
    REACH,
    VELOCITY,
    CollisionScratch,
    Pair,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import BOX, MESH, PLANE, Model, Shapes
from cardan.engine.world.state import State


@kernel
def pose_shapes(shapes: Shapes, state: State, scratch: CollisionScratch) -> None:
    """Write rows of `solids` and hull vertices of all shapes at the present poses."""
    for i in range(len(shapes.kind)):
        body = shapes.body[i]
        p_WB, q_WB = load3(state.p_WB, body), load4(state.q_WB, body)
        pose_shape(shapes, i, p_WB, q_WB, scratch.solids, scratch.points)


@kernel
def hit_shape(
    model: Model, pair: Pair, i: int, ray: tuple[Vec3, Vec3, float], stack: NDArray
) -> tuple[float, Vec3]:
    """Distance [m] along the ray to shape i and the normal there, W; inf: missed.

    A ray that starts inside has distance 0 and the normal opposite to its direction. `pair` holds
    all posed shapes.
    """
    shapes = model.shapes
    o, d, most = ray
    arm = sub(o, position_of(pair, i))
    # the line must intersect the bounding sphere
    away = norm(cross(d, arm))
    if away > shapes.bounding_radius[i] * (1.0 + 1e-9) + 1e-12 * norm(arm):
        return (math.inf, d)
    if shapes.kind[i] == MESH:
        o_S, d_S = to_shape(pair, i, arm), to_shape(pair, i, d)
        t, n = ray_mesh(model.meshes, shapes.mesh[i], o_S, d_S, most, stack)
        return (t, negate(d) if t == 0.0 else to_world(pair, i, n))
    if is_hollow(shapes.kind[i]):
        size = load3(shapes.size, i)
        o_S, d_S = to_shape(pair, i, arm), to_shape(pair, i, d)
        t, n = ray_hollow(shapes.kind[i], size, shapes.bounding_radius[i], o_S, d_S)
        return (t, negate(d) if t == 0.0 else to_world(pair, i, n))
    enter, leave, n = span_of(shapes, i, to_shape(pair, i, arm), to_shape(pair, i, d))
    if enter > leave or leave < 0.0:
        return (math.inf, d)
    if enter < 0.0:
        return (0.0, negate(d))
    return (enter, to_world(pair, i, n))


@kernel
def put_hit(
    who: NDArray, where: NDArray, row: int, ray: int, i: int, t: float, x: Vec3, n: Vec3
) -> None:
    """Row `row`: ray and shape; distance, point and normal."""
    who[row, 0] = ray
    who[row, 1] = i
    where[row, 0] = t
    for k in range(3):
        where[row, 1 + k] = x[k]
        where[row, 4 + k] = n[k]


@kernel
def cast_rays(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    rays: NDArray,
    mask: int,
    every: bool,
    who: NDArray,
    where: NDArray,
) -> int:
    """Cast rays: all hits of each ray on present bodies, or the nearest; returns their number.

    Hits beyond the capacity of `who` and `where` are counted, not written.

    Reads   rays (r, 7): origin [m], unit direction, largest distance [m], W; mask: groups to hit
    Writes  who (k, 2): ray, shape; where (k, 7): distance [m], point [m], normal, W
    Of equally near shapes the first counts.
    """
    shapes = model.shapes
    pose_shapes(shapes, state, scratch)
    pair = Pair(scratch.solids, scratch.points, scratch.cosine)
    stack = scratch.reduction.stack
    found = 0
    for ray in range(len(rays)):
        o = load3_from(rays, ray, 0)
        d = load3_from(rays, ray, 3)
        most = rays[ray, 6]
        best, best_n, best_shape = math.inf, d, -1
        for i in range(len(shapes.kind)):
            if (shapes.group[i] & mask) == 0 or state.present[shapes.body[i]] == 0:
                continue
            t, n = hit_shape(model, pair, i, (o, d, most), stack)
            if not t <= most or t == math.inf:
                continue
            if every:
                if found < len(who):
                    put_hit(who, where, found, ray, i, t, add_scaled(o, t, d), n)
                found += 1
            elif t < best:
                best, best_n, best_shape = t, n, i
        if best_shape >= 0:
            if found < len(who):
                put_hit(who, where, found, ray, best_shape, best, add_scaled(o, best, d), best_n)
            found += 1
    return found


@kernel
def nearest_to_mesh(
    model: Model, scratch: CollisionScratch, contacts: Contacts, solid: int, mesh: int
) -> Hit:
    """Gap, normal from the solid to the mesh and the midpoint, W.

    In penetration, those of the deepest contact; a solid entirely inside has one as well.
    """
    origin = load3_from(scratch.solids, solid, POSITION)
    m = model.shapes.mesh[mesh]
    gap, n, point = solid_mesh(scratch, model.meshes, m, solid, mesh)
    if gap == math.inf:
        return MISS
    for i in (solid, mesh):
        for k in range(VELOCITY, CENTRE):
            scratch.solids[i, k] = 0.0
        scratch.solids[i, REACH] = 0.0
    shapes = model.shapes
    faces = faces_of(shapes)
    contacts.count[0] = 0
    ij = (min(solid, mesh), max(solid, mesh))
    write_mesh_contacts(scratch, faces, model.meshes, ij, 0.0, 0.0, contacts)
    deepest = -1
    for c in range(contacts.count[0]):
        if deepest < 0 or contacts.gap[c] < contacts.gap[deepest]:
            deepest = c
    if deepest >= 0 and contacts.gap[deepest] < 0.0:
        n = load3(contacts.normal_W, deepest)
        n = n if solid < mesh else negate(n)
        return (contacts.gap[deepest], n, load3(contacts.point_W, deepest))
    return (max(gap, 0.0), n, add(point, origin))


@kernel
def nearest_shapes(
    model: Model, scratch: CollisionScratch, contacts: Contacts, i: int, j: int
) -> Hit:
    """Gap, normal from shape i to shape j and the midpoint, W, at any distance."""
    solids = scratch.solids
    if solids[i, KIND] == MESH or solids[j, KIND] == MESH:
        is_first = solids[i, KIND] == MESH
        solid, mesh = (j, i) if is_first else (i, j)
        if solids[solid, KIND] == MESH or solids[solid, KIND] == PLANE:
            return MISS
        gap, n, point = nearest_to_mesh(model, scratch, contacts, solid, mesh)
        return (gap, negate(n) if is_first else n, point)
    swap = solids[i, KIND] > solids[j, KIND]
    first = j if swap else i
    origin = load3_from(solids, first, POSITION)
    write_pair(scratch, i, j, first, origin)
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    if kind_of(pair, 0) == PLANE:
        return MISS
    gap, n, point = nearest(pair, faces_of(model.shapes), math.inf, scratch)
    if kind_of(pair, 0) == BOX and kind_of(pair, 1) == BOX and gap > 0.0:
        # the largest axis gap is not the distance when corners or edges are nearest
        gap, n, point = convex_convex(pair, math.inf, scratch.simplex, scratch.polytope)
    return (gap, negate(n) if swap else n, add(point, origin))


@kernel
def closest_shapes(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    contacts: Contacts,
    ab: tuple[int, int],
    who: NDArray,
    where: NDArray,
) -> bool:
    """The nearest pair of a shape of body a and a shape of body b; False if there is none.

    Writes  who (2,): shapes; where (3, 3): point on a, point on b [m], normal from a to b, W
    Without penetration these are the nearest points; in penetration, moving b by |b - a| along the
    normal separates this pair of shapes.
    """
    shapes = model.shapes
    a, b = ab
    pose_shapes(shapes, state, scratch)
    least = math.inf
    for i in range(len(shapes.kind)):
        if shapes.body[i] != a:
            continue
        for j in range(len(shapes.kind)):
            if shapes.body[j] != b:
                continue
            gap, n, point = nearest_shapes(model, scratch, contacts, i, j)
            if gap < least:
                least = gap
                who[0], who[1] = i, j
                store3(where, 0, add_scaled(point, -0.5 * gap, n))
                store3(where, 1, add_scaled(point, 0.5 * gap, n))
                store3(where, 2, n)
    return least < math.inf
