"""The solvers that hold the matrix: which of them sees what, and where their scratch lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.dense_problem import DenseProblem, project_guess
from engine.solvers.elimination import reduce_problem, restore_solution
from engine.solvers.gauss_seidel import StoppingRules, iterate
from engine.solvers.linear import Factor
from engine.solvers.newton import NewtonScratch, newton
from engine.solvers.pivoting import Pivots, pivoting
from engine.world.options import SolverMethod
from engine.world.problem import FRICTION_BOX
from engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_STALLED, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from engine.world.problem import Dense, Problem

GAUSS_SEIDEL = int(SolverMethod.GAUSS_SEIDEL)
PIVOTING = int(SolverMethod.PIVOTING)
ELIMINATION = int(SolverMethod.ELIMINATION)

# how sweeps and Newton steps take turns on cones; all Newton steps together cost at most this many
SWEEPS_PER_TURN = 25
NEWTON_STEPS_PER_TURN = 12
MAX_NEWTON_STEPS = 60


@kernel
def has_cone(dp: DenseProblem) -> bool:
    """Whether some contact has round friction, which no pivoting ends exactly."""
    if dp.friction_kind == FRICTION_BOX:
        return False
    largest = 0.0
    for i in range(dp.n_box, dp.n, 3):
        largest = max(largest, dp.mu[i + 1])
    return largest > 0.0


@kernel
def _pivots(dense: Dense, used: int) -> Pivots:
    """Scratch of pivoting beside `used` rows of dense.factor that are taken."""
    factor = Factor(dense.factor[used:], dense.indices[5], dense.indices[6], dense.indices[2])
    return Pivots(factor, dense.indices[7], dense.vectors[8], dense.vectors[9])


@kernel
def solve_cones(
    dp: DenseProblem, scratch: NewtonScratch, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Sweeps find who touches and who slides, Newton the numbers; in turns until one succeeds."""
    sweeps = 0
    steps = 0
    status = STOPPED_MAX_ITERATIONS
    while sweeps < max_iterations:
        rules = StoppingRules(min(SWEEPS_PER_TURN, max_iterations - sweeps), tolerance, 0.0)
        status, count = iterate(dp, 1.0, rules)
        sweeps += count
        if status == STOPPED_TOLERANCE or steps >= MAX_NEWTON_STEPS:
            break
        status, count = newton(dp, scratch, NEWTON_STEPS_PER_TURN, tolerance)
        steps += count
        if status == STOPPED_TOLERANCE:
            break
    if status == STOPPED_STALLED and sweeps >= max_iterations:
        status = STOPPED_MAX_ITERATIONS
    return status, sweeps + steps


@kernel
def _newton(dense: Dense, used: int) -> NewtonScratch:
    """Scratch of Newton beside `used` rows of dense.factor that are taken."""
    return NewtonScratch(
        dense.factor[used:],
        dense.vectors[8],
        dense.vectors[9],
        dense.vectors[10],
        dense.vectors[11],
    )


@kernel
def solve_dense(
    problem: Problem, dense: Dense, method: int, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """GAUSS_SEIDEL or PIVOTING on all rows, ELIMINATION on what is no equation; STOPPED_..., count.

    ELIMINATION ends by pivoting where every bound is a number, by solve_cones where friction is
    round.  The caller knows that the rows fit.

    Reads   problem.lam   guess; of equations that are eliminated it is not needed
    Writes  problem.lam, dense
    Check   tests/engine/solvers/test_solve.py
    """
    dp, factor, n_equations = reduce_problem(problem, dense, method == ELIMINATION)
    project_guess(dp)
    used = factor.size[0]
    if method == GAUSS_SEIDEL:
        status, count = iterate(dp, 1.0, StoppingRules(max_iterations, tolerance, 0.0))
    elif method == PIVOTING or not has_cone(dp):
        status, count = pivoting(dp, _pivots(dense, used))
    else:
        status, count = solve_cones(dp, _newton(dense, used), max_iterations, tolerance)
    restore_solution(problem, dense, dp, factor, n_equations)
    return status, count
