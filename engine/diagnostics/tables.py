"""What a person wants to see of a step: joint coordinates and forces, contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.constraints.frames import joint_frame
from engine.constraints.joints.coordinates import coordinate, n_coordinates, write_coordinate
from engine.constraints.row import row_speed
from engine.kernel import kernel
from engine.spatial.quaternion import rotate
from engine.spatial.rotation import exponential
from engine.spatial.vec3 import scale
from engine.world.contacts import Contacts
from engine.world.model import Joints
from engine.world.problem import Problem
from engine.world.rows import (
    ROW_EQUATION,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_LOWER,
    SLOT_UPPER,
    Rows,
)
from engine.world.state import State

JOINT_FIELDS = ("q", "qd", "motor_force", "limit_force", "fx", "fy", "fz", "tx", "ty", "tz")
JOINT_DTYPE = np.dtype(
    [("joint", np.int32), ("coordinate", np.int32)] + [(name, np.float64) for name in JOINT_FIELDS]
)
CONTACT_FIELDS = ("px", "py", "pz", "nx", "ny", "nz", "gap", "normal_force", "friction_force")
CONTACT_DTYPE = np.dtype(
    [("body_a", np.int32), ("body_b", np.int32)] + [(name, np.float64) for name in CONTACT_FIELDS]
)


@kernel
def write_coordinates(joints: Joints, state: State, scratch: Rows, out: NDArray) -> None:
    """Coordinates and rates now.

    Reads   the state; scratch rows are overwritten beyond rows.count (their first free row)
    Writes  out (j, 2, 2): [coordinate, (q, qd)], m or rad and per second
    """
    row = scratch.bias.shape[0] - 1
    out[:] = 0.0
    for j in range(joints.kind.shape[0]):
        frame = joint_frame(joints, state, j)
        scratch.body_a[row] = frame.body_a
        scratch.body_b[row] = frame.body_b
        for axis in range(n_coordinates(joints.kind[j])):
            out[j, axis, 0] = coordinate(joints, state, j, axis, frame)
            write_coordinate(scratch, row, joints, j, axis, frame)
            out[j, axis, 1] = row_speed(scratch, row, state)


@kernel
def write_joint_forces(
    joints: Joints,
    state: State,
    rows: Rows,
    problem: Problem,
    h: float,
    out: NDArray,
    drive: NDArray,
) -> None:
    """Forces of the last step, from its rows: impulses over h.

    The reaction is what equations, stops and springs do to the child, moved to the anchor. Rows
    are those of the middle of the step, the state is that of its end: the arm is turned back by
    half a step.

    Writes  out (j, 6): force N, torque N m on the child at the anchor, W;
            drive (j, 2, 2): [coordinate, (motor, limit)] N or N m
    Check   tests/references/test_published.py
    """
    out[:] = 0.0
    drive[:] = 0.0
    for i in range(rows.count[1]):
        j = rows.joint[i]
        if j < 0:
            continue
        kind = rows.kind[i]
        force = problem.lam[i] / h
        if kind == ROW_MOTOR:
            drive[j, rows.axis[i], 0] += force
        elif kind == ROW_LIMIT or (kind == ROW_EQUATION and rows.slot[i] >= SLOT_LOWER):
            upper = rows.slot[i] >= SLOT_UPPER
            drive[j, rows.axis[i], 1] += -force if upper else force
        if kind in (ROW_EQUATION, ROW_LIMIT, ROW_SPRING):
            for k in range(3):
                out[j, k] += force * rows.J_b[i, 3 + k]
                out[j, 3 + k] += force * rows.J_b[i, k]
    for j in range(joints.kind.shape[0]):
        frame = joint_frame(joints, state, j)
        arm = rotate(exponential(scale(-0.5 * h, frame.w_b)), frame.arm_b)
        f0, f1, f2 = out[j, 0], out[j, 1], out[j, 2]
        out[j, 3] -= arm[1] * f2 - arm[2] * f1
        out[j, 4] -= arm[2] * f0 - arm[0] * f2
        out[j, 5] -= arm[0] * f1 - arm[1] * f0


def joint_table(
    joints: Joints, state: State, rows: Rows, problem: Problem, h: float
) -> NDArray[np.void]:
    """One row per joint coordinate (dtype JOINT_DTYPE); joints without one have coordinate -1."""
    n = len(joints.kind)
    now, drive, reaction = np.zeros((n, 2, 2)), np.zeros((n, 2, 2)), np.zeros((n, 6))
    write_coordinates(joints, state, rows, now)
    write_joint_forces(joints, state, rows, problem, h, reaction, drive)
    counts = np.array([n_coordinates(int(kind)) for kind in joints.kind], dtype=np.int64)
    joint = np.repeat(np.arange(n), np.maximum(counts, 1))
    first = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])[:-1]
    axis = np.arange(len(joint)) - np.repeat(first, np.maximum(counts, 1))
    table = np.zeros(len(joint), JOINT_DTYPE)
    table["joint"] = joint
    table["coordinate"] = np.where(np.repeat(counts, np.maximum(counts, 1)) == 0, -1, axis)
    table["q"], table["qd"] = now[joint, axis, 0], now[joint, axis, 1]
    table["motor_force"], table["limit_force"] = drive[joint, axis, 0], drive[joint, axis, 1]
    for k, name in enumerate(JOINT_FIELDS[4:]):
        table[name] = reaction[joint, k]
    return table


def contact_table(contacts: Contacts, rows: Rows, problem: Problem, h: float) -> NDArray[np.void]:
    """One row per contact of the last step (dtype CONTACT_DTYPE), as found in its middle."""
    n = int(contacts.count[0])
    table = np.zeros(n, CONTACT_DTYPE)
    lam = problem.lam[rows.count[1] : rows.count[1] + 3 * n].reshape(n, 3)
    table["body_a"], table["body_b"] = contacts.body_a[:n], contacts.body_b[:n]
    for k in range(3):
        table[CONTACT_FIELDS[k]] = contacts.point_W[:n, k]
        table[CONTACT_FIELDS[3 + k]] = contacts.normal_W[:n, k]
    table["gap"] = contacts.gap[:n]
    table["normal_force"] = lam[:, 0] / h
    table["friction_force"] = np.hypot(lam[:, 1], lam[:, 2]) / h
    return table
