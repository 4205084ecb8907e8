"""Rotation angles of single bodies in W, and the gears and racks that couple them.

The angle of a body is its twist since the start about the initial direction of its axis. If a hinge
holds the axis on a body that does not rotate, this is the angle of the wheel. On a moving carrier
it is the angle relative to W, not relative to the carrier.

The rows exert torques relative to W: the bearings of the axes carry the difference of the torques.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.parts.twist import (
    twist_angle,
    twist_direction,
    twist_direction_rate,
)
from cardan.engine.spatial.quaternion import conjugate, load4, multiply, rotate
from cardan.engine.spatial.vec3 import ZERO3, Vec3, cross, dot, load3, scale
from cardan.engine.world.model import GEAR, Joints
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State


@kernel
def rotation_of_parent(joints: Joints, state: State, j: int) -> float:
    """Twist of A about its axis since the start [rad], without whole turns."""
    turned = multiply(conjugate(load4(joints.q_WA0, j)), load4(state.q_WB, joints.body_a[j]))
    return twist_angle(turned, load3(joints.axis_A, j))


@kernel
def rotation_of_child(joints: Joints, state: State, j: int) -> float:
    """Twist of B about its axis since the start [rad], without whole turns."""
    turned = multiply(conjugate(load4(joints.q_WB0, j)), load4(state.q_WB, joints.body_b[j]))
    return twist_angle(turned, load3(joints.axis_B, j))


@kernel
def travel_of_child(joints: Joints, state: State, j: int) -> float:
    """Displacement of B's centre of mass along a fixed direction of W since the start [m]."""
    return dot(load3(joints.axis_B, j), load3(state.p_WB, joints.body_b[j])) - joints.angle0[j]


@kernel
def set_sides(rows: Rows, row: int, angular_a: Vec3, linear_b: Vec3, angular_b: Vec3) -> None:
    """J = [angular_a, 0, angular_b, linear_b]."""
    for k in range(3):
        rows.J_a[row, k] = angular_a[k]
        rows.J_a[row, 3 + k] = 0.0
        rows.J_b[row, k] = angular_b[k]
        rows.J_b[row, 3 + k] = linear_b[k]


@kernel
def write_rotations(
    rows: Rows, row: int, joints: Joints, j: int, frame: JointFrame, side: Vec3
) -> float:
    """The row of side[0] (turn of A) + side[1] (turn of B, or travel of B for a rack).

        turn:   d . w,  d as in `twist_direction` with the axis at the start and now  [rad/s]
        travel: e . v_B                                                               [m/s]

    Reads   side: shares of both, third component unused
    Returns the second derivative at constant velocities [rad/s^2 or m/s^2]
    Check   tests/engine/constraints/test_rows.py
    """
    start_a = rotate(load4(joints.q_WA0, j), load3(joints.axis_A, j))
    d_a = twist_direction(start_a, frame.s)
    bias = dot(twist_direction_rate(start_a, frame.s, ZERO3, cross(frame.w_a, frame.s)), frame.w_a)
    if joints.kind[j] != GEAR:
        e = load3(joints.axis_B, j)
        set_sides(rows, row, scale(side[0], d_a), scale(side[1], e), ZERO3)
        return side[0] * bias
    start_b = rotate(load4(joints.q_WB0, j), load3(joints.axis_B, j))
    d_b = twist_direction(start_b, frame.s_b)
    bias_b = dot(
        twist_direction_rate(start_b, frame.s_b, ZERO3, cross(frame.w_b, frame.s_b)), frame.w_b
    )
    set_sides(rows, row, scale(side[0], d_a), ZERO3, scale(side[1], d_b))
    return side[0] * bias + side[1] * bias_b
