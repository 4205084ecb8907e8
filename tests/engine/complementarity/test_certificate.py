"""Every `no_solution` is proved: by a y that is checked here from the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from cardan.engine.complementarity import (
    Stopped,
    excess,
    infeasibility,
    problem,
    solve_box_lcp,
    solve_cone,
    solve_lcp,
    solve_linear,
    solve_mixed_lcp,
)
from tests.engine.complementarity.singular import KINDS, with_solution


def refutes(y, A, b, lo, hi):
    """Whether y w >= 0 for every w of the law while y (A x + b) < 0 for every x in the bounds."""
    low, high = np.isfinite(lo), np.isfinite(hi)
    signs = np.all(y[low] >= 0.0) and np.all(y[high] <= 0.0)
    slope, rounding = A.T @ y, 1e-11 * (np.abs(A).T @ np.abs(y))
    rises, falls = slope > rounding, slope < -rounding
    if not signs or np.any(rises & ~high) or np.any(falls & ~low):
        return False
    return y @ b + slope[rises] @ hi[rises] + slope[falls] @ lo[falls] < 0.0


def linear_part_is_feasible(A, b, lo, hi):
    """Whether linprog finds x in the bounds with w of the signs that the law asks."""
    low, high = np.isfinite(lo), np.isfinite(hi)
    above, below, zero = low & ~high, high & ~low, ~low & ~high
    return scipy.optimize.linprog(
        np.zeros(len(b)),
        A_ub=np.vstack([-A[above], A[below]]),
        b_ub=np.concatenate([b[above], -b[below]]),
        A_eq=A[zero],
        b_eq=-b[zero],
        bounds=np.column_stack([lo, hi]),
    ).success


@pytest.mark.parametrize("kind", KINDS)
def test_no_solution_is_proved_and_only_said_then(kind):
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, equations = KINDS[kind](rng)
        b, lo, hi = with_solution(rng, A, equations, boxed=seed % 3 == 0)
        b = b + rng.normal(size=len(b)) * (rng.random(len(b)) < 0.4)
        found = solve_box_lcp(A, b, lo, hi)
        proved = found.stopped is Stopped.NO_SOLUTION
        assert proved == (found.certificate is not None)
        said += proved
        if proved:
            assert refutes(found.certificate, A, b, lo, hi), seed
        assert proved == (not linear_part_is_feasible(A, b, lo, hi)), seed
        if kind != "any":
            # of monotone problems feasible means solvable
            assert proved or found.solved, seed
    assert said >= 5


def test_contradictions_of_equations():
    A, b = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    found = solve_linear(A, b)
    assert found.stopped is Stopped.NO_SOLUTION
    assert np.abs(A.T @ found.certificate).max() < 1e-14
    # solve_linear's w is A x - b
    assert found.certificate @ -b < 0.0


def test_a_circuit_whose_sources_do_not_balance():
    """Without earth as much current must enter as leaves: y = 1 in every node."""
    A = np.array([[0.5, -0.5, 1.0], [-0.5, 0.5, -1.0], [-1.0, 1.0, 0.0]])
    found = solve_mixed_lcp(A, [-1.0, 0.9, 1.0], [0, 1])
    assert found.stopped is Stopped.NO_SOLUTION
    y = found.certificate
    assert y == pytest.approx([1.0, 1.0, 0.0])


def test_a_ray_alone_proves_nothing():
    """Feasible, not monotone, and yet unsolvable: no proof is claimed."""
    # w1 = x2 - 1 and w2 = 1: w2 > 0 asks x2 = 0, and then w1 < 0
    found = solve_lcp([[0.0, 1.0], [0.0, 0.0]], [-1.0, 1.0])
    assert found.stopped is Stopped.NOT_FOUND
    assert found.certificate is None
    assert not found.solved


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_contacts_that_nothing_keeps_apart(dimension, law):
    """A contact that closes, and nothing of infinite mass that an impulse could part."""
    W = np.diag([0.0, *[1.0] * (dimension - 1)])
    q = np.array([-1.0, *[0.3] * (dimension - 1)])
    found = solve_cone(W, q, [0.5], dimension=dimension, law=law)
    assert found.stopped is Stopped.NO_SOLUTION
    y = found.certificate
    assert y is not None
    assert y[0] > 0.0
    assert np.linalg.norm(y[1:]) <= 0.5 * y[0]
    slope = W.T @ y
    assert -slope[0] >= 0.5 * np.linalg.norm(slope[1:]) - 1e-12
    assert y @ q < 0.0


def test_what_is_nearly_a_proof_is_none():
    """A regular block, however small, has an answer; y must not pass for a proof."""
    for small in (1e-6, 1e-9, 1e-11):
        A, b = np.diag([1.0, small]), np.array([1.0, 1.0])
        asked = problem(A, b, [-np.inf, -np.inf], [np.inf, np.inf])
        assert excess(asked, np.array([0.0, -1.0])) == np.inf
        assert infeasibility(asked) is None
        assert solve_linear(A, b).solved


def test_signs_are_looked_at():
    asked = problem([[-1.0]], [-1.0], [0.0], [np.inf])
    assert excess(asked, np.array([1.0])) == -1.0
    assert excess(asked, np.array([-1.0])) == np.inf
    assert infeasibility(asked) == pytest.approx([1.0])
