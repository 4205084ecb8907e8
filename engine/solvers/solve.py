"""Solution of one Problem: choose the method, run it, measure the residual of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import GAUSS_SEIDEL, NO_ROOM, solve_dense
from cardan.engine.solvers.direct.elimination_order import count_equations
from cardan.engine.solvers.gradient.solve import is_iterated, solve_iterated
from cardan.engine.solvers.sweeps.pgs import pgs
from cardan.engine.solvers.sweeps.simd.anderson import sweep_accelerated
from cardan.engine.solvers.sweeps.simd.solver import (
    apply_sweep_bias,
    gained,
    list_contacts,
    measure_listed,
    start_listed,
    sweep_listed,
)
from cardan.engine.solvers.sweeps.trees import tree_sweeps
from cardan.engine.solvers.warm_start import is_solution
from cardan.engine.trees.operator import has_trees
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import (
    DENSE_FULL,
    STOPPED_EXACT,
    STOPPED_MAX_ITERATIONS,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
    STOPPED_TOLERANCE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.sweeps.simd.solver import Rules
    from cardan.engine.world.options import SolverOptions
    from cardan.engine.world.problem import Dense, Lanes, Problem
    from cardan.engine.world.report import Report

AUTO = int(SolverMethod.AUTO)
PGS = int(SolverMethod.PGS)
SOR = int(SolverMethod.SOR)
ELIMINATION = int(SolverMethod.ELIMINATION)
LEMKE = int(SolverMethod.LEMKE)
PROXIMAL = int(SolverMethod.PROXIMAL)
SMALL_STEPS = int(SolverMethod.SMALL_STEPS)

# sweeps where max_iterations is 0: of contacts with a guess, of contacts without one, and of boxes
# alone
PGS_ITERATIONS = 15
COLD_ITERATIONS = 500
BOX_ITERATIONS = 50
# more contacts carry loads through more bodies: one more sweep for so many contacts, at most
CONTACTS_PER_SWEEP, MORE_ITERATIONS = 400, 10
DENSE_ITERATIONS = 500
# change per sweep, as a share of the velocity change by forces in a step, at which sweeps end
QUIET = 7.5e-5
# and that of the first sweep above which fewer sweeps suffice
BUSY = 2.0
# up to this many rows without equations a dense solve is cheaper than sweeps
SMALL_ROWS = 192
# rows beside equations up to which their dense problem stays within some milliseconds
REST_ROWS = 180
# rows, including equations, up to which problems with trees are solved by a dense method
TREE_ROWS = 400
# largest residual of an exact solution, as a share of the largest |b|
EXACT = 1e-8


@kernel
def choose_method(problem: Problem, dense: Dense) -> int:
    """Method for AUTO: ELIMINATION where the matrix fits and is cheap enough, else PGS.

    ELIMINATION is chosen for few rows, for boxes without contacts, and for equations with few other
    rows: sweeps converge slowly on joints and equations are cheap to eliminate, but the cost of the
    other rows grows with their square and cube.
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    if has_trees(problem):
        small = n_rows == n_box or n_rows <= TREE_ROWS
        return ELIMINATION if small and n_rows <= dense.path.shape[0] else PGS
    rest = n_rows - count_equations(problem)
    if rest > dense.S.shape[0]:
        return PGS
    if rest == n_rows:
        return ELIMINATION if rest <= SMALL_ROWS or n_rows == n_box else PGS
    if rest > REST_ROWS and n_rows != n_box and n_rows > SMALL_ROWS:
        return PGS
    return ELIMINATION


@kernel
def fits(problem: Problem, dense: Dense, method: int) -> bool:
    """Whether the scratch memory suffices for a dense method or an iteration with own vectors."""
    if is_iterated(method):
        return problem.count[0] <= dense.iterates.shape[1]
    if method < ELIMINATION or has_trees(problem):
        return problem.count[0] <= dense.S.shape[0]
    return problem.count[0] - count_equations(problem) <= dense.S.shape[0]


