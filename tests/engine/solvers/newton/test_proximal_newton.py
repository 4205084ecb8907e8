"""Sweeps and Newton in turns: many digits where sweeps alone give few, and never a worse answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.solvers.newton.proximal_newton import (
    NEWTON_STEPS_PER_TURN,
    STEPS_ON_GUESS,
    SWEEPS_PER_TURN,
    solve_proximal_newton,
)
from cardan.engine.solvers.newton.semismooth import newton
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.matrix import sweep_dense
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE
from cardan.engine.world.report import STOPPED_NO_SOLUTION, STOPPED_STALLED, STOPPED_TOLERANCE
from tests.engine.solvers.newton.scratch import make_proximal_newton
from tests.engine.solvers.problems import DIRECTIONS, chain, pile, reduced, tower

DATA = Path(__file__).parents[3] / "data"

PROBLEMS = {
    "tower": lambda kind: tower(10, friction_kind=kind),
    "tower pushed": lambda kind: tower(3, push=0.3, friction_kind=kind),
    "redundant chain": lambda kind: chain(5, 6, redundant=True, friction_kind=kind),
    "pile": lambda kind: pile(20, 60, seed=5, friction_kind=kind),
    "rough pile": lambda kind: pile(20, 40, mu=1.0, friction_kind=kind),
}


def dense_problem(problem):
    dense, n_equations = reduced(problem)
    n_left = int(problem.count[0]) - n_equations
    n_box = int(problem.count[1]) - n_equations
    kind = int(problem.friction_kind[0])
    b, lo, hi, mu, scale, lam, w = dense.vectors[:7]
    dp = DenseProblem(
        dense.S, b, lo, hi, mu, scale, lam, w, n_left, n_box, kind, DIRECTIONS, n_box,
        np.zeros(n_left, np.int64),
    )  # fmt: skip
    project_guess(dp)
    return dp


def error(dp):
    write_velocities(dp)
    return dense_residual(dp)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", [FRICTION_BOX, FRICTION_CONE])
def test_ten_digits(name, kind):
    dp = dense_problem(PROBLEMS[name](kind))
    status, _ = solve_proximal_newton(dp, make_proximal_newton(dp.n), 500, 1e-10)
    assert status == STOPPED_TOLERANCE
    assert error(dp) <= 1e-10


def test_better_than_ten_times_the_sweeps():
    dp = dense_problem(tower(10))
    _, count = solve_proximal_newton(dp, make_proximal_newton(dp.n), 500, 1e-10)
    other = dense_problem(tower(10))
    sweep_dense(other, 1.0, StoppingRules(10 * count, -1.0, -1.0))
    assert error(dp) < 1e-3 * error(other)


def test_the_problem_itself_comes_back_bit_for_bit():
    dp = dense_problem(pile(20, 60, seed=5))
    matrix, b = dp.A[: dp.n, : dp.n].copy(), dp.b[: dp.n].copy()
    solve_proximal_newton(dp, make_proximal_newton(dp.n), 500, 1e-10)
    assert np.array_equal(dp.A[: dp.n, : dp.n], matrix)
    assert np.array_equal(dp.b[: dp.n], b)


def test_answer_lies_in_the_cones():
    for seed in range(5):
        dp = dense_problem(pile(20, 40, seed=seed, mu=0.8))
        solve_proximal_newton(dp, make_proximal_newton(dp.n), 100, 1e-10)
        lam = dp.lam[: dp.n].reshape(-1, 3)
        assert (lam[:, 0] >= 0.0).all()
        assert (np.hypot(lam[:, 1], lam[:, 2]) <= 0.8 * lam[:, 0] * (1 + 1e-14)).all()


def test_contradiction_ends_and_is_no_worse_than_its_sweeps():
    """Two equations that want opposite speeds of the same thing."""
    A = np.array([[1.0, 1, 0, 0, 0], [1, 1, 0, 0, 0], *np.eye(5)[2:]])
    b = np.array([1.0, -1.0, -1.0, 0.3, 0.1])
    dp = DenseProblem(
        A,
        b,
        np.full(5, -np.inf),
        np.full(5, np.inf),
        np.full(5, 0.5),
        np.ones(5),
        np.zeros(5),
        np.zeros(5),
        5,
        2,
        FRICTION_CONE,
        DIRECTIONS,
        2,
        np.zeros(5, np.int64),
    )
    status, _ = solve_proximal_newton(dp, make_proximal_newton(5), 500, 1e-10)
    assert status != STOPPED_TOLERANCE
    assert error(dp) <= 2.0 + 1e-12
    np.testing.assert_allclose(dp.w[2:], 0.0, atol=1e-9)


def four_wheels():
    """A car at rest on four wheels, 16 rows for 10 freedoms, in a step of the family cars_on_steps.

    A, b and the guess of the last step, without the equations of its axles.
    """
    data = np.load(DATA / "wheels_at_rest.npz")
    n = len(data["b"])
    return DenseProblem(
        data["A"], data["b"], np.resize(data["lo"], n), np.resize(data["hi"], n), data["mu"],
        data["scale"], data["lam"], np.zeros(n), n, 4, FRICTION_CONE, DIRECTIONS, 4,
        np.zeros(n, np.int64),
    )  # fmt: skip


def test_rows_that_disagree_by_a_micrometre_per_second_cost_little():
    """No impulses of 16 rows give a body of 10 freedoms the velocities that they ask for."""
    dp = four_wheels()
    gravity = -dp.b[4]
    before = error(dp)
    assert 1e-8 < before < 1e-4 * gravity
    status, count = solve_proximal_newton(dp, make_proximal_newton(dp.n), 500, 1e-8)
    assert status == STOPPED_STALLED
    assert count <= STEPS_ON_GUESS + 2 * (SWEEPS_PER_TURN + NEWTON_STEPS_PER_TURN)
    assert 1e-7 < error(dp) <= before
    other = four_wheels()
    sweep_dense(other, 1.0, StoppingRules(5000, -1.0, -1.0))
    assert error(other) > 1e-7


@pytest.mark.parametrize("kind", [FRICTION_BOX, FRICTION_CONE])
@pytest.mark.parametrize("size", [1e50, 1e160, np.inf, np.nan])
def test_numbers_beyond_any_motion_are_no_problem_to_solve(size, kind):
    """Squares of 1e160 are infinite: turns that halve an infinite error would never end."""
    dp = dense_problem(pile(10, 20, friction_kind=kind))
    dp.b[: dp.n] *= size
    status, count = solve_proximal_newton(dp, make_proximal_newton(dp.n), 500, 1e-10)
    assert status == STOPPED_NO_SOLUTION
    assert count <= SWEEPS_PER_TURN
    dp.lam[: dp.n] = 0.0
    assert newton(dp, make_proximal_newton(dp.n).newton, 500, 1e-10) == (STOPPED_NO_SOLUTION, 0)
