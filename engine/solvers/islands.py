"""Solution of a Problem island by island, with a method chosen for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.islands import find_islands, gather, list_rows, scatter
from cardan.engine.solvers.direct.elimination_order import count_in_graph, write_graph
from cardan.engine.solvers.direct.island_factors import (
    NONE,
    factor_of,
    find_factor,
    forget,
    graph_of,
    keep_graph,
    number_rows,
    take_over,
)
from cardan.engine.solvers.solve import is_swept, solve, solve_swept
from cardan.engine.solvers.sweeps.simd.work import KINDS_OF_WORK, do_parts
from cardan.engine.threads.shares import work_of
from cardan.engine.trees.operator import has_trees
from cardan.engine.world.equations import DROP, KEEP, KEPT, NOTHING, ORDERED, REUSE
from cardan.engine.world.problem import KICK, Dense
from cardan.engine.world.report import STOPPED_EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.islands import Islands
    from cardan.engine.world.options import SolverOptions
    from cardan.engine.world.problem import Problem
    from cardan.engine.world.report import Report
    from cardan.engine.world.world import World


@kernel
def _rank(status: int) -> int:
    """Severity of a STOPPED_... value; larger is worse."""
    return -1 if status == STOPPED_EXACT else status


@kernel
def _place_for(problem: Problem, dense: Dense) -> int:
    """The number of the factor that an island is solved with; NONE: none is kept of it."""
    kept = dense.kept
    if kept.count[1] == DROP or has_trees(problem) or count_in_graph(problem) == 0:
        return NONE
    if kept.count[1] == REUSE:
        e = find_factor(problem, kept)
        if e >= 0:
            if kept.exact[e] == 0:
                # its order of elimination holds
                kept.graphs[e, 4] = ORDERED
            return e
        # there may be no room beside the others
        forget(kept)
    return int(kept.count[0])


@kernel
def _solve_part(
    problem: Problem,
    dense: Dense,
    v: NDArray,
    options: SolverOptions,
    report: Report,
    islands: Islands,
    k: int,
) -> None:
    """Solve island k, or the whole problem (NONE), with its own part of the memory for factors."""
    kept = dense.kept
    # nothing is at hand that is not kept
    dense.graph.count[4] = NOTHING
    e = _place_for(problem, dense)
    if e < 0:
        solve(problem, dense, v, options, report)
        return
    graph, factor = graph_of(dense, e), factor_of(dense, e)
    is_ready = take_over(problem, graph, factor) if e < kept.count[0] else False
    if not is_ready:
        if e < kept.count[0] or not write_graph(problem, graph):
            # alone it may fit
            forget(kept)
            solve(problem, dense, v, options, report)
            return
        keep_graph(problem, kept, graph)
    own = Dense(
        dense.factor,
        dense.S,
        dense.vectors,
        dense.indices,
        dense.tableau,
        dense.basis,
        dense.path,
        dense.path_tree,
        dense.owner,
        dense.iterates,
        dense.lanes,
        graph,
        factor,
        dense.kept,
    )
    solve(problem, own, v, options, report)
    if k >= 0:
        number_rows(graph, islands, k)


@kernel
def _solve_each(
    problem: Problem,
    islands: Islands,
    dense: Dense,
    v: NDArray,
    options: SolverOptions,
    report: Report,
) -> None:
    """Gather, solve and scatter every island; write one report over all of them."""
    largest = -1
    method, status, iterations = 0, STOPPED_EXACT, 0
    residual, coulomb_error = 0.0, 0.0
    for k in range(islands.count[0]):
        size = islands.start[k + 1] - islands.start[k]
        if is_swept(problem, size, islands.boxes[k], options):
            solve_swept(
                problem, dense.lanes, list_rows(islands, k, dense.lanes), v, options, report
            )
        else:
            gather(problem, islands, k)
            _solve_part(islands.part, dense, v, options, report, islands, k)
            scatter(islands, k, problem)
        report.methods[0] |= 1 << report.method[0]
        if size > largest:
            largest = size
            method = report.method[0]
        if _rank(report.solver_status[0]) > _rank(status):
            status = report.solver_status[0]
        iterations += report.iterations[0]
        # NaN counts as larger than every number
        if report.residual[0] > residual or report.residual[0] != report.residual[0]:
            residual = report.residual[0]
        error = report.coulomb_error[0]
        if error > coulomb_error or error != error:
            coulomb_error = error
    report.method[0] = method
    report.solver_status[0] = status
    report.iterations[0] = iterations
    report.residual[0] = residual
    report.coulomb_error[0] = coulomb_error


@kernel
def solve_islands(
    problem: Problem,
    inverse_mass: NDArray,
    islands: Islands,
    dense: Dense,
    v: NDArray,
    options: SolverOptions,
    report: Report,
) -> None:
    """Find problem.lam island by island, choosing a method for each.

    A single island is solved in place; several are gathered one after the other. What becomes of
    the factors of their equations is up to dense.kept.

    Reads   as solvers/solve.py; inverse_mass as find_islands
    Writes  problem.lam, problem.w; islands and dense are scratch
            v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam, except bodies of trees
            report: islands; method of the island with most rows; methods, one bit for each method
                    used; worst solver_status, residual and coulomb_error; sum of iterations
    Source  decision 0040
    Check   tests/engine/problem/test_islands.py
    """
    n = find_islands(problem, inverse_mass, islands)
    report.islands[0] = n
    v[:] = 0.0
    if dense.kept.count[1] != REUSE:
        forget(dense.kept)
    if n <= 1:
        _solve_part(problem, dense, v, options, report, islands, NONE)
        if n == 1:
            report.methods[0] |= 1 << report.method[0]
        return
    # rows are renumbered within their islands
    problem.mobility.work.paths[0] = 0
    _solve_each(problem, islands, dense, v, options, report)


@kernel
def solve_problem(world: World) -> None:
    """Impulses that obey the rows of a world, and what they change of velocities.

    Writes  work.problem.lam, w; motion.scratch (n_bodies + 1, 6) rad/s, m/s: M^-1 J^T lam; report
    """
    work, inverse_mass = world.work, world.model.bodies.inverse_mass
    v, solver = work.motion.scratch, world.options.solver
    # factors are kept for position corrections until something else is solved
    work.dense.kept.count[1] = KEEP
    solve_islands(work.problem, inverse_mass, work.islands, work.dense, v, solver, world.report)
    work.dense.kept.count[1] = KEPT


@kernel
def help_to_sweep(world: World, ticket: int) -> None:
    """The shares of a ticket of a sweep that another thread of the crew does."""
    work, lanes, v = world.work, world.work.dense.lanes, world.work.motion.scratch
    if work_of(ticket) // KINDS_OF_WORK == KICK:
        do_parts(work.problem, lanes, v, ticket)
    else:
        do_parts(work.islands.part, lanes, v, ticket)
