"""Factors of the equations of islands outlive the solve, for what solves the same equations."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.block_ldlt import solve_one, write_factor
from cardan.engine.solvers.direct.elimination_order import write_graph
from cardan.engine.solvers.direct.island_factors import factor_of, graph_of
from cardan.engine.solvers.direct.schur_complement import write_sides
from cardan.engine.solvers.islands import solve_islands
from cardan.engine.world.equations import DROP, FACTORED, KEEP, ORDERED, REUSE
from cardan.engine.world.options import SolverMethod
from tests.engine.problem.test_islands import mixed, new_islands
from tests.engine.solvers.problems import (
    chain,
    copy_problem,
    dense_scratch,
    equations_of,
    new_report,
    solver_options,
    tower,
)


@kernel
def solve_kept(dense, e, b):
    """What the equations of kept factor e, with b by row, leave in its x."""
    graph, factor = graph_of(dense, e), factor_of(dense, e)
    write_sides(graph, b, factor.x)
    solve_one(graph, factor)


def solved(problem, inverse_mass, dense, mode, method=SolverMethod.ELIMINATION):
    """Solve in place; the report."""
    problem = problem._replace(inverse_mass=inverse_mass)
    report, v = new_report(), np.full((len(inverse_mass), 6), np.nan)
    dense.kept.count[1] = mode
    islands, options = new_islands(problem), solver_options(method)
    solve_islands(problem, inverse_mass, islands, dense, v, options, report)
    return report


def answers(dense, b):
    """Multipliers of all kept equations, by row."""
    lam = np.full(len(b), np.nan)
    first = dense.kept.first
    for e in range(dense.kept.count[0]):
        solve_kept(dense, e, b)
        group, node = first[e, 1], first[e, 2]
        for g in range(group, first[e + 1, 1]):
            for r in range(dense.graph.size[g]):
                k = node + dense.graph.group_node[g]
                lam[dense.graph.member[g, r]] = -dense.equations.x[k, r]
    return lam


def scene():
    """Three chains and a tower without equations."""
    return mixed([chain(5), tower(2), chain(4, 5, redundant=True), chain(2)], seed=1)


def test_factors_of_all_islands_answer_for_the_rows_of_the_whole():
    problem, inverse_mass, _ = scene()
    dense = dense_scratch(400)
    report = solved(problem, inverse_mass, dense, KEEP)
    assert report.islands[0] == 4
    assert dense.kept.count[0] == 3
    assert (dense.kept.graphs[:3, 4] == FACTORED).all()
    rng = np.random.default_rng(2)
    b = rng.normal(size=problem.count[0])
    whole = dense_scratch(400)
    assert write_graph(problem, whole.graph)
    write_factor(problem, whole.graph, whole.equations)
    write_sides(whole.graph, b, whole.equations.x)
    solve_one(whole.graph, whole.equations)
    expected = np.full(len(b), np.nan)
    for g in range(whole.graph.count[1]):
        for r in range(whole.graph.size[g]):
            k = whole.graph.group_node[g]
            expected[whole.graph.member[g, r]] = -whole.equations.x[k, r]
    found = answers(dense, b)
    assert np.isfinite(found[equations_of(problem)]).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", [SolverMethod.PGS, SolverMethod.ELIMINATION])
def test_what_is_kept_does_not_change_the_solution(method):
    problem, inverse_mass, _ = scene()
    other = copy_problem(problem)
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP, method)
    solved(other, inverse_mass, dense_scratch(400), DROP, method)
    n = problem.count[0]
    assert problem.lam[:n].tobytes() == other.lam[:n].tobytes()
    # rows that are swept need the order only; the factor follows when it is asked for
    least = FACTORED if method == SolverMethod.ELIMINATION else ORDERED
    assert (dense.kept.graphs[: dense.kept.count[0], 4] >= least).all()


def other_sides(problem, seed=3):
    """The same rows with other right-hand sides, no guess."""
    found = copy_problem(problem)
    n = found.count[0]
    found.b[:n] = np.random.default_rng(seed).normal(size=n)
    found.lam[:n] = 0.0
    return found


def test_the_same_equations_are_solved_again_by_the_same_factor():
    problem, inverse_mass, _ = scene()
    again = other_sides(problem)
    fresh, spoilt = copy_problem(again), copy_problem(again)
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP)
    solved(again, inverse_mass, dense, REUSE)
    solved(fresh, inverse_mass, dense_scratch(400), DROP)
    n = again.count[0]
    assert again.lam[:n].tobytes() == fresh.lam[:n].tobytes()
    # it is the factor that answers: another one, another answer
    solved(copy_problem(problem), inverse_mass, dense, KEEP)
    dense.equations.C[:] *= 2.0
    solved(spoilt, inverse_mass, dense, REUSE)
    assert np.abs(spoilt.lam[:n] - fresh.lam[:n]).max() > 1e-3


def test_other_equations_are_factored_anew():
    problem, inverse_mass, _ = scene()
    again = other_sides(problem)
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP)
    # one equation is now a stop
    row = equations_of(again)[1]
    again.lo[row] = 0.0
    fresh = copy_problem(again)
    solved(again, inverse_mass, dense, REUSE)
    solved(fresh, inverse_mass, dense_scratch(400), DROP)
    n = again.count[0]
    assert again.lam[:n].tobytes() == fresh.lam[:n].tobytes()


def test_equations_that_yield_are_not_reused():
    problem, inverse_mass, _ = scene()
    problem.cfm[equations_of(problem)] = 0.01
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP)
    assert (dense.kept.exact[: dense.kept.count[0]] == 0).all()
    again = other_sides(problem)
    again.cfm[:] = 0.0
    fresh = copy_problem(again)
    solved(again, inverse_mass, dense, REUSE)
    solved(fresh, inverse_mass, dense_scratch(400), DROP)
    n = again.count[0]
    assert again.lam[:n].tobytes() == fresh.lam[:n].tobytes()


def test_a_factor_of_other_poses_is_renewed_in_its_place():
    problem, inverse_mass, _ = scene()
    again = other_sides(problem)
    fresh = copy_problem(again)
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP)
    # as a pass over joint errors leaves it, which wrote a factor of its own
    dense.kept.exact[1] = 0
    dense.equations.C[dense.kept.first[1, 2] : dense.kept.first[2, 2]] = np.nan
    solved(again, inverse_mass, dense, REUSE)
    solved(fresh, inverse_mass, dense_scratch(400), DROP)
    n = again.count[0]
    assert again.lam[:n].tobytes() == fresh.lam[:n].tobytes()
    assert dense.kept.count[0] == 3


def test_what_does_not_fit_beside_others_is_not_taken_for_known():
    problem, inverse_mass, _ = scene()
    expected = copy_problem(problem)
    dense = dense_scratch(400)
    dense.graph.count[4] = FACTORED
    solved(problem, inverse_mass, dense, DROP)
    solved(expected, inverse_mass, dense_scratch(400), DROP)
    n = problem.count[0]
    assert problem.lam[:n].tobytes() == expected.lam[:n].tobytes()


def test_velocities_of_one_island_are_as_if_nothing_was_kept():
    problem = chain(6)
    other = copy_problem(problem)
    inverse_mass = problem.inverse_mass[:7]
    dense = dense_scratch(400)
    solved(problem, inverse_mass, dense, KEEP)
    solved(other, inverse_mass, dense_scratch(400), DROP)
    assert dense.kept.count[0] == 1
    assert problem.lam.tobytes() == other.lam.tobytes()
