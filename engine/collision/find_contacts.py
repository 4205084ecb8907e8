"""Where do shapes touch?

1 pose     shapes follow their bodies; bounds reach as far as the next step may carry them
2 broad    pairs whose bounds overlap
3 narrow   gap, normal and up to four points of each pair
4 match    impulses of the last step for contacts that last
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.aabb import pose_shape, sweep_bounds, write_bounds
from engine.collision.broad_all_pairs import find_pairs_all, find_plane_pairs
from engine.collision.broad_sweep import find_pairs_sweep, sort_pairs
from engine.collision.manifold import frame_of
from engine.collision.material import pair_surface
from engine.collision.narrow import find_points
from engine.collision.persistence import match_contacts
from engine.collision.scratch import N_COLUMNS, POSITION, CollisionScratch, Faces, Pair
from engine.kernel import clock_ns, kernel
from engine.spatial.quaternion import load4
from engine.spatial.vec3 import Vec3, cross, dot, load3, negate, norm, scale, sub
from engine.status import CONTACTS_FULL, PAIRS_FULL
from engine.world.contacts import Contacts
from engine.world.model import PLANE, Bodies, Model, Pairs, Shapes
from engine.world.options import StepOptions
from engine.world.report import PHASE_BROAD, PHASE_NARROW, Report
from engine.world.state import State

# Below this many shapes the plain loop over all pairs is faster than sorting.
FEW_SHAPES = 24


@kernel
def pose_all(
    shapes: Shapes, state: State, scratch: CollisionScratch, half_margin: float, h: float
) -> None:
    """Rows of `solids`, hull vertices and bounds of all shapes."""
    sweep = scratch.sweep
    for i in range(len(shapes.kind)):
        body = shapes.body[i]
        p_WB = load3(state.p_WB, body)
        pose_shape(shapes, i, p_WB, load4(state.q_WB, body), scratch.solids, scratch.points)
        write_bounds(scratch.solids, scratch.points, i, sweep.lower, sweep.upper)
        if shapes.kind[i] != PLANE:
            motion = scale(h, load3(state.v_WB_W, body))
            turn = h * norm(load3(state.w_WB_W, body))
            reach = norm(load3(shapes.p_BS, i)) + shapes.bounding_radius[i]
            sweep_bounds(i, p_WB, motion, turn, reach, sweep.lower, sweep.upper)
            for k in range(3):
                sweep.lower[i, k] -= half_margin
                sweep.upper[i, k] += half_margin


@kernel
def find_pairs(shapes: Shapes, bodies: Bodies, pairs: Pairs, scratch: CollisionScratch) -> None:
    """Pairs of shapes whose bounds overlap and that may touch, ascending."""
    sweep = scratch.sweep
    sweep.pair_count[0] = 0
    sweep.pair_count[1] = 0
    if len(shapes.kind) <= FEW_SHAPES:
        find_pairs_all(shapes, bodies.kind, pairs.excluded, sweep)
    else:
        find_pairs_sweep(shapes, bodies.kind, pairs.excluded, sweep)
    find_plane_pairs(shapes, bodies.kind, pairs.excluded, scratch.solids, sweep)
    sort_pairs(sweep, len(shapes.kind))


@kernel
def load3_at(array: NDArray, i: int, column: int) -> Vec3:
    """Three columns of row i."""
    return (array[i, column], array[i, column + 1], array[i, column + 2])


@kernel
def copy_side(scratch: CollisionScratch, side: int, i: int, origin: Vec3) -> None:
    """Posed shape i becomes one side of the pair, measured from `origin`."""
    for k in range(N_COLUMNS):
        scratch.pair[side, k] = scratch.solids[i, k]
    for k in range(3):
        scratch.pair[side, POSITION + k] -= origin[k]


@kernel
def closing_reach(state: State, body: int, p_W: Vec3, reach: float, h: float) -> float:
    """Farthest that a point within `reach` of p_W can be carried by the body in one step [m].

    |v| h + min(|w| h, 2) (|p - p_WB| + reach)
    """
    w = norm(load3(state.w_WB_W, body))
    far = norm(sub(p_W, load3(state.p_WB, body))) + reach
    turned = min(w * h, 2.0) * far if w > 0.0 else 0.0
    return h * norm(load3(state.v_WB_W, body)) + turned


@kernel
def point_velocity(state: State, body: int, p_W: Vec3) -> Vec3:
    """v + w x (p - p_WB) [m/s]."""
    v = load3(state.v_WB_W, body)
    t = cross(load3(state.w_WB_W, body), sub(p_W, load3(state.p_WB, body)))
    return (v[0] + t[0], v[1] + t[1], v[2] + t[2])


@kernel
def write_contact(
    shapes: Shapes, i: int, j: int, n: Vec3, p: Vec3, gap: float, contacts: Contacts
) -> bool:
    """Append a contact of shapes i < j; beyond the capacity it is counted and False returned."""
    c = contacts.count[0]
    if c == len(contacts.gap):
        contacts.dropped[0] += 1
        return False
    contacts.shape_a[c] = i
    contacts.shape_b[c] = j
    contacts.body_a[c] = shapes.body[i]
    contacts.body_b[c] = shapes.body[j]
    contacts.gap[c] = gap
    for k in range(3):
        contacts.normal_W[c, k] = n[k]
        contacts.point_W[c, k] = p[k]
    contacts.count[0] = c + 1
    return True


@kernel
def write_pair(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    margin: float,
    h: float,
    contacts: Contacts,
) -> None:
    """Contacts of one pair of shapes i < j.

    A point is kept when its gap may close within the step: gap <= margin + closing speed * h.
    """
    i, j = ij
    shapes = model.shapes
    # side 0 has the smaller kind
    swap = shapes.kind[i] > shapes.kind[j]
    first, second = (j, i) if swap else (i, j)
    origin = load3_at(scratch.solids, first, POSITION)
    copy_side(scratch, 0, first, origin)
    copy_side(scratch, 1, second, origin)
    limit = margin
    for s in (i, j):
        if shapes.kind[s] != PLANE:
            p_WS = load3_at(scratch.solids, s, POSITION)
            reach = shapes.bounding_radius[s]
            limit += closing_reach(state, shapes.body[s], p_WS, reach, h)

    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    faces = Faces(
        shapes.face_normal, shapes.face_loop_start, shapes.face_loop_count, shapes.face_loop
    )
    patch = scratch.patch
    count, n = find_points(pair, faces, limit, scratch.simplex, scratch.polytope, patch)
    if count == 0:
        return
    _, t1, t2 = frame_of(n)
    mu, restitution = pair_surface(model.materials, shapes, i, j)
    n_ij = negate(n) if swap else n
    for k in range(count):
        c = patch.chosen[k]
        x, y, z = patch.candidate[c, 0], patch.candidate[c, 1], patch.candidate[c, 2]
        p = (
            origin[0] + x * t1[0] + y * t2[0] + z * n[0],
            origin[1] + x * t1[1] + y * t2[1] + z * n[1],
            origin[2] + x * t1[2] + y * t2[2] + z * n[2],
        )
        v_a = point_velocity(state, shapes.body[i], p)
        v_b = point_velocity(state, shapes.body[j], p)
        closing = max(0.0, -dot(n_ij, sub(v_b, v_a)))
        gap = patch.candidate[c, 3]
        if gap <= margin + closing * h and write_contact(shapes, i, j, n_ij, p, gap, contacts):
            last = contacts.count[0] - 1
            contacts.feature[last] = patch.feature[c]
            contacts.friction[last] = mu
            contacts.restitution[last] = restitution


@kernel
def find_contacts(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    contacts: Contacts,
    options: StepOptions,
    report: Report,
) -> None:
    """All contacts of the posed world, ascending by pair and feature.

    Reads   model, state (poses, velocities, cached contacts), options.margin, options.time_step
    Writes  contacts, scratch; report.status (CONTACTS_FULL, PAIRS_FULL), report.phase_ns
    A point whose gap is at most margin + closing speed * time_step is a contact.
    Check   tests/engine/collision/test_find_contacts.py
    """
    started = clock_ns()
    h = options.time_step
    shapes = model.shapes
    contacts.count[0] = 0
    contacts.dropped[0] = 0
    pose_all(shapes, state, scratch, 0.5 * options.margin, h)
    find_pairs(shapes, model.bodies, model.pairs, scratch)
    if scratch.sweep.pair_count[1] > scratch.sweep.pair_count[0]:
        report.status[0] |= PAIRS_FULL
    broad_done = clock_ns()

    for k in range(scratch.sweep.pair_count[0]):
        ij = (scratch.sweep.pair_a[k], scratch.sweep.pair_b[k])
        write_pair(model, state, scratch, ij, options.margin, h, contacts)
    if contacts.dropped[0] > 0:
        report.status[0] |= CONTACTS_FULL
    match_contacts(contacts, len(shapes.kind), state.contacts)
    report.phase_ns[PHASE_BROAD] += broad_done - started
    report.phase_ns[PHASE_NARROW] += clock_ns() - broad_done
