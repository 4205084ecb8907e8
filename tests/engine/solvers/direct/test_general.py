"""Systems without structure: solutions of NumPy, and what is singular."""

import numpy as np
import pytest

from cardan.engine.solvers.direct.general import solve_general


@pytest.mark.parametrize("room", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 13])
def test_general_system(n, room):
    rng = np.random.default_rng(4)
    # what is beside the system in its memory is never read
    M = np.full((n + room, n + room), np.nan)
    M[:n, :n] = rng.normal(size=(n, n))
    M[0, 0] = 0.0 if n > 1 else 2.0
    M[n // 2, 1:2] = 0.0 if n > 2 else M[n // 2, 1:2]
    x = rng.normal(size=n)
    expected = np.linalg.solve(M[:n, :n], x)
    assert solve_general(M, n, x)
    np.testing.assert_allclose(x, expected, rtol=1e-10)


def test_singular_systems_are_refused():
    assert not solve_general(np.zeros((3, 3)), 3, np.ones(3))
    twice = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 5.0]])
    assert not solve_general(twice, 3, np.ones(3))
    assert not solve_general(np.full((2, 2), np.nan), 2, np.ones(2))
