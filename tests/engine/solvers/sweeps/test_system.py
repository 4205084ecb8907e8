"""Iterations on bodies and on matrices: one A, the same answers, and what each method promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.problem.residual import residual
from cardan.engine.solvers.gradient.apgd import relaxed_error
from cardan.engine.solvers.gradient.solve import APGD, JACOBI, NNCG, PGS_SM, Iteration, iterate
from cardan.engine.solvers.gradient.subspace import mark_free, minimise
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.jacobi import write_upper_bounds
from cardan.engine.solvers.sweeps.matrix import Matrix
from cardan.engine.solvers.sweeps.steps import block_diagonal
from cardan.engine.solvers.sweeps.system import N_VECTORS, System, measure, multiply
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_TOLERANCE
from tests.engine.problem.matrix import dense_matrix
from tests.engine.solvers.problems import (
    chain,
    dense_scratch,
    on_bodies,
    pile,
    tower,
    velocity_scratch,
)

PROBLEMS = {
    "tower": lambda: tower(2, push=0.05),
    "pile": lambda: pile(12, 20),
    "chain": lambda: chain(3, 2),
}
METHODS = {
    "sweeps": Iteration(int(SolverMethod.PGS), 1.0, 1, 1),
    "sor": Iteration(int(SolverMethod.SOR), 1.3, 1, 1),
    "jacobi": Iteration(JACOBI, 1.0, 1, 1),
    "nncg": Iteration(NNCG, 1.0, 1, 1),
    "pgs_sm": Iteration(PGS_SM, 1.0, 1, 1),
    "apgd": Iteration(APGD, 1.0, 1, 1),
}


def run(method, system, rules):
    return iterate(system, rules, METHODS[method])


def dense_form(problem):
    """A in full."""
    n = problem.count[0]
    dense = dense_scratch(n)
    dense_matrix(problem, dense)
    return dense.S[:n, :n].copy()


def on_matrix(problem, history=0):
    """The same with A by its non-zeros."""
    A = dense_form(problem)
    n = len(A)
    rows, columns = np.nonzero(A)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    matrix = Matrix(start, columns, A[rows, columns])
    x = np.full((N_VECTORS, n), np.nan)
    return System(problem, matrix, np.zeros((0, 6)), x, np.full(history, np.nan))


FORMS: dict[str, Any] = {"bodies": on_bodies, "matrix": on_matrix}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_product_is_that_of_the_matrix(name, form):
    problem = PROBLEMS[name]()
    n = problem.count[0]
    problem.cfm[: n // 2] += 0.1
    problem.diagonal[: n // 2] += 0.1
    x, y = np.random.default_rng(1).normal(size=(2, n))
    multiply(FORMS[form](problem), x, y)
    np.testing.assert_allclose(y, dense_form(problem) @ x, atol=1e-12 * np.abs(y).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_upper_bounds_are_above_the_matrix(name, form):
    problem = PROBLEMS[name]()
    A = dense_form(problem)
    bound = np.zeros(len(A))
    write_upper_bounds(FORMS[form](problem), bound)
    least = np.linalg.eigvalsh(np.diag(bound) - A)[0]
    assert least >= -1e-12 * bound.max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_iteration_ends_at_the_law(name, form, method):
    problem = PROBLEMS[name]()
    goal = 1e-7 * np.abs(problem.b[: problem.count[0]]).max()
    status, count = run(method, FORMS[form](problem), StoppingRules(40_000, goal, -1.0))
    assert status == STOPPED_TOLERANCE
    assert 0 < count < 40_000
    error, _ = residual(problem, velocity_scratch(problem))
    assert error <= 2.0 * goal


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_is_known_at_once(method):
    """Warm start: no method leaves the solution it starts from."""
    problem = tower(2, push=0.05)
    goal = 1e-7 * np.abs(problem.b[: problem.count[0]]).max()
    run("nncg", on_bodies(problem), StoppingRules(20_000, 0.1 * goal, -1.0))
    answer = problem.lam[: problem.count[0]].copy()
    status, count = run(method, on_bodies(problem), StoppingRules(20, goal, -1.0))
    assert status == STOPPED_TOLERANCE
    assert count <= 5
    np.testing.assert_allclose(problem.lam[: len(answer)], answer, atol=1e-6 * np.abs(answer).max())


@pytest.mark.parametrize("method", METHODS)
def test_history_tells_every_iteration(method):
    problem = pile(12, 20)
    system = on_bodies(problem, history=40)
    status, count = run(method, system, StoppingRules(40, 0.0, -1.0))
    assert (status, count) == (STOPPED_MAX_ITERATIONS, 40)
    assert np.isfinite(system.history).all()
    assert system.history[-1] < 0.5 * system.history[0]


def test_measure_is_the_residual_and_leaves_sweeps_alone():
    problem = pile(12, 20)
    system = on_bodies(problem)
    run("sweeps", system, StoppingRules(3, -1.0, -1.0))
    kept, v = problem.w.copy(), system.v.copy()
    measured = measure(system)
    np.testing.assert_array_equal(problem.w, kept)
    np.testing.assert_allclose(system.v, v, atol=1e-13)
    assert measured == pytest.approx(residual(problem, velocity_scratch(problem))[0], rel=1e-9)


def test_minimisation_solves_the_free_rows():
    problem = tower(2)
    system = on_bodies(problem)
    run("sweeps", system, StoppingRules(10, -1.0, -1.0))
    n = problem.count[0]
    before = problem.lam.copy()
    mark_free(problem, system.x[0])
    free = system.x[0] > 0.0
    assert 0 < free.sum() <= n
    measure(system)
    minimise(system)
    w = dense_form(problem) @ problem.lam[:n] + problem.b[:n]
    assert np.abs(w[free]).max() < 1e-2 * np.abs(problem.b[:n]).max()
    np.testing.assert_array_equal(problem.lam[:n][~free], before[:n][~free])


def test_relaxation_lifts_what_slides():
    """A pushed block on a plane leaves it at mu times its speed in the relaxed answer."""
    mu = 0.3
    problem = tower(1, mu=mu, push=1.0)
    n = problem.count[0]
    system = on_bodies(problem)
    rules = StoppingRules(20_000, 1e-10, -1.0)
    status, _ = iterate(system, rules, Iteration(APGD, 1.0, 1, 0))
    assert status == STOPPED_TOLERANCE
    multiply(system, problem.lam, problem.w)
    assert relaxed_error(system) <= 1e-9
    w = (problem.w[:n] + problem.b[:n]).reshape(-1, 3)
    touching = problem.lam[:n:3] > 1e-9
    assert touching.any()
    slip = np.linalg.norm(w[touching, 1:], axis=1)
    assert slip.min() > 0.1
    np.testing.assert_allclose(w[touching, 0], mu * slip, atol=1e-8)


def test_the_step_of_a_pair_is_the_inverse_of_its_larger_eigenvalue():
    rng = np.random.default_rng(3)
    for D1, D2, c in rng.normal(size=(20, 3)):
        block = np.array([[D1, c], [c, D2]])
        assert block_diagonal(D1, D2, c) == pytest.approx(np.linalg.eigvalsh(block)[1], abs=1e-14)
