"""Solution of one Problem: choose the method, run it, measure the residual of its result."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.no_rows import report_no_rows
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import GAUSS_SEIDEL, NO_ROOM, solve_dense
from cardan.engine.solvers.direct.elimination_order import count_in_graph
from cardan.engine.solvers.direct.schur_complement import solve_equations
from cardan.engine.solvers.direct.tree_elimination import drop_redundant
from cardan.engine.solvers.gradient.compliant import solve_compliant, yields
from cardan.engine.solvers.gradient.solve import (
    Iteration,
    is_iterated,
    iterate_on_bodies,
    solve_iterated,
)
from cardan.engine.solvers.stopping import StoppingRules, confirmed
from cardan.engine.solvers.sweeps.blocks import project_impulses
from cardan.engine.solvers.sweeps.simd.accelerated import sweep_accelerated
from cardan.engine.solvers.sweeps.simd.solver import (
    apply_sweep_bias,
    list_contacts,
    measure_listed,
    start_listed,
    start_mixed,
    sweep_listed,
    velocity_change_by_forces,
)
from cardan.engine.solvers.sweeps.simd.work import STORE, do_work
from cardan.engine.solvers.warm_start import is_solution
from cardan.engine.trees.operator import has_trees
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import DENSE_FULL, STOPPED_EXACT, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

# sweeps where max_iterations is 0: of contacts with a guess, of contacts without one, and of box
# rows alone
PGS_ITERATIONS = 15
COLD_ITERATIONS = 500
BOX_ITERATIONS = 50
# more contacts carry loads through more bodies: one more sweep per so many contacts; and how many
# more at most
CONTACTS_PER_SWEEP, MORE_ITERATIONS = 400, 10
# sweeps of dense methods, and of one that the engine chose: problems that Newton steps can solve
# are solved after 25 or 50 sweeps, and the error of others is left to the next step
DENSE_ITERATIONS, CHOSEN_ITERATIONS = 500, 75
# change per sweep, as a share of the velocity change by forces in a step, at which sweeps end
QUIET = 7.5e-5
# and the change in the first sweep above which fewer sweeps suffice
BUSY = 2.0
# residual of joints in a heap, as a share of the velocity change by forces in a step, at which the
# alternation of sweeps and exact solutions of their equations ends; and the most rounds of it
HARD, TURNS = 0.25, 12
# rows other than equations up to which a dense solve costs about as much as sweeps
EXACT_ROWS = 72
# rows of contacts alone up to which a dense solve pays where they rest: next steps keep its result
RESTING_ROWS = 192
# largest residual of impulses at rest, as a share of the velocity change by forces in a step
RESTING = 1e-3
# rows, including equations, up to which problems with trees are solved by a dense method
TREE_ROWS = 400
# largest residual of an exact solution, as a share of the largest |b|
EXACT = 1e-8


@kernel
def are_listed(problem: Problem) -> bool:
    """Whether a problem has only contacts, with friction on the disk, which are swept in lanes."""
    if problem.count[1] > 0 or has_trees(problem):
        return False
    return bool(problem.friction_kind[0] == FRICTION_CONE)


@kernel
def are_resting(problem: Problem, lanes: Lanes, v: NDArray, error: float) -> bool:
    """Whether contacts alone are few enough, and their guess good enough, for an exact solution.

    Reads   error: residual of the guess [m/s or rad/s]; inf: not measured yet
    Writes  problem.lam into its set; problem.w, v and lanes.listed: scratch
    """
    if problem.count[0] > RESTING_ROWS or not are_listed(problem):
        return False
    if error == inf:
        project_impulses(problem)
        error = residual(problem, v)[0]
    n = list_contacts(problem, lanes)
    return bool(error <= RESTING * velocity_change_by_forces(problem, lanes, n))


@kernel
def choose_method(problem: Problem, dense: Dense, v: NDArray, error: float) -> int:
    """Method for AUTO: ELIMINATION where the matrix fits and is cheap enough, else PGS.

    ELIMINATION is chosen for few rows, for boxes without contacts, and for equations with few other
    rows: sweeps converge slowly on joints and equations are cheap to eliminate, but the cost of the
    other rows grows with their square and cube. Polygons, rolling and spinning friction are not
    swept well.

    Reads   error: as are_resting
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    if has_trees(problem):
        small = n_rows == n_box or n_rows <= TREE_ROWS
        return ELIMINATION if small and n_rows <= dense.path.shape[0] else PGS
    rest = n_rows - count_in_graph(problem)
    are_swept_well = problem.friction_kind[0] == FRICTION_CONE and first_dependent(problem) == n_box
    small = n_rows == n_box or rest <= (EXACT_ROWS if are_swept_well else RESTING_ROWS)
    exact = small or are_resting(problem, dense.lanes, v, error)
    return ELIMINATION if exact and rest <= dense.S.shape[0] else PGS


