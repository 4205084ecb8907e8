"""Rows of an impact: equations of joints, contacts, and drives whose force has no bound."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import is_elastic
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contacts import start_contacts, write_contacts
from cardan.engine.constraints.joint_couplings import write_couplings
from cardan.engine.constraints.joints.coordinates import n_coordinates, write_coordinate
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.constraints.motor_targets import is_stepped, position_rate, speed_over
from cardan.engine.constraints.rolling import follow_curvature
from cardan.engine.constraints.row import belong_to_joint, start_row
from cardan.engine.world.model import MOTOR_POSITION, MOTOR_VELOCITY
from cardan.engine.world.rows import ROW_MOTOR, SLOT_MOTOR
from cardan.engine.world.world import World


@kernel
def drives_at_once(world: World, j: int, axis: int) -> bool:
    """Whether a motor is rigid and its force has no bound, so that its speed jumps at the start."""
    joints = world.model.joints
    kind, bound = joints.motor_kind[j, axis], world.state.motor_max_force[j, axis]
    if math.isnan(bound):
        bound = joints.motor_max_force[j, axis]
    rigid = not is_elastic(joints.motor_stiffness[j], axis)
    return bound == math.inf and (kind == MOTOR_VELOCITY or (kind == MOTOR_POSITION and rigid))


@kernel
def write_start(world: World, j: int, axis: int) -> None:
    """Write the row that gives a motor's coordinate its speed: the target, or its derivative."""
    model, state, rows, h = world.model, world.state, world.work.rows, world.options.time_step
    frame = joint_frame(model.joints, state, j)
    row = start_row(rows, ROW_MOTOR, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_MOTOR + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, model.joints, j, axis, frame)
    if model.joints.motor_kind[j, axis] == MOTOR_VELOCITY:
        now = state.time[0]
        end = now + 0.5 * h if is_stepped(state, model, j, axis) else now
        rows.bias[row] = -speed_over(state, model, j, axis, now, end)
    else:
        rows.bias[row] = -position_rate(state, model, j, axis, state.time[0], 0.0)


@kernel
def write_starts(world: World) -> None:
    """Rows of all motors that drive at once.

    Writes  work.rows
    """
    model, state = world.model, world.state
    joints = model.joints
    for j in range(joints.kind.shape[0]):
        if not has_rows(joints, model.bodies.kind, state, j):
            continue
        for axis in range(n_coordinates(joints.kind[j])):
            if drives_at_once(world, j, axis):
                write_start(world, j, axis)


@kernel
def write_instant_equations(world: World, inner: bool) -> None:
    """Couplings and equations of joints outside trees, or of all joints (`inner`), as J v+ = 0.

    Writes  work.rows, without contacts
    """
    model, state, rows, bias_acceleration = (
        world.model,
        world.state,
        world.work.rows,
        world.work.motion.bias_acceleration,
    )
    kind, h = model.bodies.kind, world.clock.h[0]
    rows.count[0], rows.count[2] = 0, 0
    rows.share[0] = world.clock.share[0]
    if model.joints.term_joint.shape[0] > 0:
        write_couplings(model, state, rows, h, bias_acceleration, True)
    for j in range(model.joints.kind.shape[0]):
        if has_rows(model.joints, kind, state, j) and (inner or model.tree.inner[j] == 0):
            frame = joint_frame(model.joints, state, j)
            write_equations(rows, state, model.joints, j, frame, h, bias_acceleration)
    for row in range(rows.count[0]):
        rows.bias[row], rows.lam_warm[row] = 0.0, 0.0
    rows.count[1] = rows.count[0]


@kernel
def write_impact_rows(world: World, starts: bool) -> None:
    """Couplings and equations of joints outside trees as J v+ = 0, then contacts as in a step.

    Motors (but for those that drive at once, with `starts`), springs, joint friction and soft
    stops are left out: in an instant they transmit no impulse. A hard stop that a joint reaches
    because of an impact, and a rope that becomes taut, act in the next kick.

    Writes  work.rows
    """
    rows = world.work.rows
    write_instant_equations(world, False)
    if starts:
        write_starts(world)
    start_contacts(world)
    write_contacts(world, 0, world.work.contacts.count[0])
    follow_curvature(world)
    for row in range(rows.count[0]):
        rows.lam_warm[row] = 0.0
        rows.sweep_bias_delta[row] = 0.0
