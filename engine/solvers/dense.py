"""The solvers that hold the matrix: which of them sees what, and where their scratch lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
)
from engine.solvers.elimination import reduce_problem, restore_solution
from engine.solvers.gauss_seidel import StoppingRules, iterate
from engine.solvers.linear import Factor, copy
from engine.solvers.newton import NewtonScratch, newton
from engine.solvers.pivoting import Pivots, pivoting
from engine.solvers.polyhedral import most_variables, solve_polyhedral
from engine.solvers.turns import SWEEPS_PER_TURN, TurnScratch, solve_in_turns
from engine.world.options import SolverMethod
from engine.world.problem import FRICTION_BOX, FRICTION_POLYGON
from engine.world.report import STOPPED_EXACT, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from engine.world.problem import Dense, Problem

GAUSS_SEIDEL = int(SolverMethod.GAUSS_SEIDEL)
PIVOTING = int(SolverMethod.PIVOTING)
ELIMINATION = int(SolverMethod.ELIMINATION)
LEMKE = int(SolverMethod.LEMKE)

# Newton steps on the answer of Lemke's method
POLISHING_STEPS = 3


@kernel
def has_friction(dp: DenseProblem) -> bool:
    """Whether the bounds of some row depend on the answer."""
    largest = 0.0
    for i in range(dp.first_follower, dp.n):
        largest = max(largest, dp.mu[i])
    return largest > 0.0


@kernel
def _pivots(dense: Dense, used: int) -> Pivots:
    """Scratch of pivoting beside `used` rows of dense.factor that are taken."""
    factor = Factor(dense.factor[used:], dense.indices[5], dense.indices[6], dense.indices[2])
    return Pivots(factor, dense.indices[7], dense.vectors[8], dense.vectors[9])


@kernel
def _turns(dense: Dense, used: int) -> TurnScratch:
    """Scratch of solve_in_turns beside `used` rows of dense.factor that are taken."""
    x = dense.vectors
    newton_scratch = NewtonScratch(dense.factor[used:], x[8], x[9], x[10], x[11])
    return TurnScratch(newton_scratch, x[12], x[13], x[14], x[15])


@kernel
def fits_lemke(dp: DenseProblem, dense: Dense) -> bool:
    """Whether Lemke's table has room."""
    followers, contacts = (dp.n_box - dp.first_follower) // 3, (dp.n - dp.n_box) // 3
    size = most_variables(dp.first_follower, followers, contacts, dp.friction_kind, dp.directions)
    return bool(size <= dense.tableau.shape[0])


@kernel
def _solve_lemke(dp: DenseProblem, dense: Dense, used: int, tolerance: float) -> tuple[int, int]:
    """Lemke's answer, its rounding taken off by Newton steps."""
    status, count = solve_polyhedral(dp, dense.tableau, dense.basis)
    if status == STOPPED_EXACT and dense_residual(dp) > tolerance:
        count += newton(dp, _turns(dense, used).newton, POLISHING_STEPS, tolerance)[1]
    return status, count


@kernel
def _solve_friction(
    dp: DenseProblem, dense: Dense, used: int, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Turns; where they fail, pivoting from there for squares, and Lemke for polygons."""
    best = dense.vectors[12]
    square = dp.friction_kind == FRICTION_BOX
    polygon = dp.friction_kind == FRICTION_POLYGON and fits_lemke(dp, dense)
    sweeps = min(max_iterations, 4 * SWEEPS_PER_TURN) if square or polygon else max_iterations
    status, count = solve_in_turns(dp, _turns(dense, used), sweeps, tolerance)
    if status == STOPPED_TOLERANCE or not (square or polygon):
        return status, count
    # Newton's scratch ends before this vector
    copy(dp.lam, dp.n, best)
    error = dense_residual(dp)
    if square:
        solved, more = pivoting(dp, _pivots(dense, used))
    else:
        solved, more = _solve_lemke(dp, dense, used, tolerance)
    if error < dense_residual(dp):
        copy(best, dp.n, dp.lam)
    else:
        status = solved
    return status, count + more


@kernel
def solve_dense(
    problem: Problem, dense: Dense, method: int, max_iterations: int, tolerance: float
) -> tuple[int, int, int]:
    """GAUSS_SEIDEL or PIVOTING on all rows, else on what is no equation.

    ELIMINATION ends by pivoting where every bound is a number, else by solve_in_turns; for squares
    and polygons that gets some turns, and an exact method when they fail. LEMKE is exact at once;
    where its table is too small it is ELIMINATION.  The caller knows that rows fit.

    Returns STOPPED_..., count, and the method that ran.

    Reads   problem.lam   guess; of equations that are eliminated it is not needed
    Writes  problem.lam, dense
    Check   tests/engine/solvers/test_solve.py
    """
    dp, factor, n_equations = reduce_problem(problem, dense, method >= ELIMINATION)
    project_guess(dp)
    used = factor.size[0]
    if method == LEMKE and not fits_lemke(dp, dense):
        method = ELIMINATION
    if method == GAUSS_SEIDEL:
        status, count = iterate(dp, 1.0, StoppingRules(max_iterations, tolerance, -1.0))
    elif method == LEMKE:
        status, count = _solve_lemke(dp, dense, used, tolerance)
    elif method >= ELIMINATION and has_friction(dp):
        status, count = _solve_friction(dp, dense, used, max_iterations, tolerance)
    else:
        status, count = pivoting(dp, _pivots(dense, used))
    restore_solution(problem, dense, dp, factor, n_equations)
    return status, count, method
