"""Equations without error terms: tangent where the step ends, and their work is counted."""

from __future__ import annotations

from math import sqrt

from numpy.typing import NDArray

from engine.constraints.row import row_speed
from engine.diagnostics.ledger import mean_row_speed
from engine.kernel import kernel
from engine.spatial.vec3 import load3, norm
from engine.world.model import DYNAMIC, Bodies, Joints
from engine.world.problem import Problem
from engine.world.rows import ROW_EQUATION, ROW_LIMIT, Rows
from engine.world.state import State
from engine.world.workspace import Motion

# [m/s or rad/s] an equation solved worse than that keeps the work of its impulse
SOLVED = 1e-8


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
    J v+ = -h/2 d2C/dt2, and before the kick J v = h/2 d2C/dt2 + e, e what the last step erred,
    ~ h^2. An ideal joint does no work, this one lam (J v + J v+)/2 = lam e/2, which sets.py gives
    back. Where e is larger than any motion of the bodies explains (a jolt, a command, sweeps that
    gave up) the loss is real: such a row is not steady.
    """
    erp = rows.share[0] * joints.erp[rows.joint[row]]
    tangent = (rows.bias[row] - erp * rows.error[row] / h) / (1.0 - 0.25 * erp)
    e = row_speed(rows, row, state) - tangent
    rows.bias[row] = tangent
    if abs(e) <= h * _reach(rows, row, joints, state):
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
    Source  decision 0051
    Check   tests/laws/test_stabilisation.py
    """
    for row in range(rows.count[1]):
        if is_hard(rows, row):
            _write_equation(rows, row, joints, state, h)
        elif is_hard_stop(rows, row) and rows.error[row] < 0.0:
            push = joints.erp[rows.joint[row]] * rows.error[row] / h
            if rows.bias[row] >= push:
                rows.bias[row] = 0.0


@kernel
def count_work(
    bodies: Bodies, rows: Rows, problem: Problem, motion: Motion, state: State, gained: NDArray
) -> None:
    """Add the work of every steady equation to what one of its bodies gained.

    Reads   velocities before (motion) and after (state) the kick; problem.w of its solve
    Writes  gained (n,) J
    """
    for i in range(rows.count[1]):
        if rows.steady[i] == 1 and abs(problem.w[i]) <= SOLVED:
            b = rows.body_b[i]
            body = b if bodies.kind[b] == DYNAMIC else rows.body_a[i]
            gained[body] += problem.lam[i] * mean_row_speed(rows, i, motion, state)
