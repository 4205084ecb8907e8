"""Rotors of joints (armature): an inertia that a rate has and no body shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Dynamics, run
from cardan.engine.build.faults import SceneError
from cardan.schemas import load_scene
from tests.engine.scenes import Document, brick, document, rod, simulate
from tests.engine.trees.trees import random_scene
from tests.references.mechanism_scenes import four_bars

pytestmark = pytest.mark.law

ROTOR = 0.3


def pendulum(armature: float, **simulation: Any) -> Document:
    """A rod of 1 m from the horizontal."""
    pin: Document = {
        "type": "hinge",
        "name": "pin",
        "parent": "world",
        "child": "r",
        "axis": [0, 1, 0],
    }
    pin |= {"anchor": [0, 0, 0], "armature": armature}
    scene = document([rod("r", [0, 0, 0], 1.0)], [pin])
    return scene | {"simulation": {"formulation": "reduced", **simulation}}


def pair(**simulation: Any) -> Document:
    """Two bricks that turn about each other in space, on a ball and a hinge with rotors."""
    bodies = [brick(f"b{i}", position=[0.5 * i, 0.0, 0.0]) for i in range(3)]
    bodies[1] |= {"angular_velocity": [1.0, -2.0, 0.5]}
    joints: list[Document] = [
        {"type": "ball", "name": "j0", "parent": "b0", "child": "b1", "anchor": [0.25, 0, 0]},
        {"type": "hinge", "name": "j1", "parent": "b1", "child": "b2", "anchor": [0.75, 0, 0]},
    ]
    joints[1] |= {"axis": [0, 0.6, 0.8]}
    for joint in joints:
        joint["armature"] = 0.05
    return document(bodies, joints) | {"simulation": {"formulation": "reduced", **simulation}}


def test_a_rotor_slows_what_it_turns_with() -> None:
    heavy = Dynamics(load_scene(pendulum(ROTOR)))
    light = Dynamics(load_scene(pendulum(0.0)))
    inertia = light.mass_matrix(light.start)[0, 0]
    weight = light.forward_dynamics(light.start)[0] * inertia
    assert heavy.forward_dynamics(heavy.start)[0] == pytest.approx(weight / (inertia + ROTOR))
    sim = simulate(pendulum(ROTOR, dt=1e-3))
    sim.advance(1)
    assert sim.velocities()[0, 4] == pytest.approx(1e-3 * weight / (inertia + ROTOR), rel=1e-5)


def test_algorithms_undo_one_another() -> None:
    scene = random_scene(np.random.default_rng(8), 9)
    rng = np.random.default_rng(9)
    bare = Dynamics(load_scene(scene))
    for k, joint in enumerate(scene["joints"]):
        joint["armature"] = 0.1 * (k + 1)
    scene["simulation"] = {"formulation": "reduced"}
    tree = Dynamics(load_scene(scene))
    qd, tau = rng.normal(size=(2, tree.nv))
    qdd = tree.forward_dynamics(tree.start, qd, tau)
    assert np.abs(tree.inverse_dynamics(tree.start, qd, qdd) - tau).max() < 1e-11
    H = tree.mass_matrix(tree.start)
    extra = H - bare.mass_matrix(tree.start)
    assert np.abs(extra - np.diag(np.diag(extra))).max() < 1e-12
    assert np.diag(extra).max() == pytest.approx(0.1 * len(scene["joints"]))
    energy = tree.energy(tree.start, qd)["kinetic"]
    assert energy == pytest.approx(0.5 * qd @ H @ qd, rel=1e-12)


def test_energy_and_momenta_of_both_ways_to_step() -> None:
    ends = []
    for more in ({"dt": 2e-4}, {"dt": 1e-3, "integrator": "rk4"}):
        sim = simulate(pair(**more) | {"gravity": [0, 0, 0]})
        sim.advance(round(0.5 / sim.time_step))
        assert sim.failure is None
        summary = sim.summary()
        assert summary["energy"]["max_relative_drift"] < 1e-6
        assert summary["momentum"]["max_angular_drift"] < 1e-6
        ends.append(sim.poses())
    assert np.abs(ends[0] - ends[1]).max() < 1e-5


def test_the_start_of_a_scene_is_as_it_says() -> None:
    scene = pendulum(ROTOR)
    middle = scene["bodies"][0]["position"][0]
    scene["bodies"][0] |= {"angular_velocity": [0, 2.0, 0], "linear_velocity": [0, 0, -2 * middle]}
    sim = simulate(scene | {"gravity": [0, 0, 0]})
    sim.advance(10)
    assert sim.velocities()[0, 4] == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_what_is_recorded_at_the_start_has_the_energy_of_rotors(integrator: str) -> None:
    scene = pendulum(ROTOR, integrator=integrator, duration=0.01) | {"gravity": [0, 0, 0]}
    scene["joints"][0]["initial"] = {"velocity": 2.0}
    tree, recording = Dynamics(load_scene(scene)), run(load_scene(scene))[0]
    with_rotor = float(tree.energy(tree.start, np.array([2.0]))["kinetic"])
    assert recording.tables()["energy"]["kinetic"] == pytest.approx(with_rotor, rel=1e-12)


def test_where_rates_are_no_coordinates_rotors_are_refused() -> None:
    scene = pendulum(ROTOR)
    scene["simulation"]["formulation"] = "maximal"
    bars = four_bars(1)
    # the second pin closes the loop
    bars["joints"][1]["armature"] = 0.1
    for refused, joint in ((scene, 0), (bars, 1)):
        with pytest.raises(SceneError) as caught:
            simulate(refused)
        assert [fault.pointer for fault in caught.value.errors] == [f"/joints/{joint}/armature"]
