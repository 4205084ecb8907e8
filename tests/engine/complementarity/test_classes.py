"""Every class of problems against SciPy, every method against the others, every refusal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from cardan.engine.complementarity import (
    METHODS,
    ProblemError,
    Stopped,
    problem,
    solve,
    solve_box_lcp,
    solve_cone,
    solve_lcp,
    solve_linear,
    solve_mixed_lcp,
)
from cardan.engine.complementarity.measure import nearest_in_cones
from cardan.engine.problem.projection import project_cone

SEEDS = st.integers(0, 2**32 - 1)
BOX_METHODS = sorted(set(METHODS) - {"direct"})
CONE_METHODS = sorted(set(METHODS) - {"direct", "lemke", "pivoting"})


def positive_matrix(rng, n, floor=0.3):
    """A symmetric positive definite matrix."""
    B = rng.normal(size=(n, n))
    return B @ B.T / n + floor * np.eye(n)


@given(seed=SEEDS, n=st.integers(0, 12))
def test_linear_systems(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)) + 3.0 * np.eye(n), rng.normal(size=n)
    s = solve_linear(A, b)
    assert s.stopped is Stopped.EXACT
    np.testing.assert_allclose(s.x, np.linalg.solve(A, b), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("method", ["jacobi", "gauss_seidel", "sor"])
def test_classic_iterations_converge_where_the_textbook_says(method):
    """Jacobi: the spectral radius of I - D^-1 A sets the rate; the others are faster."""
    A = np.diag(np.full(8, 2.0)) - np.diag(np.ones(7), 1) - np.diag(np.ones(7), -1)
    b = np.arange(8.0)
    s = solve_linear(A, b, method=method, relaxation=1.2 if method == "sor" else 1.0, history=True)
    assert s.stopped is Stopped.TOLERANCE
    np.testing.assert_allclose(s.x, np.linalg.solve(A, b), rtol=1e-8)
    rate = np.max(np.abs(np.linalg.eigvals(np.eye(8) - 0.5 * A)))
    if method == "jacobi":
        seen = (s.history[-1] / s.history[-21]) ** (1 / 20)
        assert seen == pytest.approx(rate, rel=1e-2)
    else:
        assert s.history[-1] < rate ** len(s.history) * s.history[0]


def test_singular_systems():
    A = np.array([[1.0, 1.0], [1.0, 1.0]])
    s = solve_linear(A, [2.0, 2.0])
    assert s.solved
    np.testing.assert_allclose(s.x, [1.0, 1.0])
    assert solve_linear(A, [1.0, 2.0]).stopped is Stopped.NO_SOLUTION


@given(seed=SEEDS, m=st.integers(2, 10), n=st.integers(1, 8))
def test_lcp_is_least_squares_with_positive_unknowns(seed, m, n):
    rng = np.random.default_rng(seed)
    B, y = rng.normal(size=(m + n, n)), rng.normal(size=m + n)
    s = solve_lcp(B.T @ B, -B.T @ y)
    assert s.stopped is Stopped.EXACT
    np.testing.assert_allclose(s.x, scipy.optimize.nnls(B, y)[0], atol=1e-9)


@pytest.mark.parametrize("method", BOX_METHODS)
def test_every_method_solves_the_same_boxes(method):
    rng = np.random.default_rng(5)
    n = 12
    A, b = positive_matrix(rng, n), rng.normal(size=n)
    lo, hi = -rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n)
    lo[:3], hi[:3] = -np.inf, np.inf
    lo[3], hi[4] = -np.inf, np.inf
    lo[5] = hi[5]
    s = solve_box_lcp(A, b, lo, hi, method=method, max_iterations=20_000)
    assert s.solved
    assert s.residual <= 1e-9
    reference = scipy.optimize.minimize(
        lambda x: 0.5 * x @ A @ x + b @ x,
        np.clip(np.zeros(n), lo, hi),
        jac=lambda x: A @ x + b,
        bounds=list(zip(lo, hi, strict=True)),
        method="L-BFGS-B",
        options={"ftol": 0.0, "gtol": 1e-12, "maxiter": 10_000},
    )
    np.testing.assert_allclose(s.x, reference.x, atol=1e-6)


@given(seed=SEEDS, n=st.integers(1, 8), n_free=st.integers(0, 4))
def test_mixed_problems_of_unsymmetric_matrices(seed, n, n_free):
    rng = np.random.default_rng(seed)
    size = n + n_free
    K = rng.normal(size=(size, size))
    M, q = positive_matrix(rng, size) + K - K.T, rng.normal(size=size)
    equations = rng.permutation(size)[:n_free]
    s = solve_mixed_lcp(M, q, equations)
    assert s.stopped is Stopped.EXACT
    w, other = M @ s.x + q, np.setdiff1d(np.arange(size), equations)
    assert np.abs(w[equations]).max(initial=0.0) < 1e-9
    assert np.abs(np.minimum(s.x, w)[other]).max() < 1e-9


def sliding_block(mu=0.3, speed=1.0, mass=2.0):
    """A point mass on a plane, pushed along it: its slip is known in closed form."""
    return np.eye(3) / mass, np.array([-0.1, speed, 0.0]), [mu]


@pytest.mark.parametrize("method", CONE_METHODS)
def test_every_method_slides_as_coulomb_says(method):
    W, q, mu = sliding_block()
    s = solve_cone(W, q, mu, method=method, tolerance=1e-11)
    assert s.solved
    # the normal impulse stops the fall, friction takes mu times it off the sliding
    np.testing.assert_allclose(s.x, [0.2, -0.06, 0.0], atol=1e-10)
    np.testing.assert_allclose(s.w, [0.0, 0.97, 0.0], atol=1e-10)


@pytest.mark.parametrize("method", ["auto", "apgd", "gauss_seidel"])
def test_the_relaxation_parts_what_slides(method):
    W, q, mu = sliding_block()
    s = solve_cone(W, q, mu, law="relaxed", method=method, tolerance=1e-12)
    assert s.solved
    assert s.w[0] == pytest.approx(mu[0] * s.w[1])
    assert s.coulomb_error > 0.1


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("method", CONE_METHODS)
def test_methods_agree_on_contacts_that_are_not_redundant(method, dimension):
    rng = np.random.default_rng(11)
    n = 4 * dimension
    W, q = positive_matrix(rng, n, 1.0), rng.normal(size=n)
    mu = rng.uniform(0.1, 0.5, 4)
    s = solve_cone(W, q, mu, dimension=dimension, method=method, max_iterations=20_000)
    reference = solve_cone(W, q, mu, dimension=dimension, method="proximal", tolerance=1e-13)
    assert s.solved
    assert reference.solved
    assert s.coulomb_error < 1e-8
    np.testing.assert_allclose(s.x, reference.x, atol=1e-7)


@pytest.mark.parametrize("method", CONE_METHODS)
def test_from_its_answer_a_method_is_done(method):
    rng = np.random.default_rng(12)
    W, q = positive_matrix(rng, 12, 1.0), rng.normal(size=12)
    cold = solve_cone(W, q, [0.4] * 4, method="proximal", tolerance=1e-13)
    warm = solve_cone(W, q, [0.4] * 4, method=method, guess=cold.x, tolerance=1e-9)
    assert warm.solved
    # proximal begins with its sweeps
    assert warm.iterations <= 25
    np.testing.assert_allclose(warm.x, cold.x, atol=1e-8)


@given(seed=SEEDS, k=st.integers(1, 5))
def test_nearest_points_of_the_measure_are_those_of_the_kernels(seed, k):
    """Two derivations of the projection on a cone."""
    rng = np.random.default_rng(seed)
    z, mu = rng.normal(size=(k, 3)), rng.uniform(0, 2, k)
    ours = nearest_in_cones(z, mu)
    theirs = [project_cone(n, x, y, m) for (n, x, y), m in zip(z, mu, strict=True)]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_contradictions_are_said():
    s = solve_lcp([[-1.0]], [-1.0])
    assert s.stopped is Stopped.NO_SOLUTION
    assert not s.solved


def test_history_is_kept_on_request_only():
    rng = np.random.default_rng(13)
    A, b = positive_matrix(rng, 10), rng.normal(size=10)
    assert len(solve_lcp(A, b, method="nncg").history) == 0
    s = solve_lcp(A, b, method="nncg", history=True)
    assert len(s.history) == s.iterations
    assert s.history[-1] == pytest.approx(s.residual, rel=1e-3, abs=1e-13)
    known = solve_lcp(A, b, method="lemke", guess=s.x, history=True)
    assert (known.iterations, len(known.history)) == (0, 2)


@pytest.mark.parametrize("method", ["lemke", "pivoting"])
def test_pivots_are_limited_and_their_history_is_that_of_shorter_runs(method: str):
    rng = np.random.default_rng(17)
    n = 12
    A, b = positive_matrix(rng, n), rng.normal(size=n)
    lo, hi = np.full(n, -0.3), np.where(np.arange(n) % 3 == 0, np.inf, 0.4)
    whole = solve_box_lcp(A, b, lo, hi, method=method, history=True)
    assert whole.solved
    assert len(whole.history) == whole.iterations > 3
    assert whole.history[-1] <= 1e-12
    assert len(solve_box_lcp(A, b, lo, hi, method=method).history) == 0
    for k in range(1, whole.iterations):
        part = solve_box_lcp(A, b, lo, hi, method=method, max_iterations=k, history=True)
        assert (part.stopped, part.iterations) == (Stopped.MAX_ITERATIONS, k)
        assert list(part.history) == list(whole.history[:k])
        assert part.residual == part.history[-1]
    last = solve_box_lcp(A, b, lo, hi, method=method, max_iterations=whole.iterations)
    assert last.stopped is Stopped.EXACT


def test_sparse_matrices_are_taken():
    n = 3000
    A = scipy.sparse.diags([-np.ones(n - 1), np.full(n, 2.5), -np.ones(n - 1)], [-1, 0, 1])
    s = solve_lcp(A, np.sin(np.arange(n)))
    assert s.solved
    assert s.residual < 1e-9


REFUSED = [
    (lambda: solve_lcp(np.eye(2), [1.0]), "M", "shape"),
    (lambda: solve_lcp([[np.nan]], [1.0]), "M", "finite"),
    (lambda: solve_lcp([[1.0]], [np.inf]), "q", "finite"),
    (lambda: solve_lcp([["a"]], [1.0]), "M", "numbers"),
    (lambda: solve_linear([[1.0]], [[1.0]]), "b", "vector"),
    (lambda: solve_box_lcp(np.eye(2), [1.0, 1.0], [0.0, 2.0], 1.0), "lo", "above"),
    (lambda: solve_box_lcp(np.eye(2), [1.0, 1.0], [0.0] * 3, 1.0), "lo", "2 entries"),
    (lambda: solve_cone(np.eye(3), [1.0] * 3, [-0.1]), "mu", "0 or more"),
    (lambda: solve_cone(np.eye(3), [1.0] * 3, [0.1], dimension=4), "dimension", "2 or 3"),
    (lambda: solve_cone(np.eye(3), [1.0] * 3, [0.1, 0.2]), "q", "3 entries"),
    (lambda: solve_cone(np.eye(3), [1.0] * 3, [0.1], law="x"), "law", "coulomb"),
    (lambda: solve_cone(np.eye(3), [1] * 3, [1], law="relaxed", method="nncg"), "method", "law"),
    (lambda: solve_cone(np.eye(3), [1.0] * 3, [0.1], method="lemke"), "method", "boxes"),
    (lambda: solve_lcp(np.eye(1), [1.0], method="magic"), "method", "allowed"),
    (lambda: solve_lcp(np.eye(1), [1.0], guess=[1.0, 2.0]), "guess", "shape"),
    (lambda: solve_lcp(np.eye(1), [1.0], relaxation=2.0), "relaxation", "between"),
    (lambda: solve_lcp(np.eye(1), [1.0], max_iterations=-1), "max_iterations", "0 or more"),
    (lambda: solve_lcp(np.eye(1), [1.0], steps=5), "steps", "there are"),  # type: ignore[call-arg]
    (lambda: solve_lcp([[1.0, 2], [0, 1]], [1.0, 1], method="pivoting"), "A", "symmetric"),
    (lambda: solve_lcp(np.eye(1), [1.0], method="direct"), "method", "bounds"),
    (lambda: solve_mixed_lcp(np.eye(2), [1.0, 1], [2]), "equations", "outside"),
    (lambda: solve_mixed_lcp(np.eye(2), [1.0, 1], [0.5]), "equations", "indices"),
]


@pytest.mark.parametrize(("call", "where", "what"), REFUSED)
def test_what_is_no_problem_is_refused(call, where, what):
    with pytest.raises(ProblemError, match=what) as caught:
        call()
    assert caught.value.where == where


def test_the_general_door_takes_boxes_and_contacts_together():
    """A block on a plane that a spring-loaded equation holds sideways."""
    rng = np.random.default_rng(3)
    A, b = positive_matrix(rng, 5), rng.normal(size=5)
    asked = problem(A, b, [-np.inf, 0.0], [np.inf, np.inf], [0.4])
    found = [solve(asked, method) for method in ("auto", "proximal", "gauss_seidel", "nncg")]
    assert all(one.solved for one in found)
    for one in found[1:]:
        np.testing.assert_allclose(one.x, found[0].x, atol=1e-8)
