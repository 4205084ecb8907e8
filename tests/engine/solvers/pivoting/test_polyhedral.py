"""The polygon's law three ways, Lemke, Newton, sweeps; and the conditions of the texts."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.solvers.solve import solve
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_POLYGON
from cardan.engine.world.report import DENSE_FULL, STOPPED_EXACT
from tests.engine.solvers.problems import (
    chain,
    dense_scratch,
    new_report,
    pile,
    solver_options,
    tower,
    velocity_scratch,
)

PROBLEMS = {
    "tower pushed": lambda kind: tower(2, push=0.5, friction_kind=kind),
    "chain on the ground": lambda kind: chain(4, 5, friction_kind=kind),
    "pile": lambda kind: pile(6, 9, friction_kind=kind),
    "pile that resists turning": lambda kind: pile(5, 6, friction_kind=kind, arms=(0.02, 0.04)),
}


def solved(problem, method, directions=6, lemke=400):
    problem.friction_kind[1] = directions
    n = int(problem.count[0])
    report = new_report()
    options = solver_options(method=method, max_iterations=20000, tolerance=1e-12)
    solve(problem, dense_scratch(n, lemke), velocity_scratch(problem), options, report)
    return problem, report


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("directions", [3, 4, 5, 8])
def test_all_ways_end_at_the_same_velocities(name, directions):
    velocities = []
    for method in (SolverMethod.LEMKE, SolverMethod.ELIMINATION, SolverMethod.PGS):
        problem, report = solved(PROBLEMS[name](FRICTION_POLYGON), method, directions)
        assert report.method[0] == method
        assert report.residual[0] < 1e-10
        velocities.append(problem.w[: problem.count[0]].copy())
    # how four feet share a load is open, and so is how they slide
    for other in velocities[1:] if name != "tower pushed" else []:
        np.testing.assert_allclose(other, velocities[0], atol=1e-8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_lemke_on_squares_agrees_with_newton(name):
    first, report = solved(PROBLEMS[name](FRICTION_BOX), SolverMethod.LEMKE)
    assert report.solver_status[0] == STOPPED_EXACT
    assert report.residual[0] < 1e-10
    second, _ = solved(PROBLEMS[name](FRICTION_BOX), SolverMethod.ELIMINATION)
    n = int(first.count[0])
    np.testing.assert_allclose(first.w[:n], second.w[:n], atol=1e-8)


def test_conditions_of_the_texts():
    """beta >= 0, e^T beta <= mu f, aux = max(-d.w) >= 0: checked on the answer alone."""
    directions = 8
    problem, _ = solved(tower(2, push=0.5, friction_kind=FRICTION_POLYGON), SolverMethod.LEMKE, 8)
    angle = 2 * np.pi * np.arange(directions) / directions
    D = np.stack([np.cos(angle), np.sin(angle)])
    slides = 0
    for i in range(0, int(problem.count[0]), 3):
        limit = problem.mu[i + 1] * problem.lam[i]
        friction, w = problem.lam[i + 1 : i + 3], problem.w[i + 1 : i + 3]
        aux = max(0.0, -(D.T @ w).min())
        # the most dissipation the directions allow
        assert -friction @ w == pytest.approx(limit * aux, abs=1e-10)
        # inside the polygon: below every edge
        edges = angle + np.pi / directions
        most = (np.cos(edges) * friction[0] + np.sin(edges) * friction[1]).max()
        assert most <= limit * np.cos(np.pi / directions) + 1e-12
        slides += aux > 1e-6
    assert slides > 0


def test_distance_to_the_round_cone_falls_with_the_directions():
    """Friction is off by an angle of pi/directions at most, and coulomb_error says by how much."""
    errors = []
    # odd ones have no corner where the block slides
    for directions in (3, 7, 15, 31, 63):
        problem = tower(1, push=2.0, friction_kind=FRICTION_POLYGON)
        _, report = solved(problem, SolverMethod.ELIMINATION, directions)
        assert report.residual[0] < 1e-10
        i = np.arange(0, int(problem.count[0]), 3)
        D = problem.diagonal[:12].reshape(4, 3).max(axis=1)
        most = (D * problem.mu[i + 1] * problem.lam[i]).max()
        errors.append(report.coulomb_error[0])
        assert 0.0 < errors[-1] <= most * np.pi / directions
    assert errors[-1] < 0.1 * errors[0]


def test_what_does_not_fit_is_eliminated_and_said():
    problem, report = solved(tower(2, friction_kind=FRICTION_POLYGON), SolverMethod.LEMKE, lemke=20)
    assert report.method[0] == SolverMethod.ELIMINATION
    assert report.status[0] & DENSE_FULL
    assert report.residual[0] < 1e-10
    assert problem.lam[0] > 0.0
