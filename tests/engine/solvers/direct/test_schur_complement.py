"""Elimination is the solution of the whole, in two halves."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import solve_dense
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX
from tests.engine.problem.matrix import dense_matrix
from tests.engine.scenes import document, simulate
from tests.engine.solvers.problems import (
    chain,
    copy_problem,
    dense_scratch,
    equations_of,
    reduced,
    velocity_scratch,
)

ELIMINATION, PIVOTING = int(SolverMethod.ELIMINATION), int(SolverMethod.PIVOTING)


def matrix_of(problem):
    n = problem.count[0]
    dense = dense_scratch(n)
    dense_matrix(problem, dense)
    return dense.S[:n, :n]


def test_equations_alone_are_a_linear_system():
    problem = chain(6)
    n = problem.count[0]
    boxes = np.isfinite(problem.lo[:n]) | np.isfinite(problem.hi[:n])
    problem.lo[:n][boxes] = problem.hi[:n][boxes] = 0.0
    solve_dense(problem, dense_scratch(n), ELIMINATION, 1, 0.0)
    A, equations = matrix_of(problem), np.flatnonzero(~boxes)
    expected = np.linalg.solve(A[np.ix_(equations, equations)], -problem.b[equations])
    np.testing.assert_allclose(problem.lam[equations], expected, atol=1e-12)
    assert not problem.lam[:n][boxes].any()


def test_rest_is_the_schur_complement():
    problem = chain(5, 3)
    n = problem.count[0]
    dense, n_equations = reduced(problem)
    m = n - n_equations
    E, R = equations_of(problem), dense.indices[0, :m]
    A = matrix_of(problem)
    inverse = np.linalg.solve(A[np.ix_(E, E)], np.column_stack([A[np.ix_(E, R)], problem.b[E]]))
    expected = A[np.ix_(R, R)] - A[np.ix_(R, E)] @ inverse[:, :-1]
    np.testing.assert_allclose(dense.S[:m, :m], expected, atol=1e-12)
    np.testing.assert_allclose(
        dense.vectors[0, :m], problem.b[R] - A[np.ix_(R, E)] @ inverse[:, -1], atol=1e-12
    )


# 1 and 7 other rows: the last with which all sides are solved at once; 8, 18 and 33
@pytest.mark.parametrize(("bars", "contacts"), [(1, 0), (7, 0), (8, 0), (6, 4), (6, 9)])
def test_same_velocities_as_pivoting_on_everything(bars, contacts):
    problem = chain(bars, contacts, friction_kind=FRICTION_BOX)
    whole = copy_problem(problem)
    n = problem.count[0]
    v = velocity_scratch(problem)
    solve_dense(problem, dense_scratch(n), ELIMINATION, 500, 1e-12)
    solve_dense(whole, dense_scratch(n), PIVOTING, 500, 1e-12)
    assert residual(problem, v)[0] < 1e-12
    assert residual(whole, v)[0] < 1e-11
    if contacts == 0:
        np.testing.assert_allclose(problem.w, whole.w, atol=1e-11)


@pytest.mark.parametrize("contacts", [0, 5])
def test_every_joint_twice_changes_no_velocity(contacts):
    single, double = chain(5, contacts), chain(5, contacts, redundant=True)
    bodies = []
    for problem in (single, double):
        n = problem.count[0]
        solve_dense(problem, dense_scratch(n), ELIMINATION, 500, 1e-13)
        v = velocity_scratch(problem)
        assert residual(problem, v)[0] < 1e-12
        bodies.append(v)
    # the bodies are the same; the rows, and room for as many bodies, are not
    few, many = bodies
    assert np.isfinite(few[:5]).all()
    np.testing.assert_allclose(few, many[: len(few)], atol=1e-10)


def test_dependent_equation_has_no_impulse():
    problem = chain(3, redundant=True)
    n = problem.count[0]
    solve_dense(problem, dense_scratch(n), ELIMINATION, 1, 0.0)
    equations = problem.lam[:n][np.isinf(problem.lo[:n]) & np.isinf(problem.hi[:n])]
    triples = equations.reshape(-1, 3)
    assert (np.abs(triples).sum(axis=1) == 0.0).sum() == len(triples) // 2


def test_long_chain_is_solved_exactly():
    """A hundred joints: what sweeps would need thousands for."""
    problem = chain(60)
    n = problem.count[0]
    solve_dense(problem, dense_scratch(n), ELIMINATION, 1, 0.0)
    assert residual(problem, velocity_scratch(problem))[0] < 1e-12


def test_equations_put_off_by_the_factor_do_not_mix_up_the_rest() -> None:
    """A body with tiny inertia on a hinge: two equations are nearly dependent, a stop pushes."""
    sim = simulate(
        document(
            [{"name": "bob", "position": [0.87, 0, -0.5], "mass": 1.0, "inertia": [1e-6] * 3}],
            [
                {
                    "name": "pin",
                    "type": "hinge",
                    "parent": "world",
                    "child": "bob",
                    "anchor": [0, 0, 0],
                    "axis": [0, 1, 0],
                    "limits": {"upper": 0.2, "stiffness": 200.0, "damping": 20.0},
                }
            ],
            simulation={"dt": 1e-3},
        )
    )
    for _ in range(1000):
        sim.advance(1)
        assert sim.solver_report()["residual"] < 1e-8
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.2, abs=0.1)
