"""Damping of errors: how fast an error of a body's motion dies out by itself.

A coordinate of a joint with stiffness k and damping d, and inertia m behind it, forgets an error
with d/2m, where it is overdamped with k/d: then nothing adds up over a run. Gravity may act as a
negative stiffness of up to m g r. Half of that rate is counted, as a chain of such joints is
slower than each is alone. A joint that a rigid drive prescribes leaves no error of its own at all.

A body forgets what is wrong relative to the one that carries it, whose own error is judged there.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.inverse_mass import Held, locked_inverse_masses
from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.mobility import prescribed_bodies, wholly_driven
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import turn
from cardan.engine.build.sides import LOOSE, Side, sides_of_joints
from cardan.engine.world.model import (
    DYNAMIC,
    FIXED,
    FORCE_SPRING,
    HINGE,
    MOTOR_POSITION,
    SLIDER,
    Model,
)
from cardan.engine.world.state import State

Array = NDArray[np.float64]

# share of the rate of a coordinate alone that is counted
COUNTED = 0.5


def weight_stiffness(model: Model, state: State, poses: Poses, j: int, side: Side) -> float:
    """The most by which the weight of a side may push hinge j out of place [N m/rad]."""
    joints, g = model.joints, state.gravity_W
    line = turn(poses.q[joints.body_a[j]], joints.axis_A[j])
    anchor = poses.p[joints.body_b[j]] + turn(poses.q[joints.body_b[j]], joints.anchor_B[j])
    arm = side.centre() - anchor
    across, pull = arm - (arm @ line) * line, g - (g @ line) * line
    return side.mass * float(np.linalg.norm(across) * np.linalg.norm(pull))


def element_laws(model: Model, poses: Poses, j: int) -> tuple[float, float]:
    """Stiffness and damping along slider j of springs between its two bodies [N/m, N s/m]."""
    joints, forces = model.joints, model.forces
    a, b = int(joints.body_a[j]), int(joints.body_b[j])
    line, total = turn(poses.q[a], joints.axis_A[j]), np.zeros(2)
    for f in np.flatnonzero(forces.kind == FORCE_SPRING).tolist():
        c, d = int(forces.body_a[f]), int(forces.body_b[f])
        if {a, b} != {c, d} or forces.stiffness[f, 1:].any():
            continue
        ends = [poses.p[e] + turn(poses.q[e], r[f]) for e, r in
                ((c, forces.anchor_A), (d, forces.anchor_B))]  # fmt: skip
        way = ends[1] - ends[0]
        length = float(np.linalg.norm(way))
        share = (float(way @ line) / length) ** 2 if length > 0.0 else 0.0
        total += share * np.array([forces.stiffness[f, 0], forces.damping[f]])
    return float(total[0]), float(total[1])


class Law(NamedTuple):
    """Stiffness and damping of the coordinate of a joint."""

    stiffness: float  # N/m or N m/rad
    damping: float  # N s/m or N m s/rad


def law_of(model: Model, poses: Poses, j: int) -> Law | None:
    """The law of joint j, a hinge or a slider; None: no damping, or a stiffness that varies.

    A drive at its largest force damps nothing: see BOUND_STEP.
    """
    joints = model.joints
    k, d = float(joints.spring_k[j, 0]), float(joints.spring_damping[j] + joints.damping[j])
    uneven = bool(joints.spring_k[j, 1:].any())
    if joints.motor_kind[j, 0] == MOTOR_POSITION and joints.motor_stiffness[j, 0].any():
        k, d = k + joints.motor_stiffness[j, 0, 0], d + joints.motor_damping[j, 0]
        uneven |= bool(joints.motor_stiffness[j, 0, 1:].any())
    if joints.kind[j] == SLIDER:
        more = element_laws(model, poses, j)
        k, d = k + more[0], d + more[1]
    return None if uneven or not d > 0.0 else Law(float(k), float(d))


def forgetting_rates(model: Model, state: State, poses: Poses) -> dict[int, float]:
    """How fast coordinates of damped hinges and sliders in no loop forget an error [1/s]; 0: never.

    Of each joint that has a law; others are left out.
    """
    joints, held, laws = model.joints, list[Held](), list[Law]()
    sides = sides_of_joints(joints, model.bodies, poses)
    damped = is_one_of(joints.kind, (HINGE, SLIDER)) & may_be_damped(model)
    for j in np.flatnonzero(damped).tolist():
        law = law_of(model, poses, j) if j in sides.of_bridge else None
        if law is not None:
            held.append((j, 0, sides.of_bridge[j]))
            laws.append(law)
    found = {}
    masses = locked_inverse_masses(joints, poses, held)
    for (j, _, behind), (k, d), free in zip(held, laws, masses, strict=True):
        inverse = free / (1.0 + float(joints.armature[j]) * free)
        if joints.kind[j] == HINGE:
            k -= sum(weight_stiffness(model, state, poses, j, side) for side in behind)
        found[j] = COUNTED * max(min(0.5 * d * inverse, k / d), 0.0)
    return found


def may_be_damped(model: Model) -> NDArray[np.bool_]:
    """(j,): joints with a damping of their own, of a drive, or along a slider of some spring."""
    joints = model.joints
    own = (joints.spring_damping > 0.0) | (joints.damping > 0.0)
    driven = (joints.motor_damping > 0.0).any(axis=1)
    along = (joints.kind == SLIDER) & (model.forces.damping > 0.0).any()
    found: NDArray[np.bool_] = own | driven | along
    return found


def forgetting_joints(model: Model, state: State) -> Array:
    """(j,) 1/s: how fast the motion that each joint leaves free forgets; 0: never, inf: there is
    none, or a rigid drive prescribes it."""
    joints, poses = model.joints, Poses(state.p_WB, state.q_WB)
    found = np.where((joints.kind == FIXED) | wholly_driven(joints), np.inf, 0.0)
    # what triggers change, or what may break, is not known at the start
    if len(model.triggers.kind) > 0:
        return np.zeros(len(joints.kind))
    if may_be_damped(model).any():
        for j, rate in forgetting_rates(model, state, poses).items():
            found[j] = max(found[j], rate)
    return np.where(np.isinf(joints.breaking_force), found, 0.0)


def carried_rates(model: Model, rate: Array) -> Array:
    """(n,) 1/s: how fast each body forgets relative to what carries it, by the rates of joints.

    Bodies are taken from those that are fixed or prescribed on, the fastest joint first; what hangs
    together without any from its heaviest body on, which forgets nothing.
    """
    joints, n = model.joints, len(model.bodies.kind)
    rates = np.zeros(n)
    links: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for j in np.flatnonzero(~is_one_of(joints.kind, LOOSE)).tolist():
        a, b = int(joints.body_a[j]), int(joints.body_b[j])
        links[a].append((j, b))
        links[b].append((j, a))
    reached = (model.bodies.kind != DYNAMIC) | prescribed_bodies(model)
    starts = np.flatnonzero(reached).tolist()
    heaviest = np.argsort(-model.bodies.mass, kind="stable").tolist()
    for begun in (starts, *([body] for body in heaviest)):
        if begun is not starts and reached[begun[0]]:
            continue
        reached[begun] = True
        waiting: list[tuple[float, int, int]] = []
        for body in begun:
            for j, other in links[body]:
                heappush(waiting, (-rate[j], j, other))
        while waiting:
            slow, j, body = heappop(waiting)
            if reached[body]:
                continue
            reached[body] = True
            rates[body] = -slow
            for k, other in links[body]:
                heappush(waiting, (-rate[k], k, other))
    return rates


def kept_shares(model: Model, state: State, h: float) -> tuple[Array, Array]:
    """Shares (n,) of an error that each body keeps in a step of h [s].

    The first: relative to what carries it. The second: of what its drives make wrong, which act
    between two bodies and are forgotten there, as fast as the slowest of them forgets.
    """
    joints, n = model.joints, len(model.bodies.kind)
    rate = forgetting_joints(model, state)
    if not rate.any():
        return np.ones(n), np.ones(n)
    slowest = np.full(n, np.inf)
    driven = joints.motor_stiffness.any(axis=(1, 2))
    for body in (joints.body_a[driven], joints.body_b[driven]):
        np.minimum.at(slowest, body, rate[driven])
    slowest[np.isinf(slowest)] = 0.0
    return np.exp(-h * carried_rates(model, rate)), np.exp(-h * slowest)
