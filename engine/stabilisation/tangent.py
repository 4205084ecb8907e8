"""Velocity equations without position terms, tangent at the end of the step, and their work."""

from __future__ import annotations

from math import sqrt

from cardan.engine.accounting.work import mean_row_speed
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import load3, norm
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import Stabilisation
from cardan.engine.world.rows import ROW_EQUATION, ROW_LIMIT, Rows
from cardan.engine.world.world import World

SPLIT_IMPULSE, PROJECTION = int(Stabilisation.SPLIT_IMPULSE), int(Stabilisation.PROJECTION)
ONE_SIDED = int(Stabilisation.ONE_SIDED)

# residual above which the work of an equation is not restored [m/s or rad/s]
SOLVED = 1e-8


@kernel
def is_hard(rows: Rows, row: int) -> bool:
    """Whether a row of a joint is an equation without compliance."""
    return rows.kind[row] == ROW_EQUATION and rows.joint[row] >= 0 and rows.cfm[row] == 0.0


@kernel
def is_hard_stop(rows: Rows, row: int) -> bool:
    """Whether a row is a stop without compliance."""
    return rows.kind[row] == ROW_LIMIT and rows.cfm[row] == 0.0


@kernel
def are_joints_shifted(world: World) -> bool:
    """Whether errors of joints are removed from poses after the step, not by velocities."""
    return bool(world.options.stabilisation in (SPLIT_IMPULSE, PROJECTION))


@kernel
def write_tangents(world: World) -> None:
    """Remove the position terms from rows of joints whose poses are corrected after the step.

    Between two kicks J v grows by about h d2C/dt2. Velocities are tangent at the end of the step if
    J v+ = -h/2 d2C/dt2, the bias of a hard equation, and of a hard stop that holds. Other violated
    stops must not be violated further; a larger rebound velocity is kept.

    Reads   rows from the constraints
    Writes  rows.bias of hard equations and of violated hard stops
    Source  decision 0051
    Check   tests/laws/test_stabilisation.py
    """
    rows, joints, h = world.work.rows, world.model.joints, world.clock.h[0]
    of_equations = world.options.stabilisation != ONE_SIDED
    for row in range(rows.count[1]):
        is_equation = is_hard(rows, row)
        if not (is_equation and of_equations) and not is_hard_stop(rows, row):
            continue
        erp = rows.share[0] * joints.erp[rows.joint[row]]
        push = erp * rows.error[row] / h
        if is_equation or rows.smooth[row] == 1:
            rows.bias[row] = (rows.bias[row] - push) / (1.0 - 0.25 * erp)
        elif rows.error[row] < 0.0 and rows.bias[row] >= push:
            rows.bias[row] = 0.0


@kernel
def _speeds(world: World, body: int) -> float:
    """Sum of |w| before and after the kick [rad/s]."""
    old = world.work.motion.velocity_old[body]
    return norm((old[0], old[1], old[2])) + norm(load3(world.state.w_WB_W, body))


@kernel
def _curvature(world: World, row: int) -> float:
    """Bound of d2C/dt2 at the angular speeds of the two bodies [m/s^2 or rad/s^2]."""
    rows, joints = world.work.rows, world.model.joints
    j = rows.joint[row]
    w_a = _speeds(world, rows.body_a[row])
    w_b = _speeds(world, rows.body_b[row])
    linear, angular = 0.0, 0.0
    for k in range(3):
        linear += rows.J_b[row, 3 + k] ** 2
        angular += rows.J_b[row, k] ** 2
    if linear == 0.0:
        return (w_a + w_b) ** 2 * sqrt(angular)
    arms = w_a * norm(load3(joints.anchor_A, j)) + w_b * norm(load3(joints.anchor_B, j))
    return (w_a + w_b) * arms * sqrt(linear)


@kernel
def count_work(world: World) -> None:
    """Add the work of every hard equation to positions.gained of one of its bodies.

    Before the kick J v = h/2 d2C/dt2 + e, with e ~ h^2 the error of the last step; after it J v+ is
    tangent. An ideal joint does no work, a discrete one lam (J v + J v+)/2 = lam e/2, which
    momentum.py restores. Where e is too large for a smooth motion of the bodies (an impact, a
    command), or the equations were not solved, a loss is physical: it goes to `jolted`.

    Reads   velocities before (work.motion) and after (state) the kick; problem.w of its solve
    Writes  work.positions.gained, jolted (n,) J
    Check   tests/laws/test_stabilisation.py
    """
    model, state, work, h = world.model, world.state, world.work, world.clock.h[0]
    rows, problem, motion = work.rows, work.problem, work.motion
    for i in range(rows.count[1]):
        if not is_hard(rows, i):
            continue
        b = rows.body_b[i]
        body = b if model.bodies.kind[b] == DYNAMIC else rows.body_a[i]
        e = 2.0 * mean_row_speed(rows, i, motion, state)
        if abs(problem.w[i]) <= SOLVED and abs(e) <= h * _curvature(world, i):
            work.positions.gained[body] += 0.5 * problem.lam[i] * e
        else:
            work.positions.jolted[body] += 0.5 * problem.lam[i] * e
