"""Rows on trees: their matrix is J H^-1 J^T, and every way to solve them finds the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.assemble import assemble
from cardan.engine.problem.operator import body_velocities, row_velocity
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import solve_dense
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.solvers.direct.tree_elimination import reduce_on_trees
from cardan.engine.solvers.gradient.solve import Iteration, iterate_on_bodies
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.blocks import project_impulses, write_steps
from cardan.engine.solvers.sweeps.matrix import sweep_dense
from cardan.engine.solvers.sweeps.pgs import sweep_bodies
from cardan.engine.trees.body_sync import prepare
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import Dense, Problem
from tests.engine.scenes import Document, brick, document, ground, simulate
from tests.engine.trees.projection import project


@kernel
def write_dense(problem: Problem, dense: Dense) -> None:
    """The dense problem, without eliminating anything."""
    reduce_on_trees(problem, dense, False)


def heap(method: str) -> Document:
    """A figure of four bricks and a lone one near the ground, a rope between them, a loop."""
    box = [{"type": "box", "size": [0.3, 0.2, 0.2]}]
    bodies = [brick(f"b{i}", position=[0.5 * i, 0.0, 0.101], shapes=box) for i in range(5)]
    kinds = ("hinge", "ball", "universal")
    joints: list[Document] = []
    for i, kind in enumerate(kinds):
        joint: Document = {"type": kind, "name": f"j{i}", "parent": f"b{i}", "child": f"b{i + 1}"}
        joint |= {"anchor": [0.5 * i + 0.25, 0.0, 0.15], "damping": 0.1}
        joint |= {} if kind == "ball" else {"axis": [0, 1, 0]}
        joints.append(joint | ({"axis2": [1, 0, 0]} if kind == "universal" else {}))
    rope = {"type": "distance", "name": "rope", "parent": "b3", "child": "b4"}
    joints.append(rope | {"anchor": [1.5, 0, 0.2], "anchor2": [2.0, 0, 0.2]})
    loop = {"type": "distance", "name": "loop", "parent": "b0", "child": "b2"}
    joints.append(loop | {"anchor": [0, 0.1, 0.2], "anchor2": [1.0, 0.1, 0.2]})
    more = {"formulation": "reduced", "solver": {"method": method}}
    return document([*bodies, ground()], joints, simulation=more)


def problem_now(method: str = "auto") -> Any:
    """A simulation whose problem and factor are those of the state it stands in."""
    sim = simulate(heap(method))
    sim.advance(40)
    tree, state, work = sim.model.tree, sim.state, sim.work
    prepare(tree, state, work.tree)
    write_velocities(tree, state.tree_qd, work.tree)
    assemble(sim.world)
    assert work.problem.count[0] > 20
    assert work.problem.count[1] > 2
    return sim


def dense_matrix(sim: Any) -> np.ndarray:
    """J M^-1 J^T with the tree's T H^-1 T^T in the place of M^-1."""
    problem, tree, bodies = sim.work.problem, sim.model.tree, sim.model.bodies
    n, n_bodies = int(problem.count[0]), len(bodies.kind)
    found = project(tree, sim.state.tree_q, sim.state.tree_qd, np.zeros(3))
    inverse = np.zeros((6 * n_bodies, 6 * n_bodies))
    T = np.zeros((6 * n_bodies, found.T.shape[2]))
    for node in np.flatnonzero(tree.body >= 0):
        T[6 * tree.body[node] : 6 * tree.body[node] + 6] = found.T[node]
    inverse += T @ np.linalg.solve(found.H, T.T)
    for body in np.flatnonzero((tree.node < 0) & (bodies.inverse_mass > 0.0)):
        at = 6 * body
        inverse[at : at + 3, at : at + 3] = sim.work.motion.inverse_inertia_W[body]
        inverse[at + 3 : at + 6, at + 3 : at + 6] = bodies.inverse_mass[body] * np.eye(3)
    J = np.zeros((n, 6 * n_bodies))
    for i in range(n):
        for body, row in ((problem.body_a[i], problem.J_a[i]), (problem.body_b[i], problem.J_b[i])):
            J[i, 6 * body : 6 * body + 6] += row
    return J @ inverse @ J.T + np.diag(problem.cfm[:n])


