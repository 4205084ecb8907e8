"""Lengths of bodies, and the limits of errors and speeds derived from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import (
    DEPTH_LIMIT,
    KEEPS_L,
    KEPT,
    KEPT_LAG,
    SPIN_AXIS,
    TURN_LIMIT,
    VARIED,
)
from cardan.engine.accounting.commanded import FOLLOWED, forget_drives
from cardan.engine.accounting.crossings import (
    GATE_APART,
    GATE_DEPTH,
    GATE_KINETIC,
    GATE_SPRINGS,
    GATE_STATIC,
    LIMITS,
    SMALL_GROWTH,
)
from cardan.engine.accounting.drive_noise import OF_A_DRIVE
from cardan.engine.accounting.stretches import (
    KEPT_X,
    OF_A_SPRING,
    forget_stretches,
    has_springs,
    spring_records,
)
from cardan.engine.build.damped import kept_shares
from cardan.engine.build.inverse_mass import spring_inverse_masses
from cardan.engine.build.memoised import memoised
from cardan.engine.build.revolution import spin_axes
from cardan.engine.build.rotations import rotation_matrices
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    COUPLING,
    CYLINDER,
    DISTANCE,
    DYNAMIC,
    ELLIPSOID,
    FORCE_SPRING,
    KINEMATIC,
    MESH,
    PLANE,
    RING,
    SPHERE,
    STATIC,
    TUBE,
    Bodies,
    Model,
    Shapes,
)
from cardan.engine.world.options import Gyroscopic, Integrator, StepOptions
from cardan.engine.world.state import State

Array = NDArray[np.float64]

# allowed separation of a joint and initial overlap of two bodies, as a share of the smaller body
LENGTH_SHARE = 0.01
# rotation per step beyond which contacts and joints are no longer accurate [rad]
LARGEST_TOUCHING_TURN, LARGEST_TURN = 0.15, 0.2
# the same of bodies that nothing holds and nothing touches [rad]
LARGEST_FREE_TURN = 0.5
# how deep rigid bodies may be in one another, as a share of the thinner one
DEPTH_SHARE = 0.1
# least length of a body without shapes, as a share of the scene
POINT_SHARE = 0.01
# m/s: the kinetic energy of all bodies at this speed counts as zero, as in outputs/reports.py
REST_SPEED = 1e-3


def room_of_extremes(n_bodies: int, n_joints: int, n_forces: int) -> int:
    """Length of state.extremes; n_bodies includes the world."""
    of_joints = OF_A_DRIVE + 3 * FOLLOWED
    of_springs = OF_A_SPRING * (n_joints + n_forces)
    return LIMITS + n_joints + (1 + VARIED) * n_bodies + of_joints * n_joints + of_springs


def half_widths(shapes: Shapes) -> Array:
    """(m, 3): half the width of each shape along the axes of its body [m]; 0 for planes."""
    R = np.abs(rotation_matrices(shapes.q_BS))
    a, b = shapes.size[:, :1], shapes.size[:, 1:2]
    kind, half = shapes.kind, np.zeros((len(shapes.kind), 3))
    round_side = np.hypot(R[:, :, 0], R[:, :, 1])
    widths = (
        ((SPHERE, BOWL), np.broadcast_to(a, half.shape)),
        ((BOX, MESH), np.einsum("mij,mj->mi", R, shapes.size)),
        ((CAPSULE,), a + b * R[:, :, 2]),
        ((CYLINDER, CONE, TUBE), a * round_side + b * R[:, :, 2]),
        ((RING,), a * round_side + b),
        ((ELLIPSOID,), np.sqrt(np.einsum("mij,mj->mi", R**2, shapes.size**2))),
    )
    for kinds, width in widths:
        for one in kinds:
            chosen = kind == one
            half[chosen] = width[chosen]
    return half


def bounds(shapes: Shapes) -> tuple[Array, Array]:
    """Least and largest coordinates (m, 3) of each shape, from the centre of mass, body axes."""
    half = half_widths(shapes)
    lower, upper = shapes.p_BS - half, shapes.p_BS + half
    R = rotation_matrices(shapes.q_BS)
    for i in np.flatnonzero(shapes.kind == CONVEX):
        start = shapes.point_start[i]
        points = shapes.points[start : start + shapes.point_count[i]]
        turned = points @ R[i].T
        lower[i] = shapes.p_BS[i] + turned.min(axis=0)
        upper[i] = shapes.p_BS[i] + turned.max(axis=0)
    return lower, upper


def lengths_of_points(model: Model, p_WB: Array) -> Array:
    """(n,) m: lengths of dynamic bodies without shapes; see `point_lengths`."""
    bodies, joints, forces = model.bodies, model.joints, model.forces
    of_joints = ((joints.body_a, joints.anchor_A), (joints.body_b, joints.anchor_B))
    k = forces.kind == FORCE_SPRING
    of_springs = (
        (forces.body_a[k], forces.anchor_A[k]),
        (forces.body_b[k], forces.anchor_B[k]),
    )
    return point_lengths(bodies.kind, bodies.mass, bodies.inertia_B, of_joints, of_springs, p_WB)


@memoised
def point_lengths(
    kind: NDArray[np.int64],
    mass: Array,
    inertia_B: Array,
    ends: tuple[tuple[NDArray[np.int64], Array], ...],
    ends_of_springs: tuple[tuple[NDArray[np.int64], Array], ...],
    p_WB: Array,
) -> Array:
    """(n,) m: lengths of dynamic bodies without shapes.

    The largest of: the longest edge of a box of equal inertia, the distance from the centre of mass
    to the farthest anchor, and a share of the whole scene: of what has mass, of bodies it is tied
    to, and of anchors in W. Where W has its origin makes no difference.
    """
    length = np.zeros(len(kind))
    moving = kind == DYNAMIC
    moments = np.linalg.eigvalsh(inertia_B[moving])
    square = 6.0 * (moments[:, 1] + moments[:, 2] - moments[:, 0]) / mass[moving]
    length[moving] = np.sqrt(np.maximum(square, 0.0))
    for body, anchor in ends:
        np.maximum.at(length, body, np.linalg.norm(anchor, axis=1))
    world, counts = len(kind) - 1, mass > 0.0
    anchors = []
    for body, anchor in (*ends, *ends_of_springs):
        counts[body] = True
        anchors.append(anchor[body == world])
    counts[world] = False
    points = np.concatenate([p_WB[counts], *anchors])
    scene = np.linalg.norm(np.ptp(points, axis=0)) if len(points) else 0.0
    return np.maximum(length, POINT_SHARE * scene)


@memoised
def edges(shapes: Shapes, n_bodies: int) -> Array:
    """(n, 3) m: edges of the box about the shapes of each body, in its axes; no shapes: -inf."""
    lower, upper = np.full((n_bodies, 3), np.inf), np.full((n_bodies, 3), -np.inf)
    least, most = bounds(shapes)
    np.minimum.at(lower, shapes.body, least)
    np.maximum.at(upper, shapes.body, most)
    return upper - lower


def body_lengths(model: Model, p_WB: Array) -> Array:
    """(n,) m: the longest edge of the box about the shapes of each body, in its axes."""
    length = lengths_of_points(model, p_WB).copy()
    edge = edges(model.shapes, len(model.bodies.kind))
    shaped = np.isfinite(edge[:, 0])
    length[shaped] = edge[shaped].max(axis=1)
    return length


def depth_limits(model: Model) -> Array:
    """(n,) m: how deep others may be in each dynamic body; inf: any depth."""
    moving = model.bodies.kind == DYNAMIC
    thickness = np.abs(edges(model.shapes, len(moving))).min(axis=1)
    return np.where(moving & (thickness > 0.0), DEPTH_SHARE * thickness, np.inf)


def keeps_momentum(bodies: Bodies, options: StepOptions) -> NDArray[np.bool_]:
    """(n,): of which bodies the drift keeps state.L_conserved (integrators/advance_poses.py)."""
    own = (bodies.kind == DYNAMIC) & (bodies.node < 0)
    round_one = bodies.inertia_B[:, :1, :1] * np.eye(3)
    uneven = (bodies.inertia_B != round_one).any(axis=(1, 2))
    return own & uneven & (options.gyroscopic == Gyroscopic.IMPLICIT)


def shorter_length(model: Model, length: Array, a: Any, b: Any) -> Array:
    """m: the length of the shorter dynamic body of a and b; inf if neither is dynamic."""
    moved = np.where(model.bodies.kind == DYNAMIC, length, np.inf)
    shorter: Array = np.minimum(moved[a], moved[b])
    return shorter


def can_touch(shapes: Shapes, n_bodies: int) -> NDArray[np.bool_]:
    """(n,): which bodies have a shape with nonzero group and mask."""
    touching = np.zeros(n_bodies, bool)
    touching[shapes.body[(shapes.group != 0) & (shapes.mask != 0)]] = True
    return touching


def may_pass(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies that may pass through another in a step.

    A body that can meet planes alone may not: nothing is behind a plane, so it stops in any case.
    """
    shapes = model.shapes
    return _may_pass((shapes.body, shapes.group, shapes.mask, shapes.kind), model.bodies.kind)


