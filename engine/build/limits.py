"""How long bodies are, and what that allows: limits of errors and speeds relative to the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import (
    GATE_APART,
    GATE_KINETIC,
    LIMIT_TURN,
    LIMITS,
    SMALL_GROWTH,
)
from cardan.engine.world.model import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    DYNAMIC,
    ELLIPSOID,
    KINEMATIC,
    MESH,
    SPHERE,
    STATIC,
    Bodies,
    Model,
    Shapes,
)
from cardan.engine.world.options import Integrator, StepOptions
from cardan.engine.world.state import State

Array = NDArray[np.float64]

# share of the smaller body by which a joint may come apart, and two bodies overlap at the start
LENGTH_SHARE = 0.01
# a turn in one step beyond which the curves of joints and contacts are not followed any more [rad]
LARGEST_TURN = 0.2
# a body without shapes is no shorter than this share of the scene
POINT_SHARE = 0.01
# m/s: kinetic energy of all bodies at this speed is none, as in reports.py
REST_SPEED = 1e-3


def room_of_extremes(n_bodies: int, n_joints: int) -> int:
    """Length of state.extremes; bodies include the world."""
    return LIMITS + n_joints + n_bodies


def rotation_matrices(q: Array) -> Array:
    """(m, 3, 3) of unit quaternions (m, 4)."""
    w, x, y, z = q.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def half_widths(shapes: Shapes) -> Array:
    """(m, 3): half the width of each shape along the axes of its body [m]; 0 of planes."""
    R = np.abs(rotation_matrices(shapes.q_BS))
    a, b = shapes.size[:, :1], shapes.size[:, 1:2]
    kind, half = shapes.kind, np.zeros((len(shapes.kind), 3))
    round_side = np.hypot(R[:, :, 0], R[:, :, 1])
    widths = (
        ((SPHERE,), np.broadcast_to(a, half.shape)),
        ((BOX, MESH), np.einsum("mij,mj->mi", R, shapes.size)),
        ((CAPSULE,), a + b * R[:, :, 2]),
        ((CYLINDER, CONE), a * round_side + b * R[:, :, 2]),
        ((ELLIPSOID,), np.sqrt(np.einsum("mij,mj->mi", R**2, shapes.size**2))),
    )
    for kinds, width in widths:
        chosen = np.isin(kind, kinds)
        half[chosen] = width[chosen]
    return half


def bounds(shapes: Shapes) -> tuple[Array, Array]:
    """Least and largest coordinates (m, 3) of each shape, from the centre of mass, body axes."""
    half = half_widths(shapes)
    lower, upper = shapes.p_BS - half, shapes.p_BS + half
    for i in np.flatnonzero(shapes.kind == CONVEX):
        start = shapes.point_start[i]
        points = shapes.points[start : start + shapes.point_count[i]]
        turned = points @ rotation_matrices(shapes.q_BS[i : i + 1])[0].T
        lower[i] = shapes.p_BS[i] + turned.min(axis=0)
        upper[i] = shapes.p_BS[i] + turned.max(axis=0)
    return lower, upper


def lengths_of_points(model: Model, p_WB: Array) -> Array:
    """(n,) m: how long dynamic bodies without shapes are.

    The longest edge of a box with their inertia, or from the centre of mass to their farthest
    anchor, or a share of the whole scene.
    """
    bodies, joints = model.bodies, model.joints
    length = np.zeros(len(bodies.kind))
    moving = bodies.kind == DYNAMIC
    moments = np.linalg.eigvalsh(bodies.inertia_B[moving])
    square = 6.0 * (moments[:, 1] + moments[:, 2] - moments[:, 0]) / bodies.mass[moving]
    length[moving] = np.sqrt(np.maximum(square, 0.0))
    np.maximum.at(length, joints.body_a, np.linalg.norm(joints.anchor_A, axis=1))
    np.maximum.at(length, joints.body_b, np.linalg.norm(joints.anchor_B, axis=1))
    scene = np.linalg.norm(np.ptp(p_WB, axis=0)) if len(p_WB) else 0.0
    return np.maximum(length, POINT_SHARE * scene)


def body_lengths(model: Model, p_WB: Array) -> Array:
    """(n,) m: the longest edge of the box about the shapes of each body, in its axes."""
    shapes, n = model.shapes, len(model.bodies.kind)
    lower, upper = np.full((n, 3), np.inf), np.full((n, 3), -np.inf)
    least, most = bounds(shapes)
    np.minimum.at(lower, shapes.body, least)
    np.maximum.at(upper, shapes.body, most)
    length = lengths_of_points(model, p_WB)
    shaped = np.isfinite(upper[:, 0]) & np.isfinite(lower[:, 0])
    length[shaped] = (upper - lower)[shaped].max(axis=1)
    return length


def shorter_length(model: Model, length: Array, a: Any, b: Any) -> Array:
    """m: the length of the shorter of bodies a and b, of those that forces move; inf: of none."""
    moved = np.where(model.bodies.kind == DYNAMIC, length, np.inf)
    shorter: Array = np.minimum(moved[a], moved[b])
    return shorter


def can_touch(shapes: Shapes, n_bodies: int) -> NDArray[np.bool_]:
    """(n,): which bodies have a shape that is in a group and touches one."""
    touching = np.zeros(n_bodies, bool)
    touching[shapes.body[(shapes.group != 0) & (shapes.mask != 0)]] = True
    return touching


def joint_limits(model: Model, length: Array) -> Array:
    """(j,) m: how far anchors may be apart; inf of joints that are soft by intention."""
    joints = model.joints
    shorter = shorter_length(model, length, joints.body_a, joints.body_b)
    return np.where(joints.cfm > 0.0, np.inf, LENGTH_SHARE * shorter)


def least_kinetic(bodies: Bodies, speed: Array, turning: float) -> float:
    """No body exceeds its speed (n,) [m/s] or the rate of turning with less energy than this [J].

    Bodies with a given motion have no kinetic energy: with one that moves there is no such gate.
    """
    if (bodies.kind == KINEMATIC).any():
        return -1.0
    moving = bodies.kind == DYNAMIC
    if not moving.any():
        return np.inf
    thrown = 0.5 * bodies.mass[moving] * speed[moving] ** 2
    spun = 0.5 * np.linalg.eigvalsh(bodies.inertia_B[moving])[:, 0] * turning**2
    # rounding of sums
    return float((1.0 - 1e-9) * min(thrown.min(), spun.min()))


def lay_down_limits(model: Model, state: State, options: StepOptions) -> None:
    """Write the limits of a run into state.extremes, whose layout is in accounting/crossings.py.

    A joint may come apart by LENGTH_SHARE of the smaller body it joins; a body that can touch
    something may move by its own length in a step, and every body turn by LARGEST_TURN. Integrators
    of smooth motion have no contacts and are of high order: they have no limits of speed.

    Reads   state at the start
    Writes  state.extremes from GATES on
    """
    bodies, extremes, h = model.bodies, state.extremes, options.time_step
    n_joints = len(model.joints.kind)
    length = body_lengths(model, state.p_WB)
    apart = joint_limits(model, length)
    speed = np.full(len(length), np.inf)
    turning = np.inf
    if options.integrator == Integrator.SEMI_IMPLICIT_EULER:
        touching = can_touch(model.shapes, len(length)) & (bodies.kind != STATIC)
        speed[touching] = length[touching] / h
        turning = LARGEST_TURN / h
    extremes[GATE_APART] = apart.min(initial=np.inf)
    extremes[GATE_KINETIC] = least_kinetic(bodies, speed, turning)
    extremes[LIMIT_TURN] = turning
    lifted = float(np.linalg.norm(state.gravity_W)) * float(bodies.mass @ length)
    rest = 0.5 * float(bodies.mass.sum()) * REST_SPEED**2
    extremes[SMALL_GROWTH] = LENGTH_SHARE * lifted + rest
    extremes[LIMITS : LIMITS + n_joints] = apart
    extremes[LIMITS + n_joints :] = speed
