"""The door to joint coordinates: arrays of states, names, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Dynamics, SceneError, StatesInvalid
from cardan.engine.trees.coordinates import advance_coordinates
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document
from tests.engine.trees.trees import random_scene, unit

N = 7


def of(scene: Document) -> Dynamics:
    return Dynamics(load_scene(scene))


def a_tree(seed: int, floating: bool) -> Dynamics:
    scene = random_scene(np.random.default_rng(seed), 8, floating=floating)
    scene["bodies"].append({"name": "wall", "type": "static", "position": [1, 2, 3]})
    return of(scene)


def some_states(tree: Dynamics, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = tree.start + rng.uniform(-1.0, 1.0, (n, tree.nq))
    for motion in tree.coordinates:
        if motion.motion in ("ball", "free"):
            end = motion.q[1]
            for s in range(n):
                q[s, end - 4 : end] = unit(rng.normal(size=4))
    return q, rng.uniform(-1.0, 1.0, (n, tree.nv))


@pytest.mark.parametrize("floating", [False, True])
def test_the_algorithms_fit_one_another(floating: bool) -> None:
    tree = a_tree(1, floating)
    q, qd = some_states(tree)
    tau = np.random.default_rng(2).normal(size=qd.shape)
    qdd = tree.forward_dynamics(q, qd, tau)
    bias = tree.bias_forces(q, qd)
    scale = np.abs(bias).max()
    assert np.abs(tree.inverse_dynamics(q, qd, qdd) - tau).max() < 1e-12 * scale
    H = tree.mass_matrix(q)
    assert np.abs(np.einsum("nij,nj->ni", H, qdd) + bias - tau).max() < 1e-12 * scale
    energy = tree.energy(q, qd)
    assert np.allclose(energy["kinetic"], 0.5 * np.einsum("ni,nij,nj->n", qd, H, qd), rtol=1e-12)


@pytest.mark.parametrize("floating", [False, True])
def test_one_state_is_a_row_of_many(floating: bool) -> None:
    tree = a_tree(2, floating)
    q, qd = some_states(tree)
    many = tree.kinematics(q, qd) | tree.energy(q, qd) | tree.momentum(q, qd)
    many |= {"tau": tree.inverse_dynamics(q, qd, qd), "H": tree.mass_matrix(q)}
    many |= {"J": tree.jacobian(q, "b5", [0.1, 0.2, 0.3])}
    one = tree.kinematics(q[3], qd[3]) | tree.energy(q[3], qd[3]) | tree.momentum(q[3], qd[3])
    one |= {"tau": tree.inverse_dynamics(q[3], qd[3], qd[3]), "H": tree.mass_matrix(q[3])}
    one |= {"J": tree.jacobian(q[3], "b5", [0.1, 0.2, 0.3])}
    for name, value in one.items():
        assert np.array_equal(many[name][3], value), name
    # rates given once serve all states
    assert np.array_equal(tree.inverse_dynamics(q, qd[:1])[0], tree.inverse_dynamics(q[0], qd[0]))


@pytest.mark.parametrize("floating", [False, True])
def test_jacobians_give_the_velocities_of_bodies(floating: bool) -> None:
    tree = a_tree(3, floating)
    q, qd = some_states(tree)
    found = tree.kinematics(q, qd)
    for b, name in enumerate(tree.body_names):
        moved = np.einsum("nrk,nk->nr", tree.jacobian(q, name), qd)
        assert np.abs(moved[:, :3] - found["angular_velocity"][:, b]).max() < 1e-12
        assert np.abs(moved[:, 3:] - found["velocity"][:, b]).max() < 1e-12
    assert np.array_equal(found["position"][:, -1], np.tile([1.0, 2.0, 3.0], (N, 1)))


@pytest.mark.parametrize("floating", [False, True])
def test_rate_of_the_jacobian(floating: bool) -> None:
    tree = a_tree(4, floating)
    q, qd = some_states(tree)
    point = [0.3, -0.1, 0.2]
    rate = tree.jacobian_rate(q, qd, "b7", point)
    ends = []
    for side in (-1e-5, 1e-5):
        moved = q.copy()
        for s in range(N):
            advance_coordinates(tree.tree, moved[s], qd[s], side)
        ends.append(tree.jacobian(moved, "b7", point))
    difference = (ends[1] - ends[0]) / 2e-5
    assert np.abs(difference - rate).max() < 1e-8 * np.abs(rate).max()


def test_momentum_is_that_of_the_bodies() -> None:
    tree = a_tree(5, True)
    q, qd = some_states(tree)
    masses, weights = tree.tree.mass, tree.momentum(q, qd)["linear"]
    total = np.zeros((N, 3))
    for b, name in enumerate(tree.body_names[:-1]):
        centre = tree._com_B[b]
        v = np.einsum("nrk,nk->nr", tree.jacobian(q, name, centre), qd)[:, 3:]
        total += masses[tree.tree.node[b]] * v
    assert np.abs(total - weights).max() < 1e-12 * np.abs(total).max()


def test_the_start_is_the_scene_and_names_tell_the_layout() -> None:
    joints = [
        {"name": "shoulder", "type": "universal", "parent": "world", "child": "upper",
         "anchor": [0, 0, 2], "axis": [1, 0, 0], "axis2": [0, 1, 0]},
        {"name": "wrist", "type": "ball", "parent": "upper", "child": "hand",
         "anchor": [0, 0, 1]},
    ]  # fmt: skip
    common = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    bodies: list[Any] = [
        {"name": "upper", "position": [0, 0, 1.5], **common},
        {"name": "hand", "position": [0, 0, 0.8], **common},
        {"name": "stone", "position": [3, 0, 1], "center_of_mass": [0.1, 0, 0], **common},
    ]
    arm = of(document(bodies, joints))
    told = [(c.joint, c.body, c.motion, c.number, c.q, c.v) for c in arm.coordinates]
    assert told == [
        ("shoulder", "upper", "hinge", 0, (0, 1), (0, 1)),
        ("shoulder", "upper", "hinge", 1, (1, 2), (1, 2)),
        ("wrist", "hand", "ball", 0, (2, 6), (2, 5)),
        (None, "stone", "free", None, (6, 13), (5, 11)),
    ]
    found = arm.kinematics(arm.start)
    assert np.allclose(found["position"], [[0, 0, 1.5], [0, 0, 0.8], [3, 0, 1.0]], atol=1e-14)
    # a hinge turns the child in the positive sense of its axis
    bent = arm.start.copy()
    bent[0] = np.pi / 2
    assert np.allclose(arm.kinematics(bent)["position"][0], [0, 0.5, 2.0], atol=1e-14)


def test_closed_form_of_a_pendulum() -> None:
    rod = {"name": "rod", "position": [0, 0, -0.5], "mass": 2.0, "inertia": [0.3, 0.3, 0.1]}
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "rod",
           "anchor": [0, 0, 0], "axis": [0, 1, 0]}  # fmt: skip
    arm = of(document([rod], [pin]))
    angle = np.linspace(-2.0, 2.0, 9)[:, None]
    moment = 0.3 + 2.0 * 0.25
    assert np.allclose(arm.mass_matrix(angle)[:, 0, 0], moment, rtol=1e-14)
    wanted = -2.0 * 9.81 * 0.5 * np.sin(angle) / moment
    assert np.allclose(arm.forward_dynamics(angle), wanted, rtol=0, atol=1e-13)


def faults_of(error: Any) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in error.value.errors]


def test_states_that_do_not_fit_are_refused_with_their_place() -> None:
    tree = a_tree(6, True)
    q, qd = some_states(tree)
    with pytest.raises(StatesInvalid) as error:
        tree.inverse_dynamics(q[:, :-1], qd[:, :-2])
    assert faults_of(error) == [("/q/0", "wrong_shape"), ("/qd/0", "wrong_shape")]
    with pytest.raises(StatesInvalid) as error:
        tree.inverse_dynamics(q, qd[:3])
    assert faults_of(error) == [("/qd", "wrong_shape")]
    bad = q.copy()
    bad[2, 1] = np.nan
    with pytest.raises(StatesInvalid) as error:
        tree.mass_matrix(bad)
    assert faults_of(error) == [("/q/2/1", "not_finite")]
    bad = q.copy()
    bad[4, 3:7] *= 1.1
    with pytest.raises(StatesInvalid) as error:
        tree.mass_matrix(bad)
    assert faults_of(error) == [("/q/4/3", "not_normalised")]
    with pytest.raises(StatesInvalid) as error:
        tree.jacobian(q, "nobody")
    assert faults_of(error) == [("/body", "unknown_body")]
    with pytest.raises(StatesInvalid) as error:
        tree.jacobian(q, "b1", [0, 0])
    assert faults_of(error) == [("/point", "wrong_shape")]


def test_what_is_given_is_not_changed() -> None:
    tree = a_tree(6, True)
    q, qd = some_states(tree)
    q[:, 3:7] *= 1.0005
    before = q.copy()
    tree.forward_dynamics(q, qd)
    assert np.array_equal(q, before)


def test_a_joint_of_a_kinematic_body_is_outside_of_the_tree_and_says_why() -> None:
    base = {"name": "base", "type": "kinematic", "angular_velocity": [0, 0, 5]}
    rod = {"name": "rod", "mass": 1.0, "inertia": [1, 1, 1]}
    ends = {"parent": "base", "child": "rod"}
    pin = {"name": "pin", "type": "hinge", "anchor": [0, 0, 0], "axis": [0, 1, 0], **ends}
    tree = Dynamics({"version": 1, "bodies": [base, rod], "joints": [pin]})
    assert tree.outside == ("pin",)
    with pytest.raises(SceneError, match="holds a kinematic body"):
        tree.forward_dynamics(tree.start)


def test_joints_outside_of_the_tree_are_named() -> None:
    bodies = [{"name": f"b{i}", "position": [i, 0, 1], "mass": 1, "inertia": [1, 1, 1]}
              for i in range(3)]  # fmt: skip
    ends = [("world", "b0"), ("b0", "b1"), ("b1", "b2"), ("world", "b2")]
    joints = [{"name": f"j{k}", "type": "hinge", "parent": a, "child": b,
               "anchor": [k - 0.5, 0, 1], "axis": [0, 1, 0]}
              for k, (a, b) in enumerate(ends)]  # fmt: skip
    ring = of(document(bodies, joints))
    assert len(ring.outside) == 1
    assert ring.mass_matrix(ring.start).shape == (3, 3)
    with pytest.raises(SceneError) as error:
        ring.forward_dynamics(ring.start)
    number = ring.joint_names.index(ring.outside[0])
    assert faults_of(error) == [(f"/joints/{number}", "outside_tree")]


def test_a_scene_where_nothing_moves_is_refused() -> None:
    with pytest.raises(SceneError) as error:
        of(document([{"name": "wall", "type": "static"}], []))
    assert faults_of(error) == [("/bodies", "nothing_moves")]
