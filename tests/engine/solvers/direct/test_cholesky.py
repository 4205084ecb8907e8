"""The factor after any history of rows in and out is the factor of the rows that are in."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.complementarity.pivots import make_pivots
from cardan.engine.solvers.direct.cholesky import (
    DEPENDENT,
    add_row,
    remove_row,
    solve_factor,
)


def positive_matrix(rng, n, rank=None):
    B = rng.normal(size=(n, rank or 2 * n))
    return B @ B.T


def check(A, factor):
    k = factor.size[0]
    order = factor.order[:k]
    L = np.tril(factor.L[:k, :k])
    np.testing.assert_allclose(L @ L.T, A[np.ix_(order, order)], atol=1e-9 * np.abs(A).max())
    rhs = np.arange(1.0, len(A) + 1)
    x = rhs.copy()
    solve_factor(factor, x)
    np.testing.assert_allclose(A[np.ix_(order, order)] @ x[:k], rhs[:k], atol=1e-7)


def test_rows_in_and_out_in_any_order():
    rng = np.random.default_rng(0)
    A = positive_matrix(rng, 12)
    factor = make_pivots(12).factor
    factor.L[:] = np.nan
    outside = list(range(12))
    for _ in range(200):
        k = factor.size[0]
        if outside and (k == 0 or rng.random() < 0.55):
            row = outside.pop(rng.integers(len(outside)))
            assert add_row(A, row, DEPENDENT, factor)
        else:
            position = int(rng.integers(k))
            outside.append(int(factor.order[position]))
            remove_row(position, factor)
        check(A, factor)


def test_first_columns_stay_true_through_a_banded_history():
    """Zeros left of `first` are never read: they hold NaN here."""
    rng = np.random.default_rng(1)
    n = 15
    A = positive_matrix(rng, n)
    A[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 2] = 0.0
    A += 10.0 * n * np.eye(n)
    factor = make_pivots(n).factor
    for row in range(n):
        assert add_row(A, row, DEPENDENT, factor)
    for position in (4, 0, 7, 3):
        remove_row(position, factor)
        check(A, factor)
    for row in (7, 0, 4):
        if row not in factor.order[: factor.size[0]]:
            assert add_row(A, row, DEPENDENT, factor)
            check(A, factor)


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_as_many_rows_enter_as_the_rank_allows(rank):
    rng = np.random.default_rng(rank)
    A = positive_matrix(rng, 10, rank)
    factor = make_pivots(10).factor
    entered = [add_row(A, row, DEPENDENT, factor) for row in range(10)]
    assert sum(entered) == rank
    assert all(entered[:rank])


def test_row_of_zeros_is_refused():
    factor = make_pivots(2).factor
    assert not add_row(np.zeros((2, 2)), 0, DEPENDENT, factor)
