"""Choice among the dense solvers, and the layout of their scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.cholesky import Factor, copy
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
)
from cardan.engine.solvers.direct.elimination_order import (
    count_equations,
    count_in_graph,
    has_graph,
)
from cardan.engine.solvers.direct.schur_complement import reduce_problem, restore_solution
from cardan.engine.solvers.direct.tree_elimination import reduce_on_trees, restore_on_trees
from cardan.engine.solvers.newton.proximal_newton import (
    SWEEPS_PER_TURN,
    ProximalNewtonScratch,
    solve_proximal_newton,
)
from cardan.engine.solvers.newton.semismooth import NewtonScratch, newton
from cardan.engine.solvers.pivoting.polyhedral import most_variables, solve_polyhedral
from cardan.engine.solvers.pivoting.principal import Pivots, pivoting
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.matrix import sweep_dense
from cardan.engine.trees.operator import has_trees
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_POLYGON
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_NO_SOLUTION, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from cardan.engine.world.problem import Dense, Problem

GAUSS_SEIDEL = int(SolverMethod.GAUSS_SEIDEL)
ELIMINATION = int(SolverMethod.ELIMINATION)
LEMKE = int(SolverMethod.LEMKE)

# returned in place of a STOPPED_... value: the dense methods lack memory
NO_ROOM = -1
# Newton steps that refine the answer of Lemke's method
POLISHING_STEPS = 3
# multiple of the tolerance beyond which an answer is none
FAR = 1e3


@kernel
def has_friction(dp: DenseProblem) -> bool:
    """Whether the bounds of some row depend on normal impulses."""
    largest = 0.0
    for i in range(dp.first_dependent, dp.n):
        largest = max(largest, dp.mu[i])
    return largest > 0.0


@kernel
def _pivots(dense: Dense) -> Pivots:
    """Scratch of pivoting."""
    factor = Factor(dense.factor, dense.indices[5], dense.indices[6], dense.indices[2])
    return Pivots(factor, dense.indices[7], dense.vectors[8], dense.vectors[9], dense.tableau[:0])


@kernel
def _proximal_newton(dense: Dense) -> ProximalNewtonScratch:
    """Scratch of solve_proximal_newton."""
    x, free, place = dense.vectors, dense.indices[5], dense.indices[6]
    newton_scratch = NewtonScratch(
        dense.factor, x[8], x[9], x[17], x[10], x[18], x[11], free, place
    )
    return ProximalNewtonScratch(newton_scratch, x[12], x[13], x[14], x[15], x[16], x[19])


@kernel
def fits_lemke(dp: DenseProblem, dense: Dense) -> bool:
    """Whether the tableau of Lemke's method fits into the scratch memory."""
    dependent, contacts = (dp.n_box - dp.first_dependent) // 3, (dp.n - dp.n_box) // 3
    size = most_variables(dp.first_dependent, dependent, contacts, dp.friction_kind, dp.directions)
    return bool(size <= dense.tableau.shape[0])


@kernel
def _solve_lemke(dp: DenseProblem, dense: Dense, tolerance: float) -> tuple[int, int]:
    """Solve by Lemke's method and refine the answer by Newton steps."""
    status, count = solve_polyhedral(dp, dense.tableau, dense.basis)
    if status == STOPPED_EXACT and dense_residual(dp) > tolerance:
        count += newton(dp, _proximal_newton(dense).newton, POLISHING_STEPS, tolerance)[1]
    return status, count


@kernel
def _solve_friction(
    dp: DenseProblem, dense: Dense, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Solve by sweeps and proximal Newton steps; on failure by pivoting or Lemke's method."""
    best = dense.vectors[12]
    square = dp.friction_kind == FRICTION_BOX
    polygon = dp.friction_kind == FRICTION_POLYGON and fits_lemke(dp, dense)
    sweeps = min(max_iterations, 4 * SWEEPS_PER_TURN) if square or polygon else max_iterations
    status, count = solve_proximal_newton(dp, _proximal_newton(dense), sweeps, tolerance)
    if status in (STOPPED_TOLERANCE, STOPPED_NO_SOLUTION) or not (square or polygon):
        return status, count
    # the scratch of Newton's method ends before this vector
    copy(dp.lam, dp.n, best)
    error = dense_residual(dp)
    if square:
        solved, more = pivoting(dp, _pivots(dense))
    else:
        solved, more = _solve_lemke(dp, dense, tolerance)
    if error < dense_residual(dp):
        copy(best, dp.n, dp.lam)
    else:
        status = solved
    return status, count + more


@kernel
def solve_dense(
    problem: Problem, dense: Dense, method: int, max_iterations: int, tolerance: float
) -> tuple[int, int, int]:
    """Solve by a dense method: GAUSS_SEIDEL and PIVOTING on all rows, others without the equations.

    ELIMINATION solves the rows that are not equations: by pivoting where no bound depends on normal
    impulses, else by solve_proximal_newton. For square and polygonal friction an exact method
    follows where that fails. LEMKE is exact; it becomes ELIMINATION where its tableau is too small,
    and where it ends on a ray or rounding spoils it, the rows are solved as by ELIMINATION.
    The caller must ensure that the rows fit.

    Returns NO_ROOM, and changes nothing, when the equations have more loops than the memory holds.

    Otherwise returns STOPPED_..., the iteration count and the method that ran.

    Reads   problem.lam   guess; not used for eliminated equations
    Writes  problem.lam, dense
    Check   tests/engine/solvers/test_solve.py
    """
    on_trees = has_trees(problem)
    equations = count_equations(problem, 0) if on_trees else count_in_graph(problem)
    eliminate = method >= ELIMINATION and equations > 0
    if on_trees and problem.count[0] > dense.path.shape[0]:
        return NO_ROOM, 0, method
    if eliminate and not on_trees and not has_graph(problem, dense.graph):
        return NO_ROOM, 0, method
    if on_trees:
        dp = reduce_on_trees(problem, dense, eliminate)
    else:
        dp = reduce_problem(problem, dense, eliminate)
    project_guess(dp)
    if method == LEMKE and not fits_lemke(dp, dense):
        method = ELIMINATION
    if method == GAUSS_SEIDEL:
        status, count = sweep_dense(dp, 1.0, StoppingRules(max_iterations, tolerance, -1.0))
    elif method == LEMKE:
        status, count = _solve_lemke(dp, dense, tolerance)
        solved = status == STOPPED_EXACT and dense_residual(dp) <= FAR * tolerance
        if has_friction(dp) and not solved:
            # what a ray or rounding leaves is a worse start than none
            for i in range(dp.n):
                dp.lam[i] = 0.0
            status, more = _solve_friction(dp, dense, max_iterations, tolerance)
            count += more
    elif method >= ELIMINATION and has_friction(dp):
        status, count = _solve_friction(dp, dense, max_iterations, tolerance)
    else:
        status, count = pivoting(dp, _pivots(dense))
    if on_trees:
        restore_on_trees(problem, dense, dp)
    else:
        restore_solution(problem, dense, dp, eliminate)
    return status, count, method
