"""Pivoting against enumeration, bounded least squares, and the conditions themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from cardan.engine.world.report import STOPPED_EXACT, STOPPED_NO_SOLUTION
from tests.engine.solvers.box_lcp import solve_box_lcp


def enumerate_solution(A, b, lo, hi):
    """First of all 3^n guesses "on lo, inside, on hi" that satisfies the law; None if none does."""
    n = len(b)
    for sets in itertools.product((-1, 0, 1), repeat=n):
        state = np.array(sets)
        if np.isinf(lo[state < 0]).any() or np.isinf(hi[state > 0]).any():
            continue
        lam = np.where(state < 0, lo, np.where(state > 0, hi, 0.0))
        inside = np.flatnonzero(state == 0)
        if len(inside):
            block = A[np.ix_(inside, inside)]
            if np.linalg.cond(block) > 1e12:
                continue
            lam[inside] = np.linalg.solve(block, -b[inside] - A[inside] @ np.where(state, lam, 0))
        w = A @ lam + b
        free = (lam[inside] >= lo[inside]) & (lam[inside] <= hi[inside])
        if free.all() and (w[state < 0] >= 0).all() and (w[state > 0] <= 0).all():
            return lam
    return None


def random_bounds(rng, n):
    """Boxes of every kind: two-sided, one-sided, none, given."""
    lo, hi = -rng.exponential(size=n), rng.exponential(size=n)
    kind = rng.integers(0, 6, n)
    lo[(kind == 1) | (kind == 3)] = -np.inf
    hi[(kind == 2) | (kind == 3)] = np.inf
    lo[kind == 4], hi[kind == 4] = 0.0, np.inf
    hi[kind == 5] = lo[kind == 5]
    return lo, hi


@pytest.mark.parametrize("n", range(1, 8))
def test_same_answer_as_enumeration(n):
    rng = np.random.default_rng(n)
    for _ in range(12 if n < 7 else 3):
        B = rng.normal(size=(n, n + 1))
        A, b = B @ B.T, rng.normal(size=n)
        lo, hi = random_bounds(rng, n)
        solution = solve_box_lcp(A, b, lo, hi)
        assert solution.status == STOPPED_EXACT
        assert solution.residual < 1e-12 * max(1.0, np.abs(A).max() * np.abs(solution.lam).max())
        np.testing.assert_allclose(solution.lam, enumerate_solution(A, b, lo, hi), atol=1e-8)


@pytest.mark.parametrize("n", [10, 40, 120])
def test_same_answer_as_bounded_least_squares(n):
    """min |B lam + c|^2 in a box has the law as its conditions, A = B^T B, b = B^T c."""
    rng = np.random.default_rng(n)
    B, c = rng.normal(size=(n + 10, n)), rng.normal(size=n + 10)
    lo, hi = -rng.exponential(0.05, n), rng.exponential(0.05, n)
    solution = solve_box_lcp(B.T @ B, B.T @ c, lo, hi)
    reference = lsq_linear(B, -c, (lo, hi), method="bvls", tol=1e-14)
    assert solution.residual < 1e-12 * n
    np.testing.assert_allclose(solution.lam, reference.x, atol=1e-9)


@pytest.mark.parametrize(("n", "rank"), [(4, 3), (6, 2), (12, 5), (40, 10), (60, 30)])
def test_dependent_rows(n, rank):
    """Semi-definite and consistent (b in the range of A): solvable, w unique, lam not."""
    rng = np.random.default_rng(100 * n + rank)
    for _ in range(20):
        B = rng.normal(size=(n, rank))
        A, b = B @ B.T, B @ rng.normal(size=rank)
        lo, hi = random_bounds(rng, n)
        solution = solve_box_lcp(A, b, lo, hi)
        assert solution.status == STOPPED_EXACT
        assert solution.residual < 2e-12 * max(1.0, np.abs(A).max())
        other = solve_box_lcp(A, b, lo, hi, guess=rng.normal(size=n))
        np.testing.assert_allclose(solution.w, other.w, atol=1e-10 * n)


def test_degenerate_lattice_does_not_cycle():
    """Many equal rows and zero speeds: every ratio test ties."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        n = 14
        B = rng.integers(-1, 2, (n, 5)).astype(float)
        A = B @ B.T
        b = B @ rng.integers(-1, 2, 5).astype(float)
        solution = solve_box_lcp(A, b, 0.0, rng.choice([1.0, np.inf], n))
        assert solution.status == STOPPED_EXACT
        assert solution.residual < 1e-11


def test_redundant_equations_give_the_same_velocities():
    rng = np.random.default_rng(9)
    J = rng.normal(size=(5, 9))
    c = rng.normal(size=9)
    lo = np.array([-np.inf, -np.inf, 0.0, 0.0, -1.0])
    hi = np.array([np.inf, np.inf, np.inf, np.inf, 1.0])
    copies = [0, 1, 0, 1, 0, 2, 3, 4]
    single = solve_box_lcp(J @ J.T, J @ c, lo, hi)
    double = solve_box_lcp(
        (J @ J.T)[np.ix_(copies, copies)], (J @ c)[copies], lo[copies], hi[copies]
    )
    assert double.status == STOPPED_EXACT
    np.testing.assert_allclose(double.w, single.w[copies], atol=1e-12)


def test_contradiction_is_reported_and_the_rest_is_solved():
    """Rows 0 and 1 ask for opposite speeds of the same thing; row 2 minds its own business."""
    A = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 2]])
    solution = solve_box_lcp(A, [1.0, -1.0, -4.0], -np.inf, np.inf)
    assert solution.status == STOPPED_NO_SOLUTION
    assert solution.residual == pytest.approx(2.0)
    assert solution.lam[2] == pytest.approx(2.0)


def test_a_row_that_cannot_move_keeps_still():
    solution = solve_box_lcp(np.diag([0.0, 1.0]), [0.5, -1.0], 0.0, np.inf)
    assert solution.status == STOPPED_EXACT
    np.testing.assert_allclose(solution.lam, [0.0, 1.0])


def test_a_good_guess_needs_no_pivots():
    rng = np.random.default_rng(10)
    B = rng.normal(size=(30, 40))
    A, b = B @ B.T, rng.normal(size=30)
    cold = solve_box_lcp(A, b, 0.0, np.inf)
    warm = solve_box_lcp(A, b, 0.0, np.inf, guess=cold.lam)
    assert warm.iterations <= 2 < cold.iterations
    np.testing.assert_allclose(warm.lam, cold.lam, atol=1e-12)


@pytest.mark.parametrize("method", ["newton", "gauss_seidel"])
def test_other_methods_find_the_same_lam(method):
    rng = np.random.default_rng(11)
    B = rng.normal(size=(15, 60))
    A, b = B @ B.T, 10.0 * rng.normal(size=15)
    lo, hi = random_bounds(rng, 15)
    exact = solve_box_lcp(A, b, lo, hi)
    found = solve_box_lcp(A, b, lo, hi, method)
    np.testing.assert_allclose(found.lam, exact.lam, atol=1e-10)