@kernel
def _largest(x: NDArray, n: int) -> float:
    """Largest |x_i|, i < n."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(x[i]))
    return largest


@kernel
def _verdict(status: int, error: float, largest_b: float) -> int:
    """Status of the solver, corrected by the measured residual."""
    if not error < LARGEST:
        return STOPPED_NO_SOLUTION
    if status == STOPPED_EXACT and error > EXACT * largest_b:
        return STOPPED_STALLED
    return status


@kernel
def sweep_rules(options: SolverOptions, method: int, n_contacts: int, is_warm: bool) -> Rules:
    """Number of sweeps, tolerance [m/s or rad/s] and relaxation [-]."""
    sweeps = BOX_ITERATIONS
    if n_contacts > 0:
        more = min(n_contacts // CONTACTS_PER_SWEEP, MORE_ITERATIONS)
        sweeps = PGS_ITERATIONS + more if is_warm else COLD_ITERATIONS
    sweeps = options.max_iterations if options.max_iterations > 0 else sweeps
    return sweeps, options.tolerance, options.relaxation if method == SOR else 1.0


@kernel
def is_swept(problem: Problem, n_rows: int, n_box: int, options: SolverOptions) -> bool:
    """Whether an island of n_rows rows, n_box of them boxes, is swept in place as contacts."""
    if n_box > 0 or n_rows <= SMALL_ROWS or has_trees(problem):
        return False
    if problem.friction_kind[0] != FRICTION_CONE:
        return False
    return options.method in (AUTO, PGS, SOR, SMALL_STEPS)


@kernel
def are_listed(problem: Problem) -> bool:
    """Whether a problem has contacts only, which are swept in lanes."""
    if problem.count[1] > 0 or has_trees(problem):
        return False
    return bool(problem.friction_kind[0] == FRICTION_CONE)


@kernel
def sweep_freely(
    problem: Problem, lanes: Lanes, n: int, v: NDArray, options: SolverOptions, is_warm: bool
) -> tuple[int, int]:
    """Sweep the n listed contacts with acceleration; return STOPPED_..., sweeps.

    With max_iterations = 0 the number of sweeps follows from the number of contacts, and sweeps end
    when the change is small.
    """
    most, tolerance = options.max_iterations, options.tolerance
    forces = gained(problem, lanes, n)
    if most == 0:
        tolerance = max(tolerance, QUIET * forces)
        most = 0 if is_warm else COLD_ITERATIONS
    start_listed(problem, lanes, n, v)
    change, sweeps = sweep_accelerated(problem, lanes, n, v, most, tolerance, BUSY * forces)
    is_within = change <= options.tolerance
    return STOPPED_TOLERANCE if is_within else STOPPED_MAX_ITERATIONS, sweeps


@kernel
def solve_swept(
    problem: Problem, lanes: Lanes, n: int, v: NDArray, options: SolverOptions, report: Report
) -> None:
    """Solve an island of the n contacts listed in lanes, in place.

    The same bits as `solve` for a problem of these contacts alone. Sweeps are accelerated unless
    the options name PGS or SOR.

    Writes  as solve
    Check   tests/laws/test_islands.py
    """
    if options.warm_start == 0:
        for c in range(n):
            for i in range(lanes.listed[c], lanes.listed[c] + 3):
                problem.lam[i] = 0.0
    method = SOR if options.method == SOR else PGS
    is_warm = apply_sweep_bias(problem, lanes.listed, n)
    if options.method in (PGS, SOR):
        rules = sweep_rules(options, method, n, is_warm)
        status, iterations = sweep_listed(problem, lanes, n, v, rules)
    else:
        status, iterations = sweep_freely(problem, lanes, n, v, options, is_warm)
    report.method[0] = method
    report.iterations[0] = iterations
    report.residual[0], report.coulomb_error[0] = measure_listed(problem, lanes, v)
    report.solver_status[0] = _verdict(status, report.residual[0], 0.0)


@kernel
def _sweep(
    problem: Problem, lanes: Lanes, v: NDArray, options: SolverOptions, method: int
) -> tuple[int, int]:
    """Sweep a problem with other rows than contacts; return STOPPED_..., iterations."""
    if has_trees(problem):
        sweeps = options.max_iterations if options.max_iterations > 0 else BOX_ITERATIONS
        return tree_sweeps(problem, v, sweeps, options.tolerance)
    n = list_contacts(problem, lanes)
    rules = sweep_rules(options, method, n, apply_sweep_bias(problem, lanes.listed, n))
    return pgs(problem, v, rules[0], rules[1], rules[2])


@kernel
def _is_solution(problem: Problem, v: NDArray, tolerance: float, report: Report) -> bool:
    """Whether the guess is a solution; if so, write the report."""
    answered, error, coulomb_error = is_solution(problem, v, tolerance)
    if answered:
        report.residual[0], report.coulomb_error[0] = error, coulomb_error
        report.solver_status[0] = STOPPED_TOLERANCE
    return answered


@kernel
def solve(
    problem: Problem, dense: Dense, v: NDArray, options: SolverOptions, report: Report
) -> None:
    """Find problem.lam and report its residual.

    Reads   problem.lam   guess, if options.warm_start; else every guess is 0
    Writes  problem.lam, problem.w; dense and v (n_bodies + 1, 6) are scratch;
            report: method, solver_status, iterations, residual, coulomb_error;
            report.status gets DENSE_FULL when a dense method did not fit and PGS took over
    Check   tests/engine/solvers/test_solve.py
    """
    report.method[0] = AUTO
    report.solver_status[0] = STOPPED_EXACT
    report.iterations[0] = 0
    report.residual[0] = 0.0
    report.coulomb_error[0] = 0.0
    n_rows = problem.count[0]
    if n_rows == 0:
        return
    if options.warm_start == 0:
        for i in range(n_rows):
            problem.lam[i] = 0.0
    method = options.method
    # SMALL_STEPS needs a duration; an instantaneous problem has none
    if method in (AUTO, SMALL_STEPS):
        method = choose_method(problem, dense)
    elif method >= GAUSS_SEIDEL and not fits(problem, dense, method):
        report.status[0] |= DENSE_FULL
        method = PGS
    report.method[0] = method
    if method in (ELIMINATION, PROXIMAL) and _is_solution(problem, v, options.tolerance, report):
        return
    status, iterations = NO_ROOM, 0
    if is_iterated(method):
        status, iterations = solve_iterated(problem, dense, v, options, method)
    elif method >= GAUSS_SEIDEL:
        sweeps = options.max_iterations if options.max_iterations > 0 else DENSE_ITERATIONS
        status, iterations, method = solve_dense(problem, dense, method, sweeps, options.tolerance)
        if options.method == LEMKE and method != LEMKE:
            report.status[0] |= DENSE_FULL
    if status == NO_ROOM:
        method = method if method in (PGS, SOR) else PGS
        if are_listed(problem):
            n = list_contacts(problem, dense.lanes)
            solve_swept(problem, dense.lanes, n, v, options, report)
            return
        status, iterations = _sweep(problem, dense.lanes, v, options, method)
    report.method[0] = method
    report.iterations[0] = iterations
    report.residual[0], report.coulomb_error[0] = residual(problem, v)
    report.solver_status[0] = _verdict(status, report.residual[0], _largest(problem.b, n_rows))