@memoised
def _may_pass(shapes: tuple[NDArray[np.int64], ...], kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """`may_pass` of shapes (body, group, mask, kind) of bodies of these kinds."""
    body, groups, masks, forms = shapes
    moves, solid = kind[body] == DYNAMIC, forms != PLANE
    keys = np.stack([groups, masks, moves, solid])
    (group, mask, moving, whole), of = np.unique(keys, axis=1, return_inverse=True)
    of = of.ravel()
    passing = np.zeros(len(kind), bool)
    for one in range(len(group)):
        met = (group[one] & mask != 0) & (group & mask[one] != 0) & (whole == 1)
        others = body[(met & ((moving == 1) | (moving[one] == 1)))[of]]
        bodies = body[of == one]
        if len(others):
            passing[bodies[(others.min() != bodies) | (others.max() != bodies)]] = True
    return passing


def joint_limits(model: Model, length: Array) -> Array:
    """(j,) m: allowed distance of the anchors, of couplings allowed error; inf for soft joints.

    A rope or rod is a body of its own length between those it joins.
    """
    joints = model.joints
    shorter = shorter_length(model, length, joints.body_a, joints.body_b)
    ropes = joints.kind == DISTANCE
    shorter[ropes] = np.maximum(shorter[ropes], joints.angle0[ropes])
    for j in np.flatnonzero(joints.kind == COUPLING):
        terms = slice(joints.term_start[j], joints.term_start[j + 1])
        of_terms = shorter[joints.term_joint[terms]]
        shorter[j] = np.abs(joints.term_factor[terms]).max() * of_terms.min()
    return np.where(joints.cfm > 0.0, np.inf, LENGTH_SHARE * shorter)


def least_kinetic(bodies: Bodies, speed: Array) -> float:
    """Least kinetic energy with which a body exceeds its speed (n,) [m/s], in J.

    The kinetic energy of kinematic bodies is not counted: with any of them the result is -1.
    """
    if (bodies.kind == KINEMATIC).any():
        return -1.0
    moving = bodies.kind == DYNAMIC
    if not moving.any():
        return np.inf
    thrown = 0.5 * bodies.mass[moving] * speed[moving] ** 2
    # margin for the rounding of sums
    return float((1.0 - 1e-9) * thrown.min())


def shows_turns(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies whose orientation is visible: all but single balls about the centre of mass."""
    shapes, n = model.shapes, len(model.bodies.kind)
    ball = (shapes.kind == SPHERE) & ~shapes.p_BS.any(axis=1)
    shown = np.ones(n, bool)
    shown[shapes.body] = False
    shown[shapes.body[~ball]] = True
    return shown


def turns_exactly(model: Model, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n,): free balls of equal principal moments, whose angle is in no equation of motion.

    w x I w is 0, and neither the points of contact nor their distances depend on the angle.
    """
    inertia_B = model.bodies.inertia_B
    even = (inertia_B == inertia_B[:, :1, :1] * np.eye(3)).all(axis=(1, 2))
    exact: NDArray[np.bool_] = even & ~held & ~shows_turns(model)
    return exact


def turn_limits(model: Model, touching: NDArray[np.bool_]) -> Array:
    """(n,) rad: how far bodies may turn in a step about an axis that moves; inf: any angle."""
    held = np.zeros(len(touching), bool)
    held[model.joints.body_a] = held[model.joints.body_b] = True
    free = np.where(held, LARGEST_TURN, LARGEST_FREE_TURN)
    limits = np.where(touching, LARGEST_TOUCHING_TURN, free)
    return np.where(turns_exactly(model, held), np.inf, limits)


def lay_down_limits(model: Model, state: State, options: StepOptions) -> None:
    """Write the limits of a run into state.extremes, whose layout is in accounting/crossings.py.

    The anchors of a joint may separate by LENGTH_SHARE of the smaller body; a body that can touch
    others than planes may move by its own length per step, and rotate by its turn_limits. Smooth
    integrators have no contacts and are of high order: they have no limits of speed.

    Reads   state at the start
    Writes  state.extremes from GATES on
    """
    bodies, extremes, h = model.bodies, state.extremes, options.time_step
    n_joints = len(model.joints.kind)
    length = body_lengths(model, state.p_WB)
    apart = joint_limits(model, length)
    speed = np.full(len(length), np.inf)
    turning = np.full(len(length), np.inf)
    if options.integrator == Integrator.SEMI_IMPLICIT_EULER:
        touching = can_touch(model.shapes, len(length)) & (bodies.kind != STATIC)
        passed = touching & may_pass(model)
        speed[passed] = length[passed] / h
        turning = turn_limits(model, touching) / h
    extremes[GATE_APART] = apart.min(initial=np.inf)
    extremes[GATE_KINETIC] = least_kinetic(bodies, speed)
    materials = model.materials
    extremes[GATE_STATIC] = float((materials.static_friction > materials.friction).any())
    extremes[GATE_SPRINGS] = float(has_springs(model))
    lifted = float(np.linalg.norm(state.gravity_W)) * float(bodies.mass @ length)
    rest = 0.5 * float(bodies.mass.sum()) * REST_SPEED**2
    extremes[SMALL_GROWTH] = LENGTH_SHARE * lifted + rest
    extremes[LIMITS : LIMITS + n_joints] = apart
    extremes[LIMITS + n_joints : LIMITS + n_joints + len(length)] = speed
    first = LIMITS + n_joints + len(length)
    varied = extremes[first : first + VARIED * len(length)].reshape(-1, VARIED)
    depth = depth_limits(model)
    varied[:, DEPTH_LIMIT], extremes[GATE_DEPTH] = depth, depth.min(initial=np.inf)
    varied[:, TURN_LIMIT] = turning
    varied[:, SPIN_AXIS : SPIN_AXIS + 3] = spin_axes(model)
    varied[:, KEEPS_L] = keeps_momentum(bodies, options)
    varied[:, KEPT], varied[:, KEPT_LAG] = kept_shares(model, state, float(h))
    forget_drives(model, state)
    forget_stretches(model, state)
    damping = np.concatenate([model.joints.spring_damping, model.forces.damping])
    decay = 0.25 * h * damping * spring_inverse_masses(model)
    spring_records(model, state)[:, KEPT_X] = np.exp(-decay)
