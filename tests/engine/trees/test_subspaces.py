"""Motion and constraint subspaces of every joint, apparent inverse inertia (Featherstone 2022)."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import Dynamics, StatesInvalid
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.subspaces import constraint_subspace
from cardan.schemas import load_scene
from tests.engine.scenes import Document, brick, document
from tests.engine.trees.trees import random_scene

FREEDOM = {
    "fixed": 0, "hinge": 1, "slider": 1, "screw": 1, "universal": 2, "hinge2": 2,
    "cylindrical": 2, "ball": 3, "planar": 3,
}  # fmt: skip
rng = np.random.default_rng(77)


def held(kind: str) -> Document:
    """A brick on one joint."""
    joint: Document = {"type": kind, "name": "j", "parent": "world", "child": "b"}
    if kind != "fixed":
        joint["anchor"] = [0.2, 0.1, -0.3]
    if kind not in ("fixed", "ball"):
        joint["axis"] = [0.0, 0.6, 0.8]
    if kind in ("universal", "hinge2"):
        joint["axis2"] = [1.0, 0.0, 0.0]
    if kind == "screw":
        joint["pitch"] = 0.3
    return document([brick("b", position=[0.1, 0.2, 0.3])], [joint])


def states(tree: Dynamics, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    q = np.tile(tree.start, (n, 1))
    for motion in tree.coordinates:
        a, b = motion.q
        if b - a == 1:
            q[:, a] += rng.uniform(-1.0, 1.0, n)
        else:
            q[:, b - 4 : b] = rng.normal(size=(n, 4))
            q[:, b - 4 : b] /= np.linalg.norm(q[:, b - 4 : b], axis=1)[:, None]
    return q, rng.uniform(-1.0, 1.0, (n, tree.nv))


def inertia_at_origin(tree: Dynamics, q: np.ndarray) -> np.ndarray:
    """M of the brick about the origin of its frame, W, from its energy as a free body."""
    scene = document([brick("b", position=[0.1, 0.2, 0.3])])
    free = Dynamics(load_scene(scene))
    place = tree.kinematics(q)
    lone = np.concatenate([place["position"][0], place["orientation"][0]])
    J = free.jacobian(lone, "b")
    back = np.linalg.inv(J)
    return back.T @ free.mass_matrix(lone) @ back


@pytest.mark.parametrize("kind", FREEDOM)
def test_a_body_on_one_joint(kind: str) -> None:
    if kind == "fixed":
        S = np.zeros((2, 6, 0))
        assert constraint_subspace(S).shape == (2, 6, 6)
        return
    tree = Dynamics(load_scene(held(kind)))
    q, _ = states(tree)
    S, T = tree.joint_subspaces(q, "j")
    phi = tree.apparent_inverse_inertia(q, "b")
    freedom = FREEDOM[kind]
    assert S.shape == (4, 6, freedom)
    assert T.shape == (4, 6, 6 - freedom)
    assert np.abs(T.transpose(0, 2, 1) @ S).max() < 1e-14
    assert np.abs(T.transpose(0, 2, 1) @ T - np.eye(6 - freedom)).max() < 1e-14
    for k in range(4):
        M = inertia_at_origin(tree, q[k])
        by_S = S[k] @ np.linalg.solve(S[k].T @ M @ S[k], S[k].T)
        inverse = np.linalg.inv(M)
        D = np.linalg.inv(T[k].T @ inverse @ T[k])
        by_T = inverse - inverse @ T[k] @ D @ T[k].T @ inverse
        scale = np.abs(phi[k]).max()
        assert np.abs(phi[k] - by_S).max() < 1e-11 * scale
        assert np.abs(phi[k] - by_T).max() < 1e-11 * scale
        assert np.abs(phi[k] @ T[k]).max() < 1e-11 * scale
        assert np.linalg.matrix_rank(phi[k], tol=1e-9 * scale) == freedom


@pytest.mark.parametrize("floating", [False, True])
def test_bodies_of_a_tree_accelerate_by_phi_f_and_b(floating: bool) -> None:
    tree = Dynamics(load_scene(random_scene(np.random.default_rng(3), 7, floating=floating)))
    q, qd = states(tree, 1)
    q, qd, tau, f = q[0], qd[0], rng.normal(size=tree.nv), rng.normal(size=6)
    body = tree.body_names[4]
    number = int(tree.tree.node[4])
    # the wrench of the algorithm is about the centre of mass
    centre = tree._com_B[4]
    wrench = np.zeros((len(tree.tree.kind), 6))
    wrench[number] = f
    qdd = np.zeros(tree.nv)
    work = tree_work(tree.tree)
    forward_dynamics(tree.tree, q, qd, tau, wrench, tree.gravity, work, qdd)
    a = tree.jacobian(q, body, centre) @ qdd + tree.jacobian_rate(q, qd, body, centre) @ qd
    phi = tree.apparent_inverse_inertia(q, body, centre)
    b = tree.bias_acceleration(q, qd, body, centre, tau)
    assert np.abs(phi - phi.T).max() < 1e-10 * np.abs(phi).max()
    assert np.abs(phi @ f + b - a).max() < 1e-10 * np.abs(a).max()


def test_joints_of_a_tree_either_way_round() -> None:
    tree = Dynamics(load_scene(random_scene(np.random.default_rng(4), 7)))
    q, _ = states(tree, 2)
    for name in tree.joint_names:
        S, T = tree.joint_subspaces(q, name)
        assert np.abs(T.transpose(0, 2, 1) @ S).max(initial=0.0) < 1e-13
        assert np.linalg.matrix_rank(S[0]) == S.shape[2]
    with pytest.raises(StatesInvalid, match="no joint"):
        tree.joint_subspaces(q, "nobody")
