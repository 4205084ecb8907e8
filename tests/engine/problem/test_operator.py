"""The operator and the matrix are the same A."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.operator import body_velocities, row_velocity
from tests.engine.problem.matrix import dense_matrix
from tests.engine.solvers.problems import chain, dense_scratch, pile, tower, velocity_scratch

PROBLEMS = {
    "tower": lambda: tower(3),
    "pile": lambda: pile(15, 30),
    "chain": lambda: chain(5, 4),
    "redundant chain": lambda: chain(4, 3, redundant=True),
}


def soften(problem, rng):
    """Compliance on every other row."""
    n = problem.count[0]
    extra = rng.uniform(0, 0.1, n) * (np.arange(n) % 2)
    problem.cfm[:n] += extra
    problem.diagonal[:n] += extra
    return problem


@pytest.mark.parametrize("name", PROBLEMS)
def test_operator_and_matrix_agree(name):
    rng = np.random.default_rng(3)
    problem = soften(PROBLEMS[name](), rng)
    n = problem.count[0]
    problem.lam[:n] = rng.normal(size=n)
    dense, v = dense_scratch(n + 3), velocity_scratch(problem)
    dense_matrix(problem, dense)
    body_velocities(problem, v)
    by_operator = [row_velocity(problem, v, i) for i in range(n)]
    by_matrix = dense.S[:n, :n] @ problem.lam[:n] + problem.b[:n]
    np.testing.assert_allclose(by_operator, by_matrix, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_matrix_is_symmetric_and_positive_semidefinite(name):
    problem = PROBLEMS[name]()
    n = problem.count[0]
    dense = dense_scratch(n)
    dense_matrix(problem, dense)
    A = dense.S[:n, :n]
    assert np.array_equal(A, A.T)
    assert np.linalg.eigvalsh(A).min() > -1e-12 * np.diag(A).max()


def test_velocities_are_those_of_newtons_law():
    """M v = J^T lam: the momentum that bodies gain is the sum of their impulses."""
    problem = tower(2)
    n = problem.count[0]
    problem.lam[:n] = np.random.default_rng(1).normal(size=n)
    v = velocity_scratch(problem)
    body_velocities(problem, v)
    impulse = np.zeros_like(v)
    for i in range(n):
        impulse[problem.body_a[i]] += problem.J_a[i] * problem.lam[i]
        impulse[problem.body_b[i]] += problem.J_b[i] * problem.lam[i]
    mass = np.array([1 / 6, 1 / 6, 1 / 6, 1, 1, 1])
    np.testing.assert_allclose(v[:2] * mass, impulse[:2], atol=1e-13)
    assert not v[2].any(), "the world moved"
