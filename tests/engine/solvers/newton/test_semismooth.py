"""The Newton matrix is the derivative of the natural map, and its end is the law."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.solvers.direct.dense_problem import DenseProblem, project_guess, write_velocities
from cardan.engine.solvers.newton.natural_map import write_natural_map
from cardan.engine.solvers.newton.semismooth import newton, write_system
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON
from cardan.engine.world.report import STOPPED_TOLERANCE
from tests.engine.solvers.box_lcp import make_newton
from tests.engine.solvers.problems import DIRECTIONS


def random_problem(seed, kind, n_box=4, n_contacts=4, rank=None, dependent=0):
    rng = np.random.default_rng(seed)
    n = n_box + 3 * n_contacts
    B = rng.normal(size=(n, rank or n + 5))
    A = B @ B.T
    mu = rng.uniform(0.2, 1.0, n)
    mu[n_box + 2 :: 3] = mu[n_box + 1 :: 3]
    lo, hi = -rng.exponential(0.1, n), rng.exponential(0.1, n)
    lo[:2], hi[:2] = (0.0, -np.inf), np.inf
    lam = 0.1 * rng.normal(size=n)
    b = B @ rng.normal(size=B.shape[1])
    sizes = (n, n_box, kind, DIRECTIONS, n_box - 3 * dependent)
    normal = np.full(n, n - 3)
    return DenseProblem(A, b, lo, hi, mu, np.diag(A).copy(), lam, np.zeros(n), *sizes, normal)


@pytest.mark.parametrize("dependent", [0, 1])
@pytest.mark.parametrize("kind", [FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON])
@pytest.mark.parametrize("seed", range(20))
def test_matrix_is_the_derivative(kind, seed, dependent):
    n_box = 4 + 3 * dependent
    dp = random_problem(seed, kind, n_box=n_box, dependent=dependent)
    scratch = make_newton(dp.n)
    write_velocities(dp)
    write_natural_map(dp, scratch.F)
    m = write_system(dp, scratch, 0.0)
    free, F = scratch.free[:m].copy(), scratch.F.copy()
    M, right, held = scratch.M[:m, :m].copy(), scratch.w[:m].copy(), scratch.step.copy()
    start, step = dp.lam.copy(), 1e-7
    columns = []
    for j in range(dp.n):
        ends = []
        for sign in (1, -1):
            dp.lam[:] = start
            dp.lam[j] += sign * step
            write_velocities(dp)
            write_natural_map(dp, scratch.F)
            ends.append(scratch.F.copy())
        columns.append((ends[0] - ends[1]) / (2 * step))
    dF = np.array(columns).T
    is_held = np.ones(dp.n, bool)
    is_held[free] = False
    assert is_held.any()
    np.testing.assert_allclose(dF[is_held], np.eye(dp.n)[is_held], atol=2e-6)
    np.testing.assert_allclose(dF[np.ix_(free, free)], M, atol=2e-6)
    np.testing.assert_array_equal(held[is_held], F[is_held])
    np.testing.assert_allclose(F[free] - dF[free] @ held, right, atol=2e-6)


@pytest.mark.parametrize("dependent", [0, 1])
@pytest.mark.parametrize("kind", [FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON])
@pytest.mark.parametrize("rank", [None, 9])
def test_ends_at_the_law(kind, rank, dependent):
    solved = 0
    for seed in range(20):
        dp = random_problem(seed, kind, 4 + 3 * dependent, rank=rank, dependent=dependent)
        project_guess(dp)
        status, _ = newton(dp, make_newton(dp.n), 200, 1e-11)
        solved += status == STOPPED_TOLERANCE
    # a local method from a random guess; solve_proximal_newton gives it a better one
    assert solved >= 14


def test_never_worse_than_the_guess():
    from cardan.engine.solvers.direct.dense_problem import dense_residual, write_velocities

    for seed in range(30):
        dp = random_problem(seed, FRICTION_CONE, rank=5)
        project_guess(dp)
        write_velocities(dp)
        before = dense_residual(dp)
        newton(dp, make_newton(16), 5, 1e-14)
        assert dense_residual(dp) <= before * (1 + 1e-12)