def test_the_matrix_is_that_of_the_projection() -> None:
    sim = problem_now()
    problem, dense = sim.work.problem, sim.work.dense
    n = int(problem.count[0])
    wanted = dense_matrix(sim)
    assert np.abs(problem.diagonal[:n] - np.diag(wanted)).max() < 1e-11 * np.abs(wanted).max()
    write_dense(problem, dense)
    order = dense.indices[0, :n]
    assert np.abs(dense.S[:n, :n] - wanted[np.ix_(order, order)]).max() < 1e-11 * wanted.max()


def test_operator_and_matrix_agree() -> None:
    sim = problem_now()
    problem, v = sim.work.problem, sim.work.motion.scratch
    n = int(problem.count[0])
    problem.lam[:n] = np.random.default_rng(3).normal(size=n)
    body_velocities(problem, v)
    found = np.array([row_velocity(problem, v, i) for i in range(n)])
    wanted = dense_matrix(sim) @ problem.lam[:n] + problem.b[:n]
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("method", [SolverMethod.ELIMINATION, SolverMethod.GAUSS_SEIDEL])
def test_dense_methods_solve_rows_on_trees(method: SolverMethod) -> None:
    sim = problem_now()
    problem, work = sim.work.problem, sim.work
    solve_dense(problem, work.dense, int(method), 5000, 1e-11)
    assert residual(problem, work.motion.scratch)[0] < 1e-8


def as_matrix(sim: Any) -> DenseProblem:
    """The same rows in the same order, with A in full."""
    problem = sim.work.problem
    n, n_box = int(problem.count[0]), int(problem.count[1])
    return DenseProblem(
        A=dense_matrix(sim),
        b=problem.b[:n].copy(),
        lo=problem.lo[:n].copy(),
        hi=problem.hi[:n].copy(),
        mu=problem.mu[:n].copy(),
        scale=problem.diagonal[:n].copy(),
        lam=problem.lam[:n].copy(),
        w=np.zeros(n),
        n=n,
        n_box=n_box,
        friction_kind=int(problem.friction_kind[0]),
        directions=int(problem.friction_kind[1]),
        first_dependent=n_box,
        normal=problem.normal_row[:n].copy(),
    )


def test_a_sweep_over_bodies_is_a_sweep_over_the_matrix() -> None:
    sim = problem_now()
    problem, v = sim.work.problem, sim.work.motion.scratch
    n = int(problem.count[0])
    problem.lam[:n] = np.random.default_rng(5).normal(size=n)
    project_impulses(problem)
    by_matrix = as_matrix(sim)
    write_steps(problem)
    body_velocities(problem, v)
    for _ in range(3):
        sweep_bodies(problem, v, 1.2)
    sweep_dense(by_matrix, 1.2, StoppingRules(3, -1.0, -1.0))
    assert np.abs(by_matrix.lam).max() > 0.1
    assert np.abs(problem.lam[:n] - by_matrix.lam).max() < 1e-10 * np.abs(by_matrix.lam).max()


@pytest.mark.parametrize(("name", "sweeps"), [("pgs", 4000), ("nncg", 1000), ("pgs_sm", 200)])
def test_iterations_find_the_same_velocities(name: str, sweeps: int) -> None:
    sim, method = problem_now(name), int(SolverMethod[name.upper()])
    problem, work = sim.work.problem, sim.work
    n = int(problem.count[0])
    lo, hi = problem.lo.copy(), problem.hi.copy()
    solve_dense(problem, work.dense, int(SolverMethod.ELIMINATION), 5000, 1e-12)
    residual(problem, work.motion.scratch)
    exact = problem.w[:n].copy()
    problem.lam[:n], problem.lo[:], problem.hi[:] = 0.0, lo, hi
    rules = StoppingRules(sweeps, 1e-10 if method != int(SolverMethod.PGS) else -1.0, 1e-12)
    iterate_on_bodies(problem, work.dense, work.motion.scratch, rules, Iteration(method, 1.0, 1, 1))
    assert residual(problem, work.motion.scratch)[0] < 1e-6
    assert np.abs(problem.w[:n] - exact).max() < 1e-4
