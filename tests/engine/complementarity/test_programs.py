"""Linear and quadratic programs against SciPy's own."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from cardan.engine.complementarity import ProblemError, solve_lp, solve_qp

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, n=st.integers(1, 6), m=st.integers(0, 5), k=st.integers(0, 2))
def test_linear_programs(seed, n, m, k):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=n)
    A_ub, b_ub = rng.normal(size=(m, n)), rng.normal(size=m)
    A_eq = rng.normal(size=(min(k, n), n))
    b_eq = A_eq @ rng.uniform(0, 1, n)
    lo, hi = np.zeros(n), np.where(rng.uniform(size=n) < 0.5, np.inf, 2.0)
    ours = solve_lp(c, A_ub, b_ub, A_eq, b_eq, (lo, hi))
    theirs = scipy.optimize.linprog(
        c, A_ub, b_ub, A_eq, b_eq, list(zip(lo, hi, strict=True)), method="highs"
    )
    verdicts = {0: "optimal", 2: "infeasible", 3: "unbounded"}
    assert ours.verdict == verdicts[theirs.status]
    if theirs.status == 0:
        assert ours.objective == pytest.approx(theirs.fun, abs=1e-8)
        assert (A_ub @ ours.x - b_ub).max(initial=0.0) < 1e-9
        assert np.abs(A_eq @ ours.x - b_eq).max(initial=0.0) < 1e-9
        # strong duality
        gap = c @ ours.x + ours.y_ub @ b_ub + ours.y_eq @ b_eq
        multipliers = ours.solution.x[n + m : n + m + np.isfinite(hi).sum()]
        assert gap + multipliers @ hi[np.isfinite(hi)] == pytest.approx(0.0, abs=1e-7)


def test_equations_said_twice():
    p = solve_lp([1.0, 2.0], A_eq=[[1.0, 1.0], [2.0, 2.0]], b_eq=[1.0, 2.0])
    assert p.verdict == "optimal"
    assert p.objective == pytest.approx(1.0)
    assert solve_lp([1.0, 2.0], A_eq=[[1.0, 1.0], [2.0, 2.0]], b_eq=[1.0, 3.0]).verdict == (
        "infeasible"
    )


@given(seed=SEEDS, n=st.integers(1, 5), m=st.integers(0, 4))
def test_quadratic_programs(seed, n, m):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    P, c = B @ B.T + 0.1 * np.eye(n), rng.normal(size=n)
    A_ub = rng.normal(size=(m, n))
    b_ub = A_ub @ rng.normal(size=n) + rng.uniform(0, 1, m)
    ours = solve_qp(P, c, A_ub, b_ub)
    assert ours.verdict == "optimal"
    theirs = scipy.optimize.minimize(
        lambda x: 0.5 * x @ P @ x + c @ x,
        np.zeros(n),
        jac=lambda x: P @ x + c,
        constraints=[{"type": "ineq", "fun": lambda x: b_ub - A_ub @ x, "jac": lambda x: -A_ub}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert ours.objective <= theirs.fun + 1e-8 * (1.0 + abs(theirs.fun))
    assert (A_ub @ ours.x - b_ub).max(initial=0.0) < 1e-8
    if theirs.success:
        assert ours.objective == pytest.approx(theirs.fun, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("cost", "row", "bound"), [(1e-3, 0.1, 1e5), (1e3, 1e-5, 1.0)])
def test_units_of_a_program_make_no_difference(cost, row, bound):
    """In units of its own a tolerance is a share of costs and of bounds alike."""
    verdicts = set()
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, m, k = rng.integers(2, 8), rng.integers(1, 8), rng.integers(0, 3)
        c, A, b = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m)
        E, e = rng.normal(size=(k, n)), np.zeros(k)
        plain = solve_lp(c, A, b, E, e)
        other = solve_lp(cost * c, row * A, bound * b, E, e)
        assert other.verdict == plain.verdict
        verdicts.add(plain.verdict)
        if plain.verdict == "optimal":
            size = cost * bound / row
            assert other.objective == pytest.approx(
                size * plain.objective, rel=1e-8, abs=1e-9 * size
            )
            assert other.solution.residual <= 1e-9 * max(cost, bound)
    assert verdicts == {"optimal", "infeasible", "unbounded"}


def test_unbounded_and_flat_programs():
    assert solve_qp([[0.0]], [-1.0]).verdict == "unbounded"
    flat = solve_qp([[1.0, 0.0], [0.0, 0.0]], [-1.0, 0.0], bounds=(0.0, 1.0))
    assert flat.verdict == "optimal"
    assert flat.objective == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: solve_qp([[-1.0]], [1.0]), "P"),
        (lambda: solve_qp([[1.0, 1.0], [0.0, 1.0]], [1.0, 1.0]), "P"),
        (lambda: solve_lp([1.0], [[1.0, 2.0]], [1.0]), "A_ub"),
        (lambda: solve_lp([1.0], b_eq=[1.0]), "A_eq"),
        (lambda: solve_lp([1.0], bounds=(1.0, 0.0)), "bounds"),
    ],
)
def test_what_is_no_program_is_refused(call, where):
    with pytest.raises(ProblemError) as caught:
        call()
    assert caught.value.where == where
