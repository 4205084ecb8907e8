"""Which relative velocities are not allowed."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.constraints.contact import write_contacts
from engine.constraints.drag import write_drags
from engine.constraints.drive import (
    is_free,
    write_damper,
    write_joint_friction,
    write_joint_spring,
    write_motor,
)
from engine.constraints.element import write_elements
from engine.constraints.frames import has_rows, joint_frame
from engine.constraints.grab import write_grab
from engine.constraints.joints.coordinates import coordinate, n_coordinates
from engine.constraints.joints.equations import write_equations
from engine.constraints.limit import write_ball_limits, write_limits
from engine.kernel import kernel
from engine.spatial.vec3 import store3
from engine.world.contacts import Contacts
from engine.world.model import BALL, Model
from engine.world.options import StepOptions
from engine.world.rows import Rows
from engine.world.state import State


@kernel
def write_joint(model: Model, state: State, j: int, rows: Rows, h: float, turning: NDArray) -> None:
    """The rows of one joint: equations, then limits, motor and damper of each axis, then the rest.

    Writes  rows, state.joint_q[j]
    """
    joints = model.joints
    kind = joints.kind[j]
    frame = joint_frame(joints, state, j)
    store3(rows.joint_arm, j, frame.arm_b)
    write_equations(rows, state, joints, j, frame, h, turning)
    if kind == BALL:
        write_ball_limits(rows, state, joints, j, frame, h)
    for axis in range(n_coordinates(kind)):
        if kind != BALL:
            state.joint_q[j, axis] = coordinate(joints, state, j, axis, frame)
            write_limits(rows, state, joints, (j, axis), frame, h, turning)
        write_motor(rows, state, model, j, axis, frame, h)
        if joints.damping[j] > 0.0 and is_free(joints, j):
            write_damper(rows, state, joints, j, axis, frame, h)
    write_joint_friction(rows, state, joints, j, frame, h)
    write_joint_spring(rows, state, joints, j, frame, h)


@kernel
def write_rows(
    model: Model,
    state: State,
    contacts: Contacts,
    rows: Rows,
    options: StepOptions,
    turning: NDArray,
) -> None:
    """All rows of this step: joints, stiff springs, drag, the hand, then contacts.

    Joints and springs of bodies that sleep have no rows; their coordinates stay.

    Reads   poses and velocities in the middle of the step, contacts; turning (n, 3) rad/s^2: how
            free spin changes angular velocities between kicks
    Writes  rows, state.joint_q
    Check   tests/engine/constraints/test_rows.py
    """
    h = options.time_step
    rows.count[0] = 0
    rows.share[0] = options.share
    joints, kind = model.joints, model.bodies.kind
    for j in range(joints.kind.shape[0]):
        if has_rows(joints, kind, state, j):
            write_joint(model, state, j, rows, h, turning)
    write_elements(rows, state, model.forces, kind, h)
    write_drags(rows, state, model.bodies, model.forces, h)
    write_grab(rows, state, model.bodies, h)
    write_contacts(rows, contacts, state, model.bodies, options)
