"""The grab force on a point of a body: a critically damped spring of bounded force."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import point_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import set_jacobian, start_row
from cardan.engine.spatial.vec3 import Vec3, cross, load3, sub
from cardan.engine.world.model import Bodies
from cardan.engine.world.rows import ROW_GRAB, Rows
from cardan.engine.world.state import State

FREQUENCY = 2.0 * math.pi * 7.5  # rad/s
CAP = 100.0 * 9.81  # N per kg of the held body


@kernel
def write_grab(rows: Rows, state: State, bodies: Bodies, h: float) -> None:
    """Three rows, one along each world axis, with k = m w^2 and d = 2 m w.

    Check   tests/engine/test_simulation.py
    """
    i = state.grab_body[0]
    if i < 0 or bodies.inverse_mass[i] == 0.0:
        return
    world = bodies.kind.shape[0] - 1
    m = bodies.mass[i]
    stiffness, damping = m * FREQUENCY**2, 2.0 * m * FREQUENCY
    arm_B: Vec3 = (state.grab_point_B[0], state.grab_point_B[1], state.grab_point_B[2])
    point = point_of(state, i, arm_B)
    arm = sub(point, load3(state.p_WB, i))
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        row = start_row(rows, ROW_GRAB, world, i)
        set_jacobian(rows, row, (0.0, 0.0, 0.0), e, cross(arm, e))
        error = point[k] - state.grab_target_W[k]
        rows.bias[row] = stiffness * error / (h * stiffness + damping)
        rows.cfm[row] = 1.0 / (h * (h * stiffness + damping))
        rows.lo[row] = -CAP * m * h
        rows.hi[row] = CAP * m * h
