"""The distance of two points."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.vec3 import cross, dot, norm, scale, sub
from cardan.engine.world.rows import Rows


@kernel
def write_distance(rows: Rows, row: int, frame: JointFrame) -> float:
    """One row: the distance of the anchors.

        x     = |gap|,  n = gap/|gap|                                          [m]
        dx/dt = n . (velocity of B's anchor - velocity of A's anchor)          [m/s]
        J_a   = -[r_A x n, n],  J_b = [r_B x n, n],  r_A to A's anchor

    For coincident anchors n is the direction of their relative velocity, or s (the initial line) if
    that is zero.

    Returns d2x/dt2 at constant velocities [m/s^2]:
            n . (a_B - a_A) + (|rate|^2 - (n . rate)^2)/|gap|, the last term 0 without a gap;
            rate: relative velocity of the anchors, a_A and a_B: their centripetal accelerations
    Source  derived: gradient of |p_b - p_a|
    Check   tests/engine/constraints/test_rows.py, tests/references/test_distance.py
    """
    r_a = sub(frame.arm_a, frame.gap)
    spin_a = cross(frame.w_a, r_a)
    rate = sub(frame.slip, spin_a)
    length, speed = norm(frame.gap), norm(rate)
    n = frame.s
    if length > 0.0:
        n = scale(1.0 / length, frame.gap)
    elif speed > 0.0:
        n = scale(1.0 / speed, rate)
    set_jacobian(rows, row, cross(n, r_a), n, cross(frame.arm_b, n))
    along = dot(n, rate)
    curvature = dot(n, sub(frame.bias_acceleration, cross(frame.w_a, spin_a)))
    if length > 0.0:
        curvature += (dot(rate, rate) - along * along) / length
    return curvature
