"""The length of a cable between two ends of which one or both are wound on wheels.

A wheel is a circle of a body: its middle is the anchor, its axis is fixed in the body. Followed
from A to B the cable runs around a wheel by the right hand about the axis of that wheel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.quaternion import load4, rotate
from cardan.engine.spatial.rotation import angle_about, nearest_turn
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    scale,
    sub,
)
from cardan.engine.world.model import Joints
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State

# a cable that has been wound up keeps this share of the distance of the ends straight [-]
SHORTEST = 1e-6


class Span(NamedTuple):
    """The straight part of a cable, in W."""

    n: Vec3  # -    axis of the wheel whose plane counts: A's, or B's if A has none
    e: Vec3  # -    from the middle of that wheel to where the cable leaves it or arrives
    slope: Vec3  # -  derivative of straight and wound length by the place of B's anchor
    flat: Vec3  # m   from A's anchor to B's anchor in the plane of the wheel
    run: float  # m   length of the straight part in that plane
    length: float  # m
    sense: float  # 1 or -1: whether B's wheel turns as n does


@kernel
def is_cable(joints: Joints, j: int) -> bool:
    """Whether joint j is a distance joint with a wheel at an end."""
    return joints.wheel[j, 0] > 0.0 or joints.wheel[j, 1] > 0.0


@kernel
def span_of(joints: Joints, j: int, frame: JointFrame) -> Span:
    """The tangent of both ends.

        d = gap, in the plane d_n = d - (n.d) n,  rho = sense r_B - r_A
        d_n = run u - rho e,   e = u x n,   run^2 = |d_n|^2 - rho^2
        L   = sqrt(run^2 + (n.d)^2) - rho phi,   phi: angle of e about n
        dL/dd = u + d_n (1/length - 1/run) + (n.d)/length n

    In the plane (n.d = 0) the slope is u, the direction of the straight part.
    Source  derived: the common tangent of two circles
    """
    r_a, r_b, n, sense = joints.wheel[j, 0], joints.wheel[j, 1], frame.t1, 1.0
    if r_a == 0.0:
        n = frame.s_b
    elif r_b > 0.0 and dot(n, frame.s_b) < 0.0:
        sense = -1.0
    rho, z = sense * r_b - r_a, dot(n, frame.gap)
    flat = add_scaled(frame.gap, -z, n)
    square = dot(flat, flat)
    run = math.sqrt(max(square - rho * rho, SHORTEST * SHORTEST * square))
    u = scale(1.0 / (run * run + rho * rho), add_scaled(scale(run, flat), rho, cross(flat, n)))
    length = math.sqrt(run * run + z * z)
    bent = -z * z / (length * run * (length + run))
    slope = add_scaled(add_scaled(u, bent, flat), z / length, n)
    return Span(n, cross(u, n), slope, flat, run, length, sense)


@kernel
def wound_angles(
    joints: Joints, state: State, j: int, frame: JointFrame, span: Span
) -> tuple[float, float]:
    """How far the ends of the straight part went around both wheels since the start [rad].

    Reads   state.joint_q[j, 1:3]: their last values, from which they continue across whole turns
    """
    angle_a, angle_b = 0.0, 0.0
    if joints.wheel[j, 0] > 0.0:
        angle_a = nearest_turn(angle_about(frame.t1, frame.t2, span.e), state.joint_q[j, 1])
    if joints.wheel[j, 1] > 0.0:
        start = rotate(load4(state.q_WB, frame.body_b), load3(joints.zero1_B, j))
        turned = angle_about(frame.s_b, start, scale(span.sense, span.e))
        angle_b = nearest_turn(turned, state.joint_q[j, 2])
    return angle_a, angle_b


@kernel
def wound_length(joints: Joints, state: State, j: int, frame: JointFrame) -> float:
    """Length of the straight part, and what has been wound on the wheels since the start [m]."""
    span = span_of(joints, j, frame)
    angle_a, angle_b = wound_angles(joints, state, j, frame, span)
    return span.length + joints.wheel[j, 0] * angle_a - joints.wheel[j, 1] * angle_b


@kernel
def keep_winding(joints: Joints, state: State, j: int, frame: JointFrame) -> None:
    """Write how far the cable has been wound: state.joint_q[j, 1:3]."""
    angles = wound_angles(joints, state, j, frame, span_of(joints, j, frame))
    state.joint_q[j, 1], state.joint_q[j, 2] = angles


@kernel
def write_wound(rows: Rows, row: int, joints: Joints, j: int, frame: JointFrame) -> float:
    """One row: the length of a cable between wheels.

        dL/dt = g . (v_B(x) - v_A(x)) + k n . (w_B - w_A),   g = dL/dd

    The body of the wheel whose plane counts carries d along, so it is taken at the anchor x of the
    other: x is B's anchor and k = sense r_B if A has a wheel, else x is A's anchor and k = 0.

    Returns d2L/dt2 at constant velocities [m/s^2]. With e, d_n, run, length of the span and the
            rate D of d as the body of the wheel sees it:
            D.H D = (e.D)^2/run + |D_n|^2 (1/length - 1/run) + run'^2/run + D_z^2/length
                    - length'^2/length
            and g times the centripetal and Coriolis accelerations in that body
    Source  derived: gradient and second derivative of L. Of two wheels it is exact while their axes
            are parallel
    Check   tests/engine/constraints/test_rows.py, tests/references/test_cables.py
    """
    span = span_of(joints, j, frame)
    g, d, by_a = span.slope, frame.gap, joints.wheel[j, 0] > 0.0
    r_a = sub(frame.arm_a, d)
    couple = scale(span.sense * joints.wheel[j, 1], span.n) if by_a else (0.0, 0.0, 0.0)
    at_a, at_b, w = frame.arm_a, frame.arm_b, frame.w_a
    if not by_a:
        at_a, at_b, w = r_a, sub(frame.arm_b, d), frame.w_b
    angular_a = negate(add(cross(at_a, g), couple))
    set_jacobian(rows, row, angular_a, g, add(cross(at_b, g), couple))
    # rates as the body of the wheel sees them
    spin_a = cross(frame.w_a, r_a)
    seen = sub(sub(frame.slip, spin_a), cross(w, d))
    across = dot(span.n, seen)
    rate_n = add_scaled(seen, -across, span.n)
    run_rate = dot(span.flat, seen) / span.run
    length_rate = dot(d, seen) / span.length
    around = dot(span.e, seen)
    hessian = (around * around + run_rate * run_rate) / span.run
    hessian += dot(rate_n, rate_n) * (1.0 / span.length - 1.0 / span.run)
    hessian += (across * across - length_rate * length_rate) / span.length
    # accelerations of the anchors, and those of a frame that turns
    acceleration = sub(frame.bias_acceleration, cross(frame.w_a, spin_a))
    acceleration = add_scaled(acceleration, -2.0, cross(w, seen))
    acceleration = sub(acceleration, cross(w, cross(w, d)))
    turned = dot(cross(w, couple), sub(frame.w_b, frame.w_a))
    return hessian + dot(g, acceleration) + turned
