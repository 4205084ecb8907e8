"""Motors, joint friction, springs and dampers: rows with bounded or compliant impulses."""

from __future__ import annotations

import math

from engine.bodies.forces import elastic_force, elastic_slope, implicit_share, value_at
from engine.constraints.frames import JointFrame
from engine.constraints.joints.coordinates import is_translation, write_coordinate
from engine.constraints.parts.along import write_along
from engine.constraints.row import belong_to_joint, row_speed, start_row
from engine.kernel import kernel
from engine.spatial.vec3 import dot
from engine.world.model import (
    HINGE2,
    MOTOR_FORCE,
    MOTOR_NONE,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    Joints,
    Model,
)
from engine.world.rows import (
    ROW_FRICTION,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_DAMPING,
    SLOT_FRICTION,
    SLOT_MOTOR,
    SLOT_SPRING,
    Rows,
)
from engine.world.state import State


@kernel
def write_motor(
    rows: Rows, state: State, model: Model, j: int, axis: int, frame: JointFrame, h: float
) -> None:
    """A motor on one coordinate; its target is the scene's at this moment unless one is commanded.

        velocity   bias = -target                                     |lam| <= max_force h
        position   bias = k (q - target)/(h k + d), cfm = 1/(h (h k + d)), or, without stiffness,
                   bias = erp/h (q - target)                          |lam| <= max_force h
        force      lam  = target h

    Source  physics.md "One step"; 000 motors, servo (one sense: B relative to A)
    Check   tests/references/test_motors.py
    """
    joints = model.joints
    kind = joints.motor_kind[j, axis]
    if kind == MOTOR_NONE:
        return
    target = state.motor_target[j, axis]
    if math.isnan(target):
        target = value_at(model.targets, joints.motor_table[j, axis], state.time[0] + 0.5 * h)
    max_force = state.motor_max_force[j, axis]
    if math.isnan(max_force):
        max_force = joints.motor_max_force[j, axis]
    row = start_row(rows, ROW_MOTOR, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_MOTOR + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    rows.lo[row] = -max_force * h
    rows.hi[row] = max_force * h
    if kind == MOTOR_VELOCITY:
        rows.bias[row] = -target
    elif kind == MOTOR_POSITION:
        error = state.joint_q[j, axis] - target
        softness = h * joints.motor_stiffness[j, axis] + joints.motor_damping[j, axis]
        if joints.motor_stiffness[j, axis] > 0.0:
            rows.bias[row] = joints.motor_stiffness[j, axis] * error / softness
            rows.cfm[row] = 1.0 / (h * softness)
        else:
            rows.bias[row] = rows.share[0] * joints.erp[j] / h * error
    elif kind == MOTOR_FORCE:
        rows.lo[row] = target * h
        rows.hi[row] = target * h


@kernel
def write_friction(
    rows: Rows, state: State, joints: Joints, j: int, axis: int, frame: JointFrame, h: float
) -> None:
    """Dry friction of a free axis: opposes its motion with at most joints.friction."""
    row = start_row(rows, ROW_FRICTION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_FRICTION + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    rows.lo[row] = -joints.friction[j] * h
    rows.hi[row] = joints.friction[j] * h


# damping [N s/m or N m s/rad], inverse mass [1/kg or 1/(kg m^2)]
Damper = tuple[float, float]


@kernel
def spring_part(joints: Joints, j: int) -> int:
    """Column of joints.inverse_mass that the joint's own spring works on."""
    return 0 if joints.kind[j] == HINGE2 or is_translation(joints.kind[j], 0) else 1


@kernel
def set_spring(
    rows: Rows, row: int, state: State, force: float, stiffness: float, damper: Damper, h: float
) -> None:
    """A spring-damper by the trapezoidal rule: its force is that of the mean of both ends.

        lam = -h [force + stiffness h/4 (J v+ - J v)] - h d ((1 - theta) J v + theta J v+)

    as a row:  g = h^2 k/4 + h d theta,  cfm = 1/g,
               bias = (h force + (h d (1 - theta) - h^2 k/4) J v)/g
    Second order, stable for any stiffness, keeps the energy of a linear spring; theta is 1/2 unless
    the damper is so strong that the velocity would change its sign (implicit_share).

    Reads   force [N or N m] in the middle of the step; stiffness its derivative there;
            damper = (d, inverse mass of the coordinate)
    Source  decision 0003
    Check   tests/references/test_springs.py
    """
    damping, inverse_mass = damper
    theta = implicit_share(h * damping * inverse_mass)
    elastic = 0.25 * h * h * max(stiffness, 0.0)
    g = elastic + h * damping * theta
    known = h * damping * (1.0 - theta) - elastic
    rows.bias[row] = (h * force + known * row_speed(rows, row, state)) / g
    rows.cfm[row] = 1.0 / g


@kernel
def write_joint_spring(
    rows: Rows, state: State, joints: Joints, j: int, frame: JointFrame, h: float
) -> None:
    """The spring of a joint: on its first coordinate, or along the first axis of a hinge2."""
    if joints.spring_on[j] == 0:
        return
    k1, k2, k3 = joints.spring_k[j, 0], joints.spring_k[j, 1], joints.spring_k[j, 2]
    if k1 == 0.0 and k2 == 0.0 and k3 == 0.0 and joints.spring_damping[j] == 0.0:
        return
    row = start_row(rows, ROW_SPRING, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_SPRING, state)
    if joints.kind[j] == HINGE2:
        write_along(rows, row, frame, frame.s)
        x = dot(frame.s, frame.gap) - joints.spring_rest[j]
    else:
        write_coordinate(rows, row, joints, j, 0, frame)
        x = state.joint_q[j, 0] - joints.spring_rest[j]
    force = elastic_force(joints.spring_k, j, x)
    stiffness = elastic_slope(joints.spring_k, j, x)
    if stiffness <= 0.0 and joints.spring_damping[j] == 0.0:
        # a flat or falling characteristic has no implicit form: the force itself, explicitly
        rows.lo[row] = -force * h
        rows.hi[row] = -force * h
        return
    damper = (joints.spring_damping[j], joints.inverse_mass[j, spring_part(joints, j)])
    set_spring(rows, row, state, force, stiffness, damper, h)


@kernel
def write_damper(
    rows: Rows, state: State, joints: Joints, j: int, axis: int, frame: JointFrame, h: float
) -> None:
    """Viscous damping of one coordinate."""
    row = start_row(rows, ROW_SPRING, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_DAMPING + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    part = 0 if is_translation(joints.kind[j], axis) else 1
    damper = (joints.damping[j], joints.inverse_mass[j, part])
    set_spring(rows, row, state, 0.0, 0.0, damper, h)
