"""What stands keeps its impulses; what moves, or is about to, does not get away with them."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.residual import residual
from cardan.engine.solvers.solve import solve
from cardan.engine.solvers.warm_start import BALANCED, is_solution
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON
from cardan.engine.world.report import STOPPED_TOLERANCE
from tests.engine.solvers.problems import (
    chain,
    copy_problem,
    dense_scratch,
    new_report,
    pile,
    solver_options,
    tower,
    velocity_scratch,
)

TOLERANCE = 1e-8
KINDS = [FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON]


def solved(problem, **options):
    """The report; the answer is in the problem."""
    report = new_report()
    dense = dense_scratch(int(problem.count[0]))
    solve(problem, dense, velocity_scratch(problem), solver_options(**options), report)
    return report


def standing(problem):
    return is_solution(problem, velocity_scratch(problem), TOLERANCE)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_of_a_tower_at_rest_is_taken_again(kind):
    problem = tower(5, friction_kind=kind)
    solved(problem)
    before = problem.lam.copy()
    report = solved(problem, tolerance=TOLERANCE)
    assert report.iterations[0] == 0
    assert report.solver_status[0] == STOPPED_TOLERANCE
    assert report.residual[0] <= TOLERANCE
    assert np.array_equal(problem.lam, before)


def test_what_the_report_says_is_measured():
    problem = tower(5)
    solved(problem)
    report = solved(problem, tolerance=TOLERANCE)
    again = residual(copy_problem(problem), velocity_scratch(problem))
    assert (report.residual[0], report.coulomb_error[0]) == again


def test_a_guess_that_errs_is_improved():
    problem = tower(5)
    solved(problem)
    problem.lam[: problem.count[0]] *= 1.0 + 1e-5
    report = solved(problem, tolerance=TOLERANCE)
    assert report.iterations[0] > 0
    assert report.residual[0] <= TOLERANCE


def test_forces_must_balance_better_than_the_law_must_hold():
    problem = tower(1)
    solved(problem)
    assert standing(problem)
    # lifts the cube by a third of the tolerance: the law would still hold
    problem.lam[0 : problem.count[0] : 3] += 0.3 * TOLERANCE / 4
    worst = residual(problem, velocity_scratch(problem))[0]
    assert BALANCED * TOLERANCE < worst <= TOLERANCE
    assert not standing(problem)


def test_a_velocity_that_forces_leave_alone_may_stay_within_the_tolerance():
    problem = tower(1)
    solved(problem)
    rising = 0.3 * TOLERANCE
    for v in (problem.velocity_old, problem.velocity_free):
        v[0, 5] += rising
    problem.b[0 : problem.count[0] : 3] += rising
    assert standing(problem)
    problem.b[0 : problem.count[0] : 3] += TOLERANCE
    assert not standing(problem)


def test_a_block_that_slides_and_slows_down_is_solved_for():
    problem = tower(1, push=2.0)
    solved(problem)
    assert np.abs(problem.w[: problem.count[0]]).max() > 0.1
    problem.velocity_old[0] = problem.velocity_free[0]
    problem.velocity_old[0, 5] = 0.0
    assert not standing(problem)


def test_the_guess_is_moved_into_its_set():
    problem = pile(6, 12)
    problem.lam[: problem.count[0]] = 1.0
    standing(problem)
    lam = problem.lam[: problem.count[0]].reshape(-1, 3)
    assert (np.hypot(lam[:, 1], lam[:, 2]) <= 0.5 * lam[:, 0] * (1 + 1e-14)).all()


def test_equations_are_always_solved():
    problem = chain(3, 2)
    solved(problem)
    assert not standing(problem)


def test_what_gives_way_is_always_solved():
    problem = tower(2)
    problem.cfm[0] = 1e-6
    problem.diagonal[0] += 1e-6
    solved(problem)
    assert not standing(problem)


def test_only_exact_methods_stop_at_the_guess():
    problem = tower(3)
    solved(problem)
    assert solved(problem, method=SolverMethod.PGS, max_iterations=3).iterations[0] > 0
