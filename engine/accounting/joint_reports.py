"""Joint coordinates and joint forces of a step."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joint_couplings import coupled_rate, coupled_sum
from cardan.engine.constraints.joints.coordinates import (
    axis_of,
    coordinate,
    n_coordinates,
    write_coordinate,
)
from cardan.engine.constraints.joints.frames import is_broken, joint_frame
from cardan.engine.constraints.parts.wound import is_cable, span_of, wound_angles
from cardan.engine.constraints.row import row_speed, wrench_of
from cardan.engine.spatial.vec3 import dot, load3, scale
from cardan.engine.world.model import BALL, COUPLING, Joints
from cardan.engine.world.rows import (
    ROW_COUPLING,
    ROW_EQUATION,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_LOWER,
    SLOT_UPPER,
    Rows,
)
from cardan.engine.world.state import State
from cardan.engine.world.world import World


@kernel
def write_coordinates(joints: Joints, state: State, scratch: Rows, out: NDArray) -> None:
    """Write the current joint coordinates and rates.

    Reads   the state; scratch rows are overwritten beyond rows.count (their first free row)
    Writes  out (j, 3, 2): [coordinate, (q, qd)], m or rad and per second; of a ball qd is the
            relative angular velocity, of a coupling both are those of the sum of its terms; beyond
            the length of a cable on wheels, q are its angles there
    """
    row = scratch.bias.shape[0] - 1
    out[:] = 0.0
    for j in range(joints.kind.shape[0]):
        if joints.kind[j] == COUPLING:
            out[j, 0, 0] = coupled_sum(joints, state, j)
            out[j, 0, 1] = coupled_rate(joints, state, j, scratch, row)
            continue
        frame = joint_frame(joints, state, j)
        scratch.body_a[row] = frame.body_a
        scratch.body_b[row] = frame.body_b
        if is_cable(joints, j):
            angles = wound_angles(joints, state, j, frame, span_of(joints, j, frame))
            out[j, 1, 0], out[j, 2, 0] = angles
        for axis in range(n_coordinates(joints.kind[j])):
            out[j, axis, 0] = coordinate(joints, state, j, axis, frame)
            write_coordinate(scratch, row, joints, j, axis, frame)
            out[j, axis, 1] = row_speed(scratch, row, state)


@kernel
def add_drive(
    joints: Joints, state: State, rows: Rows, i: int, force: float, drive: NDArray
) -> None:
    """Add the force of row i to those of motors and limits, if it is of such a row."""
    j, kind = rows.joint[i], rows.kind[i]
    if kind == ROW_COUPLING:
        drive[j, 0, 1] = force  # that of each of its rows
    elif kind == ROW_MOTOR:
        drive[j, rows.axis[i], 0] += force
    elif kind == ROW_LIMIT and joints.kind[j] == BALL:
        torque = scale(force, load3(rows.J_b, i))
        frame = joint_frame(joints, state, j)
        for axis in range(3):
            drive[j, axis, 1] += dot(axis_of(BALL, axis, frame), torque)
    elif kind == ROW_LIMIT or (kind == ROW_EQUATION and rows.slot[i] >= SLOT_LOWER):
        upper = rows.slot[i] >= SLOT_UPPER
        drive[j, rows.axis[i], 1] += -force if upper else force


@kernel
def write_bases(world: World, reaction: NDArray) -> None:
    """Write the parts of reactions that no row has: of trees, and what least reactions add.

    Writes  reaction (j, 6) N, N m
    """
    joints, mobility = world.model.joints, world.work.problem.mobility
    shift = world.work.least.shift
    for j in range(joints.kind.shape[0]):
        whole = joints.loop[j] >= 0 and not is_broken(world.state, j)
        for k in range(6):
            reaction[j, k] = shift[j, k] if whole else 0.0
        if mobility.tree.inner[j] == 1:
            for k in range(3):
                reaction[j, k] += mobility.work.reaction[j, 3 + k]
                reaction[j, 3 + k] += mobility.work.reaction[j, k]


@kernel
def write_joint_forces(world: World, reaction: NDArray, drive: NDArray) -> None:
    """Write joint forces of the last step: impulses of rows over h; of trees from their motion.

    The reaction is the force of equations, stops and springs on the child, reduced to the anchor; 0
    for a joint that is broken or broke in this step. In loops it is the least (least_reactions.py).
    A coupling has none: its force on the sum of its terms (times the factor of a term: on that
    coordinate) counts as that of a limit.

    Writes  reaction (j, 6): force N, torque N m on the child at the anchor, W;
            drive (j, 3, 2): [coordinate, (motor, limit)] N or N m
    Check   tests/references/test_reactions.py, tests/references/test_published.py
    """
    joints, state, h = world.model.joints, world.state, world.options.time_step
    rows, problem = world.work.rows, world.work.problem
    drive[:] = 0.0
    write_bases(world, reaction)
    for i in range(rows.count[1]):
        j = rows.joint[i]
        if j < 0 or is_broken(state, j):
            continue
        kind = rows.kind[i]
        force = problem.lam[i] / h
        add_drive(joints, state, rows, i, force, drive)
        if kind in (ROW_EQUATION, ROW_LIMIT, ROW_SPRING):
            push, turn = wrench_of(rows, i, load3(rows.joint_arm, j))
            for k in range(3):
                reaction[j, k] += force * push[k]
                reaction[j, 3 + k] += force * turn[k]


@kernel
def write_last_joint_forces(handle: World, reaction: NDArray, drive: NDArray) -> None:
    """Call `write_joint_forces` between two runs."""
    write_joint_forces(struct_of(handle), reaction, drive)
