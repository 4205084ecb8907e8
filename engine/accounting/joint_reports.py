"""Joint coordinates and joint forces of a step."""

from __future__ import annotations

from numpy.typing import NDArray

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
from cardan.engine.world.model import BALL, Joints
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
from cardan.engine.world.state import State


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
