"""Equations without error terms: joints that neither push nor, over time, give or take energy."""

from __future__ import annotations

from math import sqrt

from engine.constraints.row import row_speed
from engine.kernel import kernel
from engine.spatial.vec3 import load3, norm
from engine.world.model import Joints
from engine.world.rows import ROW_EQUATION, ROW_LIMIT, Rows
from engine.world.state import State

# share of what is left of a row's speed that a kick takes away: least and most
LEAST, MOST = 0.1, 0.4


@kernel
def share_taken(e: float, lam: float, account: float) -> float:
    """Which share of e [m/s or rad/s] to take away, so that the account [J] goes towards 0.

    Taking the share x does the work lam x e/2; lam [N s or N m s] is that of the last step.
    """
    work = 0.5 * lam * e
    if work * account < 0.0:
        return min(MOST, max(LEAST, -account / work))
    return LEAST


@kernel
def _reach(rows: Rows, row: int, joints: Joints, state: State) -> float:
    """Largest second derivative C can have at these angular velocities [m/s^2 or rad/s^2]."""
    j = rows.joint[row]
    w_a, w_b = (
        norm(load3(state.w_WB_W, rows.body_a[row])),
        norm(load3(state.w_WB_W, rows.body_b[row])),
    )
    spin = w_a + w_b
    linear, angular = 0.0, 0.0
    for k in range(3):
        linear += rows.J_b[row, 3 + k] ** 2
        angular += rows.J_b[row, k] ** 2
    if linear == 0.0:
        return spin * spin * sqrt(angular)
    arms = w_a * norm(load3(joints.anchor_A, j)) + w_b * norm(load3(joints.anchor_B, j))
    return spin * arms * sqrt(linear)


@kernel
def _write_equation(rows: Rows, row: int, joints: Joints, state: State, h: float) -> None:
    """The bias of a hard equation, without its error term.

    Between two kicks J v grows by about h d2C/dt2. Tangent where the step ends means
    J v+ = -h/2 d2C/dt2, and before the kick J v = h/2 d2C/dt2 + e, e the little that the last step
    left. Were J v+ = -J v, the impulse would do no work at all; then e changes sign for ever. So

        J v+ = -J v + x e

    with a share x that makes the work of this row vanish over time: state.joint_work is what it did
    so far. Where e is not small (a jolt, a solver that gave up) all of it goes at once.
    """
    j, slot = rows.joint[row], rows.slot[row]
    erp = joints.erp[j]
    tangent = (rows.bias[row] - erp * rows.error[row] / h) / (1.0 - 0.25 * erp)
    e = row_speed(rows, row, state) - tangent
    rows.bias[row] = tangent
    if abs(e) <= h * _reach(rows, row, joints, state):
        x = share_taken(e, state.joint_lam[j, slot], state.joint_work[j, slot])
        rows.bias[row] += (1.0 - x) * e
        rows.steady[row] = 1


@kernel
def is_hard(rows: Rows, row: int) -> bool:
    """Whether a row of a joint is an equation without compliance."""
    return rows.kind[row] == ROW_EQUATION and rows.joint[row] >= 0 and rows.cfm[row] == 0.0


@kernel
def is_hard_stop(rows: Rows, row: int) -> bool:
    """Whether a row is a stop without compliance."""
    return rows.kind[row] == ROW_LIMIT and rows.cfm[row] == 0.0


@kernel
def write_tangents(rows: Rows, joints: Joints, state: State, h: float) -> None:
    """Take the error terms out of the rows of joints; their poses are corrected after the step.

    A violated stop may not be violated further; a bounce that asks for more stays.

    Reads   rows as the constraints wrote them
    Writes  rows.bias, rows.steady of hard equations; rows.bias of violated hard stops
    Source  decision 0046
    Check   tests/laws/test_stabilisation.py
    """
    for row in range(rows.count[1]):
        if is_hard(rows, row):
            _write_equation(rows, row, joints, state, h)
        elif is_hard_stop(rows, row) and rows.error[row] < 0.0:
            push = joints.erp[rows.joint[row]] * rows.error[row] / h
            if rows.bias[row] >= push:
                rows.bias[row] = 0.0
