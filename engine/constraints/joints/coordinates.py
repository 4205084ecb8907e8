"""Joint coordinates: their value, their row, and their second derivative at constant velocities."""

from __future__ import annotations

import math

from engine.constraints.frames import JointFrame
from engine.constraints.parts.along import write_along
from engine.constraints.row import set_jacobian
from engine.kernel import kernel
from engine.spatial.quaternion import conjugate, load4, multiply, rotate
from engine.spatial.rotation import nearest_turn
from engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, negate, scale, sub
from engine.world.model import CYLINDRICAL, HINGE, HINGE2, SLIDER, UNIVERSAL, Joints
from engine.world.rows import Rows
from engine.world.state import State


@kernel
def n_coordinates(kind: int) -> int:
    """How many coordinates a joint has that can be limited, driven or sprung."""
    if kind in (HINGE, SLIDER):
        return 1
    if kind in (UNIVERSAL, HINGE2, CYLINDRICAL):
        return 2
    return 0


@kernel
def is_translation(kind: int, axis: int) -> bool:
    """Whether a coordinate is a length (else an angle)."""
    return kind == SLIDER or (kind == CYLINDRICAL and axis == 0)


@kernel
def angle_about(axis: Vec3, start: Vec3, end: Vec3) -> float:
    """The angle from `start` to `end` about a unit axis [rad], from their parts across it."""
    return math.atan2(
        dot(axis, cross(start, end)), dot(start, end) - dot(axis, start) * dot(axis, end)
    )


@kernel
def coordinate(joints: Joints, state: State, j: int, axis: int, frame: JointFrame) -> float:
    """Value of a joint coordinate [m or rad]: motion of B relative to A along or about its axis.

    Angles are continued from the last value, across whole turns.
    Check   tests/engine/constraints/test_rows.py
    """
    kind = joints.kind[j]
    if is_translation(kind, axis):
        return dot(frame.s, frame.gap)
    last = state.joint_q[j, axis]
    if kind in (HINGE, CYLINDRICAL):
        q_a = load4(state.q_WB, frame.body_a)
        q_AB = multiply(conjugate(q_a), load4(state.q_WB, frame.body_b))
        turned = multiply(q_AB, conjugate(load4(joints.q_AB0, j)))
        s = load3(joints.axis_A, j)
        sine = turned[1] * s[0] + turned[2] * s[1] + turned[3] * s[2]
        return nearest_turn(2.0 * math.atan2(sine, turned[0]), last)
    if axis == 0:
        zero = rotate(load4(state.q_WB, frame.body_a), load3(joints.zero2_A, j))
        return nearest_turn(angle_about(frame.s, zero, frame.s_b), last)
    zero = rotate(load4(state.q_WB, frame.body_b), load3(joints.zero1_B, j))
    return nearest_turn(-angle_about(frame.s_b, zero, frame.s), last)


@kernel
def write_coordinate(
    rows: Rows, row: int, joints: Joints, j: int, axis: int, frame: JointFrame
) -> float:
    """The row of a coordinate: its rate is J v.

        translation            the part `along` with e = s
        hinge, cylindrical     J = [-s, 0, s, 0]
        hinge2, universal      w_rel = rate1 s_i + rate2 s_j  =>  rate1 = d . w_rel with
                               d = (s_i - c s_j)/(1 - c^2), c = s_i . s_j, and alike for rate2

    Returns the coordinate's second derivative at constant velocities (for two-axis joints without
    the turning of d, of second order in the rates across both axes)
    Check   tests/engine/constraints/test_rows.py
    """
    kind = joints.kind[j]
    if is_translation(kind, axis):
        return write_along(rows, row, frame, frame.s)
    d = frame.s
    if kind in (UNIVERSAL, HINGE2):
        c = dot(frame.s, frame.s_b)
        if axis == 0:
            d = scale(1.0 / (1.0 - c * c), add_scaled(frame.s, -c, frame.s_b))
        else:
            d = scale(1.0 / (1.0 - c * c), add_scaled(frame.s_b, -c, frame.s))
    set_jacobian(rows, row, negate(d), (0.0, 0.0, 0.0), d)
    base = frame.w_b if axis == 1 and kind != CYLINDRICAL else frame.w_a
    return dot(cross(base, d), sub(frame.w_b, frame.w_a))
