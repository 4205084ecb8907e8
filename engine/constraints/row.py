"""Writing one constraint row: its bodies, Jacobian, bias and slot."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, cross, load3, negate, sub
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Motion


@kernel
def start_row(rows: Rows, kind: int, body_a: int, body_b: int) -> int:
    """Append a row with neither bounds, bias, compliance nor initial guess; return its number."""
    row = rows.count[0]
    rows.count[0] = row + 1
    clear_row(rows, row, kind, body_a, body_b)
    return row


@kernel
def clear_row(rows: Rows, row: int, kind: int, body_a: int, body_b: int) -> None:
    """Make a row of two bodies with neither bounds, bias, compliance nor initial guess."""
    rows.kind[row] = kind
    rows.joint[row] = -1
    rows.slot[row] = -1
    rows.axis[row] = 0
    rows.body_a[row] = body_a
    rows.body_b[row] = body_b
    rows.bias[row] = 0.0
    rows.sweep_bias_delta[row] = 0.0
    rows.rebound[row] = 0.0
    rows.smooth[row] = 0
    rows.cfm[row] = 0.0
    rows.lo[row] = -math.inf
    rows.hi[row] = math.inf
    rows.error[row] = 0.0
    rows.normal_row[row] = -1
    rows.mu[row] = 0.0
    rows.lam_warm[row] = 0.0


@kernel
def belong_to_joint(rows: Rows, row: int, joint: int, slot: int, state: State) -> None:
    """Assign a row to a joint and an impulse slot; the slot's last impulse is its warm start."""
    rows.joint[row] = joint
    rows.slot[row] = slot
    rows.lam_warm[row] = state.joint_lam[joint, slot]


@kernel
def set_jacobian(rows: Rows, row: int, angular_a: Vec3, linear: Vec3, angular_b: Vec3) -> None:
    """J = [angular_a, -linear, angular_b, linear]: opposite unit motions of A and B."""
    minus = negate(linear)
    for k in range(3):
        rows.J_a[row, k] = angular_a[k]
        rows.J_a[row, 3 + k] = minus[k]
        rows.J_b[row, k] = angular_b[k]
        rows.J_b[row, 3 + k] = linear[k]


@kernel
def wrench_of(rows: Rows, row: int, arm: Vec3) -> tuple[Vec3, Vec3]:
    """Force and torque of a unit of the row on its body B at an anchor `arm` from B's centre, W."""
    force = (rows.J_b[row, 3], rows.J_b[row, 4], rows.J_b[row, 5])
    return force, sub(load3(rows.J_b, row), cross(arm, force))


@kernel
def row_speed(rows: Rows, row: int, state: State) -> float:
    """J v with the velocities of the state [m/s or rad/s]."""
    a, b = rows.body_a[row], rows.body_b[row]
    speed = 0.0
    for k in range(3):
        speed += rows.J_a[row, k] * state.w_WB_W[a, k] + rows.J_b[row, k] * state.w_WB_W[b, k]
        speed += (
            rows.J_a[row, 3 + k] * state.v_WB_W[a, k] + rows.J_b[row, 3 + k] * state.v_WB_W[b, k]
        )
    return speed


@kernel
def row_speed_before(rows: Rows, i: int, motion: Motion) -> float:
    """J v before the kick and after the impacts that precede it [m/s or rad/s]."""
    a, b = rows.body_a[i], rows.body_b[i]
    total = 0.0
    for k in range(6):
        total += rows.J_a[i, k] * (motion.velocity_old[a, k] + motion.jump[a, k])
        total += rows.J_b[i, k] * (motion.velocity_old[b, k] + motion.jump[b, k])
    return total


@kernel
def jacobian_product(rows: Rows | Problem, row: int, x: NDArray) -> float:
    """J x of a row, x (n, 6) velocities or accelerations of bodies, angular first, W."""
    a, b = rows.body_a[row], rows.body_b[row]
    total = 0.0
    for k in range(6):
        total += rows.J_a[row, k] * x[a, k] + rows.J_b[row, k] * x[b, k]
    return total


@kernel
def equation_bias(error: float, curvature: float, h: float, erp: float) -> float:
    """Bias of an equation whose d2C/dt2 of free flight is `curvature`: see set_equation."""
    return 0.5 * h * curvature + erp / h * (error - 0.125 * h * h * curvature)


@kernel
def set_equation(
    rows: Rows, row: int, error: float, curvature: float, k: Vec3, bias_acceleration: NDArray
) -> None:
    """Bias of an equation C = 0 whose error is measured in the middle of the step.

    A point that moves straight instead of along a curve leaves it by h^2/8 d2C/dt2 in the half step
    before the middle, and by as much in the half step after it. The error to correct is therefore
    C - h^2/8 d2C/dt2, of which a share erp is removed per step. The velocity has to be tangent at
    the end of the step, hence the term h/2 d2C/dt2.

        bias = h/2 curvature + erp/h (C - h^2/8 curvature)

    Reads   error C [m or rad]; curvature d2C/dt2 at constant velocities [m/s^2 or rad/s^2];
            k = (h, erp, cfm); bias_acceleration (n, 6) rad/s^2, m/s^2: accelerations of
                    free flight
    Source  decision 0003
    Check   tests/engine/constraints/test_rows.py, tests/laws/test_energy.py
    """
    h, erp, cfm = k
    a, b = rows.body_a[row], rows.body_b[row]
    for i in range(6):
        curvature += (
            rows.J_a[row, i] * bias_acceleration[a, i] + rows.J_b[row, i] * bias_acceleration[b, i]
        )
    rows.error[row] = error
    rows.bias[row] = equation_bias(error, curvature, h, erp)
    rows.cfm[row] = cfm
