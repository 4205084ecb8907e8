"""Solvable problems with singular equations are solved, or at least never called unsolvable."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from cardan.engine.complementarity import (
    Stopped,
    solve_box_lcp,
    solve_cone,
    solve_lcp,
    solve_linear,
    solve_mixed_lcp,
)
from tests.engine.complementarity.singular import KINDS, floating_circuit, with_solution


def misfit(x, w, lo, hi):
    """Largest violation of lo <= x <= hi and of the signs of w, without the solver's measure."""
    on_lo, on_hi = np.maximum(x - lo, 0.0), np.maximum(hi - x, 0.0)
    outside = np.maximum(lo - x, x - hi).max()
    pushes = np.minimum(on_lo, np.maximum(w, 0.0)), np.minimum(on_hi, np.maximum(-w, 0.0))
    return max(outside, pushes[0].max(), pushes[1].max())


def test_a_circuit_without_earth():
    """A source drives 1 A through a diode and 2 ohm; potentials are known but for a constant."""
    A = np.array([[0.5, -0.5, 1.0], [-0.5, 0.5, -1.0], [-1.0, 1.0, 0.0]])
    b = np.array([-1.0, 1.0, 1.0])
    found = solve_mixed_lcp(A, b, [0, 1])
    assert found.solved
    assert found.x[0] - found.x[1] == pytest.approx(1.0)
    assert found.x[2] == pytest.approx(0.5)
    assert np.abs(A @ found.x + b).max() < 1e-14


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "any"])
@pytest.mark.parametrize("boxed", [False, True])
def test_monotone_problems_are_solved(kind, boxed):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, equations = KINDS[kind](rng)
        b, lo, hi = with_solution(rng, A, equations, boxed)
        for method in ("auto", "lemke"):
            found = solve_box_lcp(A, b, lo, hi, method=method)
            assert found.solved, (seed, method, found.stopped)
            assert misfit(found.x, A @ found.x + b, lo, hi) <= 1e-8 * max(np.abs(b).max(), 1e-3)


def test_what_is_not_monotone_is_solved_or_not_found():
    solved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        A, equations = KINDS["any"](rng)
        b, lo, hi = with_solution(rng, A, equations, boxed=seed % 2 == 1)
        found = solve_box_lcp(A, b, lo, hi)
        assert found.stopped in (Stopped.EXACT, Stopped.TOLERANCE, Stopped.NOT_FOUND), seed
        assert found.certificate is None
        solved += found.solved
    assert solved >= 59


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_change_nothing(scale):
    """Volts or kilovolts, in rows and columns."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, equations = floating_circuit(rng, 5, 4)
        b, lo, hi = with_solution(rng, A, equations)
        D = np.diag(np.where(np.isinf(lo), scale, 1.0))
        found = solve_box_lcp(D @ A @ D, D @ b, lo, hi)
        assert found.stopped is not Stopped.NO_SOLUTION, seed


@pytest.mark.parametrize("noise", [0.0, 1e-17, 1e-16])
def test_singular_systems_with_rounding(noise):
    """Elimination sees rounding for a pivot and answers with huge numbers; x = (1, ..., 1) fits."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 20))
        rank = int(rng.integers(1, n))
        A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)) + noise * rng.normal(
            size=(n, n)
        )
        found = solve_linear(A, A @ np.ones(n))
        assert found.solved, seed
        assert np.abs(A @ (found.x - 1.0)).max() <= 1e-8 * np.abs(A).sum(axis=1).max()


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_redundant_contacts_are_solved(law, dimension):
    """Twice as many contacts as the rank of W needs, with b in its range (bodies that move)."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = 6 * dimension
        J = rng.normal(size=(n, n // 2))
        W, q = J @ J.T, J @ rng.normal(size=n // 2)
        found = solve_cone(W, q, np.full(6, 0.3), dimension=dimension, law=law, tolerance=1e-7)
        assert found.stopped is not Stopped.NO_SOLUTION
        assert found.certificate is None


def test_lcps_of_low_rank_are_solved():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, _ = KINDS["low rank, skew"](rng)
        b, lo, hi = with_solution(rng, A, np.zeros(0, int))
        found = solve_lcp(scipy.sparse.csr_matrix(A), b)
        assert found.solved, seed
        assert misfit(found.x, A @ found.x + b, lo, hi) <= 1e-8 * max(np.abs(b).max(), 1e-3)
