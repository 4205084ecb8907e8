"""One Problem falls into islands, rows that share no body an impulse moves; each is solved alone.

Many small piles and mechanisms are then small problems, and those are solved exactly. What an
island computes depends on its own rows and their order only, never on the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.bodies.partition import first_of, join, separate
from engine.kernel import kernel
from engine.solvers.operator import copy_geometry
from engine.solvers.solve import is_swept, solve, solve_swept
from engine.world.report import STOPPED_EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.islands import Islands
    from engine.world.options import SolverOptions
    from engine.world.problem import Dense, Lanes, Problem
    from engine.world.report import Report
    from engine.world.tree import Tree


@kernel
def _body_of(problem: Problem, inverse_mass: NDArray, i: int) -> int:
    """A body that row i moves; the world when there is none."""
    if inverse_mass[problem.body_a[i]] > 0.0:
        return problem.body_a[i]
    if inverse_mass[problem.body_b[i]] > 0.0:
        return problem.body_b[i]
    return inverse_mass.shape[0] - 1


@kernel
def _join_row(problem: Problem, inverse_mass: NDArray, islands: Islands, i: int) -> None:
    """The bodies of row i are of one island."""
    a, b = problem.body_a[i], problem.body_b[i]
    if inverse_mass[a] > 0.0 and inverse_mass[b] > 0.0:
        join(islands.parent, a, b)


@kernel
def _share_pair(problem: Problem, i: int, j: int) -> bool:
    """Whether rows i and j are of the same two bodies."""
    return bool(problem.body_a[i] == problem.body_a[j] and problem.body_b[i] == problem.body_b[j])


@kernel
def join_trees(tree: Tree, parent: NDArray) -> None:
    """The bodies of a tree belong together, rows or not."""
    first, which = -1, -1
    for i in range(tree.kind.shape[0]):
        if tree.body[i] < 0:
            continue
        if tree.tree[i] != which:
            first, which = tree.body[i], tree.tree[i]
        else:
            join(parent, first, tree.body[i])


@kernel
def find_islands(problem: Problem, inverse_mass: NDArray, islands: Islands) -> int:
    """Sort rows by island; returns the number of islands.

    Islands are numbered by their first row, rows keep their order within an island (so boxes stay
    before contacts). Rows that move nothing are one island.  Takes a time ~ rows + bodies.

    Reads   inverse_mass (n_bodies + 1,) 1/kg   0 for bodies that impulses do not move
    Writes  islands, except part
    Check   tests/engine/solvers/test_islands.py
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    separate(islands.parent)
    for i in range(n_box):
        _join_row(problem, inverse_mass, islands, i)
    for i in range(n_box, n_rows, 3):
        if i == n_box or not _share_pair(problem, i, i - 3):
            _join_row(problem, inverse_mass, islands, i)
    join_trees(problem.mobility.tree, islands.parent)
    for k in range(islands.number.shape[0]):
        islands.number[k] = -1
        islands.boxes[k] = 0
        islands.start[k + 1] = 0
    n = 0
    # for now `place` is the island of the row
    for i in range(n_rows):
        if i > n_box and ((i - n_box) % 3 > 0 or _share_pair(problem, i, i - 3)):
            # of one contact, or of one pair
            islands.place[i] = islands.place[i - 1]
            islands.start[islands.place[i] + 1] += 1
            continue
        first = first_of(islands.parent, _body_of(problem, inverse_mass, i))
        if islands.number[first] < 0:
            islands.number[first] = n
            n += 1
        k = islands.number[first]
        islands.place[i] = k
        islands.start[k + 1] += 1
        if i < n_box:
            islands.boxes[k] += 1
    islands.start[0] = 0
    for k in range(n):
        islands.start[k + 1] += islands.start[k]
        islands.number[k] = islands.start[k]
    # now `number` is the next free place of an island
    for i in range(n_rows):
        k = islands.place[i]
        to = islands.number[k]
        islands.number[k] = to + 1
        islands.order[to] = i
        islands.place[i] = to - islands.start[k]
    islands.count[0] = n
    return n


@kernel
def gather(problem: Problem, islands: Islands, k: int) -> None:
    """islands.part <- the rows of island k."""
    part = islands.part
    start, end = islands.start[k], islands.start[k + 1]
    part.count[0] = end - start
    part.count[1] = islands.boxes[k]
    part.friction_kind[0] = problem.friction_kind[0]
    part.friction_kind[1] = problem.friction_kind[1]
    for r in range(end - start):
        i = islands.order[start + r]
        copy_geometry(problem, i, part, r)
        part.cfm[r] = problem.cfm[i]
        part.b[r] = problem.b[i]
        part.ease[r] = problem.ease[i]
        part.lo[r] = problem.lo[i]
        part.hi[r] = problem.hi[i]
        normal = problem.normal_row[i]
        part.normal_row[r] = islands.place[normal] if normal >= 0 else -1
        part.mu[r] = problem.mu[i]
        part.lam[r] = problem.lam[i]


@kernel
def scatter(islands: Islands, k: int, problem: Problem) -> None:
    """problem.lam, w, ease <- the answer of island k."""
    start = islands.start[k]
    for r in range(islands.start[k + 1] - start):
        i = islands.order[start + r]
        problem.lam[i] = islands.part.lam[r]
        problem.w[i] = islands.part.w[r]
        problem.ease[i] = islands.part.ease[r]


@kernel
def list_rows(islands: Islands, k: int, lanes: Lanes) -> int:
    """The contacts of island k, which has no box rows; returns how many."""
    n = (islands.start[k + 1] - islands.start[k]) // 3
    for c in range(n):
        lanes.listed[c] = islands.order[islands.start[k] + 3 * c]
    return n


@kernel
def _rank(status: int) -> int:
    """The larger, the worse a STOPPED_... is."""
    return -1 if status == STOPPED_EXACT else status


@kernel
def _solve_each(
    problem: Problem,
    islands: Islands,
    dense: Dense,
    v: NDArray,
    options: SolverOptions,
    report: Report,
) -> None:
    """Gather, solve and scatter every island; the report speaks for all of them."""
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
            solve(islands.part, dense, v, options, report)
            scatter(islands, k, problem)
        report.methods[0] |= 1 << report.method[0]
        if size > largest:
            largest = size
            method = report.method[0]
        if _rank(report.solver_status[0]) > _rank(status):
            status = report.solver_status[0]
        iterations += report.iterations[0]
        # NaN beats every number
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
    """Find problem.lam island by island, each by the method that suits it.

    One island is solved where it stands, more are gathered one after the other.

    Reads   as solvers/solve.py; inverse_mass as find_islands
    Writes  problem.lam, problem.w; islands and dense are scratch
            v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam, but of bodies of trees
            report: islands; method of the island with most rows; methods, a bit for each that was
            used; worst solver_status, residual and coulomb_error; iterations of all together
    Source  decision 0040
    Check   tests/engine/solvers/test_islands.py
    """
    n = find_islands(problem, inverse_mass, islands)
    report.islands[0] = n
    v[:] = 0.0
    if n <= 1:
        solve(problem, dense, v, options, report)
        if n == 1:
            report.methods[0] |= 1 << report.method[0]
        return
    # rows get new numbers in their islands
    problem.mobility.work.paths[0] = 0
    _solve_each(problem, islands, dense, v, options, report)
