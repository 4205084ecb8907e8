"""The algorithms against one another, and against the dense T^T M T (Articulated Notes n.d.)."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.articulated_inertia import respond
from cardan.engine.trees.crba import joint_inertia
from cardan.engine.trees.rnea import inverse_dynamics
from tests.engine.trees.projection import project
from tests.engine.trees.trees import GRAVITY, KINDS, Case, random_tree

ROUNDING = 1e-12
SIZES = [
    (1, 1, False),
    (2, 4, True),
    (3, 20, False),
    (4, 60, True),
    (5, 200, False),
    (6, 200, True),
]


def accelerations(case: Case, tau: np.ndarray) -> np.ndarray:
    qdd = np.zeros(len(tau))
    wrench = np.zeros((len(case.tree.kind), 6))
    forward_dynamics(case.tree, case.q, case.qd, tau, wrench, GRAVITY, case.work, qdd)
    return qdd


def forces(case: Case, qd: np.ndarray, qdd: np.ndarray, gravity: Vec3) -> np.ndarray:
    tau = np.zeros(len(qd))
    inverse_dynamics(case.tree, case.q, qd, qdd, gravity, tree_work(case.tree), tau)
    return tau


def full_inertia(case: Case) -> np.ndarray:
    joint_inertia(case.tree, case.q, case.work)
    H = case.work.H
    return np.tril(H) + np.tril(H, -1).T


@pytest.mark.parametrize(("seed", "n", "floating"), SIZES)
def test_inverse_dynamics_undo_forward_dynamics(seed: int, n: int, floating: bool) -> None:
    case = random_tree(seed, n, floating=floating)
    tau = np.random.default_rng(seed).normal(size=len(case.qd))
    back = forces(case, case.qd, accelerations(case, tau), GRAVITY)
    # forces that cancel: gravity and the centrifugal ones
    scale = np.abs(forces(case, case.qd, np.zeros_like(tau), GRAVITY)).max()
    assert np.abs(back - tau).max() <= ROUNDING * max(scale, 1.0)


@pytest.mark.parametrize(("seed", "n", "floating"), SIZES)
def test_joint_inertia_and_bias_give_the_forces(seed: int, n: int, floating: bool) -> None:
    case = random_tree(seed, n, floating=floating)
    tau = np.random.default_rng(seed).normal(size=len(case.qd))
    qdd = accelerations(case, tau)
    bias = forces(case, case.qd, np.zeros_like(tau), GRAVITY)
    H = full_inertia(case)
    assert np.abs(H @ qdd + bias - tau).max() <= ROUNDING * max(np.abs(bias).max(), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_joint_inertia_couples_only_rates_on_one_path(seed: int) -> None:
    """H has zeros where the tree branches, and is positive definite (Featherstone 2005)."""
    case = random_tree(seed, 40)
    H = full_inertia(case)
    on_path = np.eye(len(H), dtype=bool)
    for k in range(len(H)):
        i = case.tree.above[k]
        while i >= 0:
            on_path[k, i] = on_path[i, k] = True
            i = case.tree.above[i]
    assert not on_path.all()
    assert (H[~on_path] == 0.0).all()
    assert np.linalg.eigvalsh(H).min() > 0.0


@pytest.mark.parametrize("kinds", [(kind,) for kind in KINDS] + [KINDS])
@pytest.mark.parametrize("floating", [False, True])
def test_lagrangian_projection_agrees(kinds: tuple[str, ...], floating: bool) -> None:
    case = random_tree(7, 7, kinds=("hinge", *kinds), floating=floating)
    dense = project(case.tree, case.q, case.qd, np.array(GRAVITY))
    H = full_inertia(case)
    assert np.abs(H - dense.H).max() <= ROUNDING * np.abs(H).max()
    bias = forces(case, case.qd, np.zeros_like(case.qd), GRAVITY)
    wanted = dense.bias - dense.weight
    assert np.abs(bias - wanted).max() <= ROUNDING * np.abs(wanted).max()
    tau = np.random.default_rng(3).normal(size=len(case.qd))
    qdd = accelerations(case, tau)
    force = tau - wanted
    assert np.abs(dense.H @ qdd - force).max() <= ROUNDING * np.abs(force).max()
    assert np.abs(case.work.V - dense.V).max() <= ROUNDING * np.abs(dense.V).max()


def test_response_to_impulses_is_that_of_the_projection() -> None:
    case = random_tree(11, 8)
    dense = project(case.tree, case.q, case.qd, np.array(GRAVITY))
    accelerations(case, np.zeros_like(case.qd))
    rng = np.random.default_rng(1)
    on_nodes, on_rates = rng.normal(size=case.work.F.shape), rng.normal(size=len(case.qd))
    case.work.F[:], case.work.u[:] = on_nodes, on_rates
    change = np.zeros_like(case.qd)
    respond(case.tree, case.work, change)
    force = on_rates + np.einsum("kcv,kc->v", dense.T, on_nodes)
    assert np.abs(dense.H @ change - force).max() <= ROUNDING * np.abs(force).max()
    assert np.abs(case.work.A - dense.T @ change).max() <= 1e-11


def test_a_wrench_on_a_node_is_a_force_on_its_rates() -> None:
    case = random_tree(12, 6)
    dense = project(case.tree, case.q, case.qd, np.array(GRAVITY))
    wrench = np.random.default_rng(2).normal(size=(len(case.tree.kind), 6))
    tau = np.zeros_like(case.qd)
    qdd = np.zeros_like(case.qd)
    forward_dynamics(case.tree, case.q, case.qd, tau, wrench, GRAVITY, case.work, qdd)
    force = np.einsum("kcv,kc->v", dense.T, wrench) + dense.weight - dense.bias
    assert np.abs(dense.H @ qdd - force).max() <= ROUNDING * np.abs(force).max()
