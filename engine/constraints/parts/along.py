"""A point of B keeps its distance along a direction of A."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, negate, scale
from cardan.engine.world.rows import Rows


@kernel
def write_along(rows: Rows, row: int, frame: JointFrame, e: Vec3) -> float:
    """One row: the anchor of B measured along e, a direction fixed in A.

        x     = e . gap                                                        [m]
        dx/dt = e . (v_B + w_B x r_B - v_A - w_A x r_A),   r_A to the anchor of B   [m/s]
        J_a   = -[r_A x e, e],   J_b = [r_B x e, e]

    Exact for any gap, because e rotates with A; the impulses act on both bodies at one point, so
    that angular momentum is conserved for any gap. Three directions of A constrain a point, two
    constrain it to a line.

    Returns d2x/dt2 at constant velocities [m/s^2]:
            e.(w_B x (w_B x r_B)) + 2 (w_A x e).slip + (w_A x (w_A x e)).r_A
    Source  Constraint Notes n.d., ball and slider, with e in A's axes
    Check   tests/engine/constraints/test_rows.py
    """
    set_jacobian(rows, row, negate(cross(frame.arm_a, e)), e, cross(frame.arm_b, e))
    e_dot = cross(frame.w_a, e)
    turning = add(scale(2.0, frame.slip), cross(frame.arm_a, frame.w_a))
    return dot(e, frame.bias_acceleration) + dot(e_dot, turning)
