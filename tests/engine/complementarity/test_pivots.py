"""Exchanging rows, and Lemke's method on what is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardan.engine.complementarity import Stopped, problem, solve
from cardan.engine.complementarity.paths import exchange
from cardan.engine.complementarity.pivots import enumerate_cases


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), k=st.integers(0, 8))
def test_exchanged_rows_say_the_same(seed, n, k):
    rng = np.random.default_rng(seed)
    A, b, x = rng.normal(size=(n, n)) + 4.0 * np.eye(n), rng.normal(size=n), rng.normal(size=n)
    R = rng.permutation(n)[: min(k, n)]
    w = A @ x + b
    T, t = exchange(A, b, R)
    known, expected = x.copy(), w.copy()
    known[R], expected[R] = w[R], x[R]
    np.testing.assert_allclose(T @ known + t, expected, atol=1e-9)


def test_equations_that_lean_on_other_rows():
    """The equations' own block is 0: only with a row beside them do they determine anything."""
    M = np.array([[0.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 2.0]])
    asked = problem(M, [-1.0, 0.0, -0.5], [-np.inf, 0.0, 0.0], [np.inf] * 3)
    s = solve(asked, "lemke")
    assert s.stopped is Stopped.EXACT
    assert s.w[0] == pytest.approx(0.0, abs=1e-14)
    assert np.abs(np.minimum(s.x, s.w)[1:]).max() < 1e-14


def test_cases_find_what_the_path_misses():
    """Lemke's path ends on a ray, the answer exists."""
    M, q = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([-1.0, -1.0])
    asked = problem(-M, -q, [0.0, 0.0], [np.inf, np.inf])
    x = enumerate_cases(asked, np.zeros(2, bool), np.zeros(2, bool))
    assert x is not None
    w = -M @ x - q
    assert np.abs(np.minimum(x, w)).max() < 1e-12
