"""An axis of A and an axis of B keep their angle."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, negate, sub
from cardan.engine.world.rows import Rows


@kernel
def write_perpendicular(rows: Rows, row: int, frame: JointFrame, a: Vec3, b: Vec3) -> float:
    """One row on c = a . b, with a fixed in A and b fixed in B.

        dc/dt = (w_A x a).b + a.(w_B x b) = (a x b).(w_A - w_B)                [1/s]
        J_a   = [a x b, 0],   J_b = [-(a x b), 0]

    Two of them against both tangents keep an axis of B parallel to one of A (hinge); one keeps two
    axes at their angle (universal, hinge-2); three lock the orientation (slider, fixed).

    Returns d2c/dt2 at constant velocities [1/s^2]
    Source  Constraint Notes n.d., hinge and universal.  Differs: exact derivative for any error
    Check   tests/engine/constraints/test_rows.py
    """
    u = cross(a, b)
    set_jacobian(rows, row, u, (0.0, 0.0, 0.0), negate(u))
    u_dot = add(cross(cross(frame.w_a, a), b), cross(a, cross(frame.w_b, b)))
    return dot(u_dot, sub(frame.w_a, frame.w_b))
