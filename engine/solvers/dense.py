"""The solvers that hold the matrix: which of them sees what, and where their scratch lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.kernel import kernel
from engine.solvers.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from engine.solvers.elimination import reduce_problem, restore_solution
from engine.solvers.forest import count_equations, write_graph
from engine.solvers.gauss_seidel import StoppingRules, iterate
from engine.solvers.linear import Factor, copy
from engine.solvers.newton import NewtonScratch
from engine.solvers.pivoting import Pivots, pivoting
from engine.solvers.turns import SWEEPS_PER_TURN, TurnScratch, solve_in_turns
from engine.world.options import SolverMethod
from engine.world.problem import FRICTION_BOX
from engine.world.report import STOPPED_TOLERANCE

if TYPE_CHECKING:
    from engine.world.problem import Dense, Problem

GAUSS_SEIDEL = int(SolverMethod.GAUSS_SEIDEL)
PIVOTING = int(SolverMethod.PIVOTING)
ELIMINATION = int(SolverMethod.ELIMINATION)

# beside the STOPPED_...: no answer yet; no answer by these methods
PIVOTING_IS_DUE, NO_ROOM = -1, -2


@kernel
def has_friction(dp: DenseProblem) -> bool:
    """Whether the bounds of some row depend on the answer."""
    largest = 0.0
    for i in range(dp.n_box, dp.n, 3):
        largest = max(largest, dp.mu[i + 1], dp.mu[i + 2])
    return largest > 0.0


@kernel
def _pivots(dense: Dense) -> Pivots:
    """Scratch of pivoting."""
    factor = Factor(dense.factor, dense.indices[5], dense.indices[6], dense.indices[2])
    return Pivots(factor, dense.indices[7], dense.vectors[8], dense.vectors[9])


@kernel
def _turns(dense: Dense) -> TurnScratch:
    """Scratch of solve_in_turns."""
    x = dense.vectors
    newton_scratch = NewtonScratch(dense.factor, x[8], x[9], x[10], x[11])
    return TurnScratch(newton_scratch, x[12], x[13], x[14], x[15])


@kernel
def solve_dense(
    problem: Problem, dense: Dense, method: int, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """GAUSS_SEIDEL or PIVOTING on all rows, ELIMINATION on what is no equation; STOPPED_..., count.

    ELIMINATION ends by pivoting where every bound is a number, else by solve_in_turns; for squares
    that gets some turns, and pivoting from there when they fail.  The caller knows that rows fit.
    NO_ROOM when the equations have more loops than there is memory for; nothing is done then.

    Reads   problem.lam   guess; of equations that are eliminated it is not needed
    Writes  problem.lam, dense
    Check   tests/engine/solvers/test_solve.py
    """
    eliminate = method == ELIMINATION and count_equations(problem) > 0
    if eliminate and not write_graph(problem, dense.graph):
        return NO_ROOM, 0
    dp = reduce_problem(problem, dense, eliminate)
    project_guess(dp)
    best = dense.vectors[12]
    error = np.inf
    count = 0
    if method == GAUSS_SEIDEL:
        status, count = iterate(dp, 1.0, StoppingRules(max_iterations, tolerance, -1.0))
    elif method == ELIMINATION and has_friction(dp):
        square = dp.friction_kind == FRICTION_BOX
        sweeps = min(max_iterations, 4 * SWEEPS_PER_TURN) if square else max_iterations
        status, count = solve_in_turns(dp, _turns(dense), sweeps, tolerance)
        if square and status != STOPPED_TOLERANCE:
            copy(dp.lam, dp.n, best)
            write_velocities(dp)
            error = dense_residual(dp)
            status = PIVOTING_IS_DUE
    else:
        status = PIVOTING_IS_DUE
    if status == PIVOTING_IS_DUE:
        status, pivots = pivoting(dp, _pivots(dense))
        count += pivots
        if error < dense_residual(dp):
            copy(best, dp.n, dp.lam)
    restore_solution(problem, dense, dp, eliminate)
    return status, count
