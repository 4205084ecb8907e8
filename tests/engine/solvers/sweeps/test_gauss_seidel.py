"""The classic iterations: their limit, their rate, and the three rules that end them."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_STALLED, STOPPED_TOLERANCE
from tests.engine.solvers.box_lcp import solve_box_lcp

N = 20
POISSON = 2.0 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)
ANGLE = np.pi / (N + 1)


def iterate(method, sweeps, guess, relaxation=1.0, rhs=None):
    rules = StoppingRules(sweeps, -1.0, -1.0)
    b = np.zeros(N) if rhs is None else rhs
    return solve_box_lcp(POISSON, b, -np.inf, np.inf, method, rules, relaxation, guess).lam


@pytest.mark.parametrize("method", ["jacobi", "gauss_seidel"])
def test_linear_system_is_solved(method):
    b = np.random.default_rng(0).normal(size=N)
    rules = StoppingRules(20_000, 1e-13, -1.0)
    solution = solve_box_lcp(POISSON, b, -np.inf, np.inf, method, rules)
    np.testing.assert_allclose(solution.lam, np.linalg.solve(POISSON, -b), atol=1e-10)
    assert solution.status == STOPPED_TOLERANCE


@pytest.mark.law
@pytest.mark.parametrize(
    ("method", "relaxation", "rate"),
    [
        ("jacobi", 1.0, np.cos(ANGLE)),
        ("gauss_seidel", 1.0, np.cos(ANGLE) ** 2),
        ("gauss_seidel", 2 / (1 + np.sin(ANGLE)), 2 / (1 + np.sin(ANGLE)) - 1),
    ],
)
def test_error_shrinks_by_the_spectral_radius(method, relaxation, rate):
    """Young's theory for the Laplacian of n points: cos, cos^2 and omega - 1 per sweep."""
    iteration = np.column_stack([iterate(method, 1, column, relaxation) for column in np.eye(N)])
    radius = np.abs(np.linalg.eigvals(iteration)).max()
    # the best relaxation makes a double eigenvalue: it moves by the root of the rounding
    assert radius == pytest.approx(rate, abs=1e-6)


def test_one_gauss_seidel_sweep_is_a_triangular_solve():
    rng = np.random.default_rng(1)
    x, b = rng.normal(size=N), rng.normal(size=N)
    expected = np.linalg.solve(np.tril(POISSON), -b - np.triu(POISSON, 1) @ x)
    np.testing.assert_allclose(iterate("gauss_seidel", 1, x, rhs=b), expected, atol=1e-13)


def test_one_jacobi_sweep_divides_by_the_diagonal():
    rng = np.random.default_rng(2)
    x, b = rng.normal(size=N), rng.normal(size=N)
    expected = (-b - (POISSON - 2 * np.eye(N)) @ x) / 2
    np.testing.assert_allclose(iterate("jacobi", 1, x, rhs=b), expected, atol=1e-13)


def test_three_rules_stop():
    b = np.ones(N)

    def run(*rules):
        return solve_box_lcp(POISSON, b, -np.inf, np.inf, "gauss_seidel", StoppingRules(*rules))

    counted = run(7, -1.0, -1.0)
    assert (counted.status, counted.iterations) == (STOPPED_MAX_ITERATIONS, 7)
    by_residual = run(5000, 1e-6, -1.0)
    assert by_residual.status == STOPPED_TOLERANCE
    assert by_residual.residual <= 1e-6
    assert run(by_residual.iterations - 1, -1.0, -1.0).residual > 1e-6
    by_step = run(5000, -1.0, 1e-6)
    assert by_step.status == STOPPED_STALLED
    before = run(by_step.iterations - 1, -1.0, -1.0)
    assert 2.0 * np.abs(by_step.lam - before.lam).max() <= 1e-6
    assert by_step.iterations < 5000


@pytest.mark.parametrize("method", ["jacobi", "gauss_seidel"])
def test_projected_iterations_reach_the_pivoting_answer(method):
    rng = np.random.default_rng(3)
    b, lo, hi = rng.normal(size=N), -rng.uniform(0, 1, N), rng.uniform(0, 1, N)
    exact = solve_box_lcp(POISSON, b, lo, hi)
    rules = StoppingRules(50_000, 1e-13, -1.0)
    found = solve_box_lcp(POISSON, b, lo, hi, method, rules)
    np.testing.assert_allclose(found.lam, exact.lam, atol=1e-10)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="symmetric"):
        solve_box_lcp([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0], 0.0, 1.0)
    with pytest.raises(ValueError, match="shape"):
        solve_box_lcp(np.eye(3), [0.0, 0.0], 0.0, 1.0)
    with pytest.raises(ValueError, match="lo > hi"):
        solve_box_lcp(np.eye(1), [0.0], 2.0, 1.0)
    with pytest.raises(ValueError, match="lemke"):
        solve_box_lcp(np.eye(1), [0.0], 0.0, 1.0, "lemke")