@kernel
def fits(problem: Problem, dense: Dense, method: int) -> bool:
    """Whether the scratch suffices for a dense method, or an iteration with vectors of its own."""
    if is_iterated(method):
        return problem.count[0] <= dense.iterates.shape[1]
    if method < ELIMINATION or has_trees(problem):
        return problem.count[0] <= dense.S.shape[0]
    return problem.count[0] - count_in_graph(problem) <= dense.S.shape[0]


@kernel
def _largest(x: NDArray, n: int) -> float:
    """Largest |x_i|, i < n."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(x[i]))
    return largest


@kernel
def sweep_rules(options: SolverOptions, n_contacts: int, is_warm: bool) -> StoppingRules:
    """Rules of sweeps that measure no residual: limits of their number and of their change."""
    sweeps = BOX_ITERATIONS
    if n_contacts > 0:
        more = min(n_contacts // CONTACTS_PER_SWEEP, MORE_ITERATIONS)
        sweeps = PGS_ITERATIONS + more if is_warm else COLD_ITERATIONS
    sweeps = options.max_iterations if options.max_iterations > 0 else sweeps
    return StoppingRules(sweeps, -1.0, options.tolerance)


@kernel
def relaxation_of(options: SolverOptions, method: int) -> float:
    """Omega of the sweeps of a method [-]."""
    return options.relaxation if method == SOR else 1.0


@kernel
def is_swept(problem: Problem, n_rows: int, n_box: int, options: SolverOptions) -> bool:
    """Whether an island of n_rows rows, n_box of them boxes, is swept in place as contacts."""
    if n_box > 0 or n_rows <= RESTING_ROWS or has_trees(problem):
        return False
    if problem.friction_kind[0] != FRICTION_CONE:
        return False
    return options.method in (AUTO, PGS, SOR, SMALL_STEPS)


@kernel
def are_mixed(problem: Problem, options: SolverOptions) -> bool:
    """Whether box rows are swept with contacts in lanes, accelerated: joints in a heap."""
    if problem.friction_kind[0] != FRICTION_CONE or options.method in (PGS, SOR):
        return False
    n_box = problem.count[1]
    if problem.count[2] > 0:
        return False
    return first_dependent(problem) == n_box and n_box < problem.count[0]


@kernel
def sweep_freely(
    problem: Problem, lanes: Lanes, n: int, v: NDArray, options: SolverOptions, is_warm: bool
) -> tuple[int, int]:
    """Sweep what lanes hold, n listed contacts among it, with acceleration; STOPPED_..., sweeps.

    With max_iterations = 0 the number of sweeps follows from the number of contacts, and sweeps end
    when the change is small.
    """
    most, tolerance = options.max_iterations, options.tolerance
    forces = velocity_change_by_forces(problem, lanes, n)
    if most == 0:
        tolerance = max(tolerance, QUIET * forces)
        most = 0 if is_warm else COLD_ITERATIONS
    rules = StoppingRules(most, -1.0, tolerance)
    return sweep_accelerated(problem, lanes, n, v, rules, BUSY * forces)


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
        rules = sweep_rules(options, n, is_warm)
        omega = relaxation_of(options, method)
        status, iterations = sweep_listed(problem, lanes, n, v, rules, omega)
    else:
        start_listed(problem, lanes, n, v)
        status, iterations = sweep_freely(problem, lanes, n, v, options, is_warm)
    report.method[0] = method
    report.iterations[0] = iterations
    report.residual[0], report.coulomb_error[0] = measure_listed(problem, lanes, v)
    report.solver_status[0] = confirmed(status, report.residual[0], options.tolerance, 0.0)


@kernel
def _take_turns(
    problem: Problem, dense: Dense, n: int, v: NDArray, options: SolverOptions
) -> tuple[int, int]:
    """Solve joints in a heap, n listed contacts among them; return STOPPED_..., sweeps.

    All rows are swept, then the joints' equations are solved exactly with the impulses of all other
    rows fixed, so that a chain of light links holds any load. This disturbs the contacts: both
    are repeated while the residual is above HARD, unless max_iterations is given.
    """
    lanes = dense.lanes
    enough = HARD * velocity_change_by_forces(problem, lanes, n)
    is_warm = apply_sweep_bias(problem, lanes.listed, n)
    turns, iterations = 0, 0
    while True:
        start_mixed(problem, lanes, n, v)
        status, swept = sweep_freely(problem, lanes, n, v, options, is_warm)
        do_work(problem, lanes, v, STORE, 0, lanes.count[0])
        solve_equations(problem, dense)
        iterations, turns, is_warm = iterations + swept, turns + 1, True
        if options.max_iterations > 0 or turns == TURNS or residual(problem, v)[0] <= enough:
            return status, iterations


@kernel
def _sweep(
    problem: Problem, dense: Dense, v: NDArray, options: SolverOptions, method: int
) -> tuple[int, int]:
    """Sweep a problem with other rows than contacts; return STOPPED_..., iterations."""
    lanes, rules = dense.lanes, sweep_rules(options, 0, False)
    if not has_trees(problem):
        n = list_contacts(problem, lanes)
        if are_mixed(problem, options):
            return _take_turns(problem, dense, n, v, options)
        rules = sweep_rules(options, n, apply_sweep_bias(problem, lanes.listed, n))
    iteration = Iteration(method, relaxation_of(options, method), 1, 1)
    return iterate_on_bodies(problem, dense, v, rules, iteration)


@kernel
def _accept_guess(
    problem: Problem, v: NDArray, tolerance: float, report: Report
) -> tuple[bool, float]:
    """Whether the guess is a solution (if so write the report); its residual, inf: not measured."""
    answered, error, coulomb_error = is_solution(problem, v, tolerance)
    if answered:
        report.residual[0], report.coulomb_error[0] = error, coulomb_error
        report.solver_status[0] = STOPPED_TOLERANCE
    return answered, error


@kernel
def _solve_at_once(
    problem: Problem,
    dense: Dense,
    v: NDArray,
    options: SolverOptions,
    method: int,
    report: Report,
) -> tuple[int, int, int]:
    """Solve without sweeps over bodies; STOPPED_... or NO_ROOM, iterations, the method that ran."""
    if is_iterated(method):
        status, iterations = solve_iterated(problem, dense, v, options, method)
        return status, iterations, method
    if method < GAUSS_SEIDEL:
        return NO_ROOM, 0, method
    if method == ELIMINATION and has_trees(problem) and yields(problem, dense):
        iterations = solve_compliant(problem, dense, v)
        if iterations > 0:
            return STOPPED_EXACT, iterations, method
    sweeps = CHOSEN_ITERATIONS if options.method == AUTO else DENSE_ITERATIONS
    sweeps = options.max_iterations if options.max_iterations > 0 else sweeps
    status, iterations, ran = solve_dense(problem, dense, method, sweeps, options.tolerance)
    if options.method == LEMKE and ran != LEMKE:
        report.status[0] |= DENSE_FULL
    return status, iterations, ran


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
    report_no_rows(report)
    n_rows = problem.count[0]
    if n_rows == 0:
        return
    if options.warm_start == 0:
        for i in range(n_rows):
            problem.lam[i] = 0.0
    # SMALL_STEPS needs a duration; an instantaneous problem has none
    method = AUTO if options.method == SMALL_STEPS else options.method
    may_stay = n_rows <= RESTING_ROWS if method == AUTO else method in (ELIMINATION, PROXIMAL)
    error = inf
    if may_stay:
        answered, error = _accept_guess(problem, v, options.tolerance, report)
        if answered:
            report.method[0] = ELIMINATION if method == AUTO else method
            return
    if method == AUTO:
        method = choose_method(problem, dense, v, error)
    elif method >= GAUSS_SEIDEL and not fits(problem, dense, method):
        report.status[0] |= DENSE_FULL
        method = PGS
    on_trees, eliminates = has_trees(problem), method in (ELIMINATION, LEMKE, PROXIMAL)
    if on_trees and not eliminates:
        drop_redundant(problem)
    status, iterations, method = _solve_at_once(problem, dense, v, options, method, report)
    if status == NO_ROOM:
        if on_trees and eliminates:
            drop_redundant(problem)
        method = method if method in (PGS, SOR) else PGS
        if are_listed(problem):
            n = list_contacts(problem, dense.lanes)
            solve_swept(problem, dense.lanes, n, v, options, report)
            return
        status, iterations = _sweep(problem, dense, v, options, method)
    report.method[0] = method
    report.iterations[0] = iterations
    report.residual[0], report.coulomb_error[0] = residual(problem, v)
    exact = EXACT * _largest(problem.b, n_rows)
    report.solver_status[0] = confirmed(status, report.residual[0], options.tolerance, exact)
