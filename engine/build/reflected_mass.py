"""Reflected mass of a drive of a distance: that of its mechanism along the line at the start.

    1/m = |(1 - C^+ C) w|^2,    w = M^(-1/2) J^T,    C = G M^(-1/2)

J is the row of the distance, G has the equations of all joints of the mechanism, with other rigid
drives locked. A boom that a cylinder lifts beside its hinge weighs many times its mass there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.mobility import rigid_drives, sets_of_bodies
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import rotation_matrix, turn
from cardan.engine.build.tree import motions
from cardan.engine.trees.subspaces import constraint_subspace
from cardan.engine.world.model import (
    COUPLING,
    DISTANCE,
    DYNAMIC,
    GEAR,
    MOTOR_NONE,
    RACK,
    Bodies,
    Joints,
)
from cardan.engine.world.tree import NODE_BALL, NODE_SCREW, NODE_SLIDER

Array = NDArray[np.float64]

# mechanisms of more bodies count with their mass: the cost grows with the cube
MOST_BODIES = 60
# times the mass of all bodies: the most that is counted, as a lever that is none at a dead centre
# grows on the way
MOST = 100.0
# share of the largest singular value below which equations are implied by others
IMPLIED = 1e-9
# share of the inverse mass without joints below which other drives do not let a drive move
BLOCKED = 1e-12


def joint_motions(joints: Joints, poses: Poses, j: int) -> Array:
    """S (6, d): motions of the child of joint j against its parent at the anchor, one for each
    coordinate; angular part first, W. Suspensions of hinge2 are locked."""
    none, columns = np.zeros(3), list[tuple[Array, Array]]()
    for step in motions(joints, j, poses.q):
        s = step.axis_W
        if step.kind == NODE_BALL:
            columns += [(axis, none) for axis in np.eye(3)]
        elif step.coordinate >= 0:
            along = {NODE_SLIDER: 1.0, NODE_SCREW: float(joints.ratio[j])}.get(step.kind, 0.0)
            columns.append((none if step.kind == NODE_SLIDER else s, along * s))
    return np.array([np.concatenate(pair) for pair in columns]).reshape(len(columns), 6).T


class Mechanism(NamedTuple):
    """Bodies that joints connect, as they are placed."""

    joints: Joints
    bodies: Bodies
    poses: Poses
    rigid: NDArray[np.bool_]  # (j, 3) coordinates that rigid drives hold
    number: dict[int, int]  # of each of its bodies


def is_slack(mechanism: Mechanism, j: int, locked: bool) -> bool:
    """Whether joint j holds nothing here: couplings, gears, racks, and lengths that may vary."""
    joints = mechanism.joints
    if joints.kind[j] != DISTANCE:
        return joints.kind[j] in (COUPLING, GEAR, RACK)
    varies = joints.limit_on[j, 0] or joints.spring_on[j] or joints.motor_kind[j, 0] != MOTOR_NONE
    return bool(varies and not (locked and mechanism.rigid[j, 0]))


def joint_rows(mechanism: Mechanism, j: int, locked: bool) -> Array:
    """C (r, 6 n): rows of joint j on the velocities of n bodies (angular, of the centre), times the
    root of their inverse masses; of a distance that along its line.

    locked: whether rigid drives hold their coordinates
    """
    joints, bodies, poses, rigid, number = mechanism
    ends = (int(joints.body_a[j]), int(joints.body_b[j]))
    anchors = (joints.anchor_A[j], joints.anchor_B[j])
    if joints.kind[j] == DISTANCE:
        line = turn(poses.q[ends[0]], joints.axis_A[j])
        rows = np.concatenate([np.zeros(3), line])[None]
    else:
        S = joint_motions(joints, poses, j)
        free = [k for k in range(S.shape[1]) if not (locked and rigid[j, k])]
        rows = constraint_subspace(S[None, :, free])[0].T
    C = np.zeros((len(rows), len(number), 6))
    for i, anchor, sign in zip(ends, anchors, (-1.0, 1.0), strict=True):
        if i not in number:
            continue
        R, arm = rotation_matrix(poses.q[i]), turn(poses.q[i], anchor)
        turning = rows[:, :3] + np.cross(arm, rows[:, 3:])
        root = np.linalg.cholesky(R @ bodies.inverse_inertia_B[i] @ R.T)
        C[:, number[i], :3] += sign * turning @ root
        C[:, number[i], 3:] += sign * rows[:, 3:] * np.sqrt(bodies.inverse_mass[i])
    return C.reshape(len(rows), -1)


def reflected_inverse_mass(joints: Joints, bodies: Bodies, poses: Poses, j: int) -> float:
    """J M^-1 J^T of distance j in its mechanism at the start [1/kg].

    Other rigid drives are locked, unless they then hold what it moves, as cylinders side by side
    do. Couplings, gears and racks are left out.
    Check   tests/references/test_servo.py
    """
    moving = bodies.kind == DYNAMIC
    a, b = joints.body_a, joints.body_b
    part = sets_of_bodies(joints, moving)
    own = [int(part[i]) for i in (a[j], b[j]) if moving[i]]
    members = moving & np.isin(part, own)
    least = 1.0 / (MOST * float(bodies.mass[members].sum())) if own else 0.0
    if members.sum() > MOST_BODIES:
        return MOST * least
    number = {int(i): k for k, i in enumerate(np.flatnonzero(members))}
    mechanism = Mechanism(joints, bodies, poses, rigid_drives(joints), number)
    near = [k for k in np.flatnonzero(members[a] | members[b]).tolist() if k != j]
    w, left = joint_rows(mechanism, j, False)[0], 0.0
    for locked in (True, False):
        held = [k for k in near if not is_slack(mechanism, k, locked)]
        rows = [joint_rows(mechanism, k, locked) for k in held]
        left = what_is_left(w, np.concatenate([np.zeros((0, len(w))), *rows]))
        if left > BLOCKED * float(w @ w):
            break
    return max(left, least)


def what_is_left(w: Array, rows: Array) -> float:
    """|w|^2 of a vector without its part in the span of rows."""
    _, sizes, V = np.linalg.svd(rows, full_matrices=False)
    kept = V[sizes > IMPLIED * sizes.max(initial=0.0)]
    rest = w - kept.T @ (kept @ w)
    return float(rest @ rest)
