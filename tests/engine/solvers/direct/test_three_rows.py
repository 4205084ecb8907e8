"""Blocks by three rows at once, beside NumPy: L D L^T, and what is solved with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from cardan.engine.solvers.direct.three_rows import (
    divide,
    factor_six,
    factor_three,
    subtract_narrow,
    subtract_wide,
)

SIZE = 6


def block(dice: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A block as a factor keeps it: what it does not have is zero."""
    whole = np.zeros((SIZE, SIZE))
    whole[:rows, :columns] = dice.normal(size=(rows, columns))
    return whole


def factored(dice: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A positive definite matrix (n, n), its unit lower triangle L and D^-1."""
    B = dice.normal(size=(n, 2 * n))
    A, C = B @ B.T, np.zeros((SIZE, SIZE))
    C[:n, :n] = A
    inverse, scale = np.zeros(SIZE), np.diag(C).copy()
    if n > 3:
        factor_six(C, inverse, scale, 1e-13)
    else:
        factor_three(C, inverse, scale, 0, 1e-13)
    return A, np.tril(C[:n, :n], -1) + np.eye(n), inverse


@pytest.mark.parametrize("n", range(1, SIZE + 1))
def test_factors_multiply_to_the_matrix(n: int) -> None:
    A, L, inverse = factored(np.random.default_rng(n), n)
    np.testing.assert_allclose(L @ np.diag(1.0 / inverse[:n]) @ L.T, A, rtol=1e-12, atol=1e-12)
    assert not inverse[n:].any()


@pytest.mark.parametrize("row", range(SIZE))
def test_a_row_that_depends_on_others_has_no_pivot(row: int) -> None:
    dice = np.random.default_rng(row)
    J = dice.normal(size=(SIZE, SIZE))
    J[row] = dice.normal(size=row) @ J[:row] if row > 0 else 0.0
    C, inverse = J @ J.T, np.ones(SIZE)
    factor_six(C, inverse, np.diag(J @ J.T).copy(), 1e-10)
    assert [k for k in range(SIZE) if inverse[k] == 0.0] == [row]


@pytest.mark.parametrize("columns", range(1, SIZE + 1))
@pytest.mark.parametrize("n", range(1, SIZE + 1))
def test_columns_are_divided(n: int, columns: int) -> None:
    dice = np.random.default_rng(SIZE * n + columns)
    _, L, _ = factored(dice, n)
    C = np.zeros((SIZE, SIZE))
    C[:n, :n] = L
    X = block(dice, n, columns)
    wanted = scipy.linalg.solve_triangular(L, X[:n], lower=True, unit_diagonal=True)
    divide(C, n, columns, X)
    np.testing.assert_allclose(X[:n], wanted, rtol=1e-12, atol=1e-12)
    assert not X[n:].any()


@pytest.mark.parametrize("columns", range(1, SIZE + 1))
@pytest.mark.parametrize("rows", range(1, SIZE + 1))
@pytest.mark.parametrize("n", range(1, SIZE + 1))
def test_products_are_subtracted(n: int, rows: int, columns: int) -> None:
    dice = np.random.default_rng(SIZE * (SIZE * n + rows) + columns)
    X, Y, Z = block(dice, n, rows), block(dice, n, columns), block(dice, rows, columns)
    w = dice.normal(size=SIZE)
    wanted = Z - X.T @ np.diag(w) @ Y
    weights = tuple(w[:3].tolist()), tuple(w[3:].tolist())
    if columns <= 4:
        subtract_narrow(X, Y, n, weights, rows, Z)
    else:
        subtract_wide(X, Y, n, weights, (0, rows), Z)
    np.testing.assert_allclose(Z, wanted, rtol=1e-12, atol=1e-12)
