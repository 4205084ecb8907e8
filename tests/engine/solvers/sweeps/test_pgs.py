"""Matrix-free sweeps are the dense sweeps, and never leave the admissible set."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import solve_dense
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_STALLED
from tests.engine.solvers.problems import (
    chain,
    copy_problem,
    dense_scratch,
    pgs,
    pile,
    tower,
    velocity_scratch,
)

KINDS = [FRICTION_BOX, FRICTION_CONE]
PROBLEMS = {
    "tower": lambda kind: tower(3, push=0.4, friction_kind=kind),
    "pile": lambda kind: pile(15, 30, friction_kind=kind),
    "chain": lambda kind: chain(5, 6, friction_kind=kind),
}


def guess(problem, seed=0):
    n = problem.count[0]
    problem.lam[:n] = 0.02 * np.random.default_rng(seed).normal(size=n)
    return problem


def soften(problem):
    n = problem.count[0]
    problem.cfm[:n] = 0.01
    problem.diagonal[:n] += 0.01
    return problem


def is_admissible(problem):
    n, n_box, _ = problem.count
    lam, mu = problem.lam, problem.mu
    boxes = (lam[:n_box] >= problem.lo[:n_box]) & (lam[:n_box] <= problem.hi[:n_box])
    normal, limit = lam[n_box:n:3], (mu[n_box:n].reshape(-1, 3)[:, 1] * lam[n_box:n:3])
    tangents = lam[n_box:n].reshape(-1, 3)[:, 1:]
    round_cone = problem.friction_kind[0] == FRICTION_CONE
    size = np.hypot(*tangents.T) if round_cone else np.abs(tangents).max(axis=1)
    return boxes.all() and (normal >= 0).all() and (size <= limit * (1 + 1e-14)).all()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sweeps", [0, 1, 2, 7])
def test_same_sweeps_as_with_the_matrix(name, kind, sweeps):
    problem = soften(guess(PROBLEMS[name](kind)))
    dense = copy_problem(problem)
    n = problem.count[0]
    pgs(problem, velocity_scratch(problem), StoppingRules(sweeps, -1.0, -1.0), 1.0)
    solve_dense(dense, dense_scratch(n), int(SolverMethod.GAUSS_SEIDEL), sweeps, -1.0)
    np.testing.assert_allclose(problem.lam[:n], dense.lam[:n], atol=1e-13)
    assert is_admissible(problem)


@pytest.mark.parametrize("relaxation", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("kind", KINDS)
def test_admissible_after_any_number_of_sweeps(kind, relaxation):
    for sweeps in range(4):
        problem = guess(PROBLEMS["pile"](kind), sweeps)
        rules = StoppingRules(sweeps, -1.0, -1.0)
        pgs(problem, velocity_scratch(problem), rules, relaxation)
        assert is_admissible(problem)


@pytest.mark.parametrize("relaxation", [0.7, 1.3])
def test_relaxation_changes_the_way_not_the_end(relaxation):
    problem = chain(3, 2)
    other = copy_problem(problem)
    v = velocity_scratch(problem)
    rules = StoppingRules(20_000, -1.0, 1e-15)
    assert pgs(problem, v, rules, 1.0)[0] == STOPPED_STALLED
    assert pgs(other, v, rules, relaxation)[0] == STOPPED_STALLED
    residual(problem, v)
    residual(other, v)
    np.testing.assert_allclose(problem.w, other.w, atol=1e-11)


def test_stops_by_the_change_of_a_sweep_or_by_count():
    problem = tower(1, push=1.0)
    v = velocity_scratch(problem)
    status, sweeps = pgs(problem, v, StoppingRules(1000, -1.0, 1e-7), 1.0)
    assert status == STOPPED_STALLED
    assert residual(problem, v)[0] < 1e-5
    again = tower(1, push=1.0)
    fewer = StoppingRules(sweeps - 1, -1.0, 1e-7)
    assert pgs(again, v, fewer, 1.0) == (STOPPED_MAX_ITERATIONS, sweeps - 1)


def test_body_velocities_are_kept_up_to_date():
    problem = guess(pile(15, 30))
    v = velocity_scratch(problem)
    pgs(problem, v, StoppingRules(30, -1.0, -1.0), 1.0)
    kept = v.copy()
    residual(problem, v)
    np.testing.assert_allclose(kept, v, atol=1e-13)


def test_rows_that_nothing_moves_keep_still():
    problem = tower(2)
    for field in (problem.MJ_a, problem.MJ_b, problem.diagonal):
        field[:12] = 0.0
    pgs(problem, velocity_scratch(problem), StoppingRules(20, -1.0, -1.0), 1.0)
    assert not problem.lam[:12].any()
    assert np.isfinite(problem.lam[:24]).all()
