"""Twist of B relative to A about an axis of A, for any swing of the axis."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.quaternion import Quaternion
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, negate, scale, sub
from cardan.engine.world.rows import Rows

# 1 + cos(swing) below which the twist is undefined: swing = pi, within 1.4e-3 rad
TURNED_OVER = 1e-6


@kernel
def twist_angle(turned: Quaternion, axis: Vec3) -> float:
    """The twist of a rotation about an axis [rad], in (-2 pi, 2 pi]: turned = swing * twist.

    The swing is the shortest rotation of the axis to its present direction; the twist is about the
    axis:
    tan(twist/2) = (vector part . axis)/(scalar part).
    """
    sine = turned[1] * axis[0] + turned[2] * axis[1] + turned[3] * axis[2]
    return 2.0 * math.atan2(sine, turned[0])


@kernel
def twist_direction(start: Vec3, end: Vec3) -> Vec3:
    """d with d(twist)/dt = d . w, for an axis that was at `start` and has been swung to `end`.

        d = (start + end)/(1 + start . end)

    The angular velocity of a shortest swing is perpendicular to start + end, so only the twist
    contributes along it. Without swing d is the axis itself. At swing = pi (see TURNED_OVER) d is
    `end`.
    """
    c = 1.0 + dot(start, end)
    if c < TURNED_OVER:
        return end
    return scale(1.0 / c, add(start, end))


@kernel
def twist_direction_rate(start: Vec3, end: Vec3, start_rate: Vec3, end_rate: Vec3) -> Vec3:
    """The time derivative of `twist_direction` [1/s], for the rates of both axes."""
    c = 1.0 + dot(start, end)
    if c < TURNED_OVER:
        return end_rate
    change = dot(start_rate, end) + dot(start, end_rate)
    moved = add(start_rate, end_rate)
    return scale(1.0 / c, add_scaled(moved, -change / c, add(start, end)))


@kernel
def write_twist(rows: Rows, row: int, frame: JointFrame) -> float:
    """One row: the twist of B relative to A about s, exact for any swing of the axis.

        dx/dt = d . (w_B - w_A),   d = (s + s_b)/(1 + s . s_b)                 [rad/s]

    with s fixed in A and s_b fixed in B, which coincided at the start.

    Returns d2x/dt2 at constant velocities [rad/s^2]
    Source  derived: see twist_direction
    Check   tests/engine/constraints/test_rows.py
    """
    d = twist_direction(frame.s, frame.s_b)
    set_jacobian(rows, row, negate(d), (0.0, 0.0, 0.0), d)
    d_dot = twist_direction_rate(
        frame.s, frame.s_b, cross(frame.w_a, frame.s), cross(frame.w_b, frame.s_b)
    )
    return dot(d_dot, sub(frame.w_b, frame.w_a))
