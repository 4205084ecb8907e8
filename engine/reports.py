"""Reports: tables of joint coordinates, joint forces and contacts of a step, and the summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.energy import moving_energy, potential_energy
from cardan.engine.accounting.extremes import inner_errors
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import (
    axis_of,
    coordinate,
    n_coordinates,
    write_coordinate,
)
from cardan.engine.constraints.joints.frames import is_broken, joint_frame
from cardan.engine.constraints.row import row_speed
from cardan.engine.spatial.vec3 import cross, dot, load3, scale, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import BALL, Joints, Model
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import (
    ROW_EQUATION,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_LOWER,
    SLOT_UPPER,
    Rows,
)
from cardan.engine.world.state import (
    EXTREME_ANGULAR,
    EXTREME_BALANCE,
    EXTREME_CONTACTS,
    EXTREME_COULOMB,
    EXTREME_DRIFT,
    EXTREME_JOINT_ANGLE,
    EXTREME_JOINT_POSITION,
    EXTREME_KINETIC,
    EXTREME_LINEAR,
    EXTREME_PENETRATION,
    EXTREME_RESIDUAL,
    FIRST_ENERGY,
    FLIGHT_SUM,
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    RETURNED_LARGEST,
    RETURNED_NET,
    RETURNED_SUM,
    RETURNED_TIME,
    SUM_ITERATIONS,
    State,
)

# m/s: energy errors are compared with the largest kinetic energy, but at least with that of all
# bodies at this speed, so that a scene at rest has a scale too
REST_SPEED = 1e-3


def energies(model: Model, state: State) -> dict[str, float]:
    """Energies now and work so far [J]."""
    kinetic = float(moving_energy(model, state))
    potential = float(potential_energy(model, state))
    ledger = state.ledger
    return {
        "kinetic": kinetic,
        "potential": potential,
        "total": kinetic + potential,
        "work_in": float(ledger[LEDGER_WORK_IN]),
        "dissipated_friction": float(ledger[LEDGER_FRICTION]),
        "dissipated_impact": float(ledger[LEDGER_IMPACT]),
        "dissipated_damping": float(ledger[LEDGER_DAMPING]),
        "correction": float(ledger[LEDGER_CORRECTION]),
    }


def broken_joints(state: State, names: Sequence[str]) -> list[dict[str, Any]]:
    """Joints that broke: name, end of that step [s] and reaction [N], of a gear [N m]."""
    return [
        {"joint": name, "time": float(time), "force": float(force)}
        for name, (time, force) in zip(names, state.broken, strict=True)
        if not math.isnan(time)
    ]


def summarise(
    model: Model, state: State, methods: list[str], joint_names: Sequence[str]
) -> dict[str, Any]:
    """Parts `energy`, `momentum`, `joints`, `contacts` and `solver` of a summary.

    Energy errors are relative to the largest kinetic energy so far (at least that of all bodies at
    REST_SPEED); `methods` names the solvers that were used.
    """
    extremes, now = state.extremes, energies(model, state)
    kinetic = float(extremes[EXTREME_KINETIC])
    scale = max(kinetic, 0.5 * float(model.bodies.mass.sum()) * REST_SPEED**2)
    scale = scale if scale > 0.0 else 1.0
    inner = inner_errors(model, state)
    work = ("work_in", "dissipated_friction", "dissipated_impact", "dissipated_damping")
    return {
        "energy": {
            "initial": float(extremes[FIRST_ENERGY]),
            "final": now["total"],
            "max_kinetic": kinetic,
            "max_relative_drift": float(extremes[EXTREME_DRIFT]) / scale,
            "balance_error": float(extremes[EXTREME_BALANCE]) / scale,
            "returned": {
                "sum": float(extremes[RETURNED_SUM]),
                "net": float(extremes[RETURNED_NET]),
                "largest_step": float(extremes[RETURNED_LARGEST]),
                "largest_time": float(extremes[RETURNED_TIME]),
                "share": float(extremes[RETURNED_SUM]) / scale,
                "flight": float(extremes[FLIGHT_SUM]),
            },
            **{name: now[name] for name in (*work, "correction")},
        },
        "momentum": {
            "max_linear_drift": float(extremes[EXTREME_LINEAR]),
            "max_angular_drift": float(extremes[EXTREME_ANGULAR]),
        },
        "joints": {
            "max_position_error": max(float(extremes[EXTREME_JOINT_POSITION]), inner[0]),
            "max_angle_error": max(float(extremes[EXTREME_JOINT_ANGLE]), inner[1]),
            "broken": broken_joints(state, joint_names),
        },
        "contacts": {
            "max_count": int(extremes[EXTREME_CONTACTS]),
            "max_penetration": float(extremes[EXTREME_PENETRATION]),
        },
        "solver": {
            "methods": methods,
            "max_residual": float(extremes[EXTREME_RESIDUAL]),
            "max_coulomb_error": float(extremes[EXTREME_COULOMB]),
            "mean_iterations": float(extremes[SUM_ITERATIONS]) / max(int(state.step[0]), 1),
        },
    }


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
    """Write the current joint coordinates and rates.

    Reads   the state; scratch rows are overwritten beyond rows.count (their first free row)
    Writes  out (j, 3, 2): [coordinate, (q, qd)], m or rad and per second; of a ball qd is the
            relative angular velocity
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
    """Write joint forces of the last step: impulses of rows over h; of trees from their motion.

    The reaction is the force of equations, stops and springs on the child, reduced to the anchor; 0
    for a joint that is broken or broke in this step.

    Writes  out (j, 6): force N, torque N m on the child at the anchor, W;
            drive (j, 3, 2): [coordinate, (motor, limit)] N or N m
    Check   tests/references/test_reactions.py, tests/references/test_published.py
    """
    out[:] = 0.0
    drive[:] = 0.0
    mobility = problem.mobility
    for j in range(joints.kind.shape[0]):
        if mobility.tree.inner[j] == 1:
            for k in range(3):
                out[j, k] = mobility.work.reaction[j, 3 + k]
                out[j, 3 + k] = mobility.work.reaction[j, k]
    for i in range(rows.count[1]):
        j = rows.joint[i]
        if j < 0 or is_broken(state, j):
            continue
        kind = rows.kind[i]
        force = problem.lam[i] / h
        if kind == ROW_MOTOR:
            drive[j, rows.axis[i], 0] += force
        elif kind == ROW_LIMIT and joints.kind[j] == BALL:
            torque = scale(force, load3(rows.J_b, i))
            frame = joint_frame(joints, state, j)
            for axis in range(3):
                drive[j, axis, 1] += dot(axis_of(BALL, axis, frame), torque)
        elif kind == ROW_LIMIT or (kind == ROW_EQUATION and rows.slot[i] >= SLOT_LOWER):
            upper = rows.slot[i] >= SLOT_UPPER
            drive[j, rows.axis[i], 1] += -force if upper else force
        if kind in (ROW_EQUATION, ROW_LIMIT, ROW_SPRING):
            push = (rows.J_b[i, 3], rows.J_b[i, 4], rows.J_b[i, 5])
            turn = sub(load3(rows.J_b, i), cross(load3(rows.joint_arm, j), push))
            for k in range(3):
                out[j, k] += force * push[k]
                out[j, 3 + k] += force * turn[k]


def joint_table(
    joints: Joints, state: State, rows: Rows, problem: Problem, h: float
) -> NDArray[np.void]:
    """One row per joint coordinate (dtype JOINT_DTYPE); joints without one have coordinate -1."""
    n = len(joints.kind)
    now, drive, reaction = np.zeros((n, 3, 2)), np.zeros((n, 3, 2)), np.zeros((n, 6))
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
