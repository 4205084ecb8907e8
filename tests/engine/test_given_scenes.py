"""Whatever takes a scene takes it loaded, as a document, and as JSON text."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cardan

PENDULUM: dict[str, Any] = {
    "simulation": {"dt": 0.001, "duration": 0.02},
    "bodies": [{"name": "rod", "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "position": [0, 0, -1]}],
    "joints": [
        {
            "name": "pin",
            "type": "hinge",
            "parent": "world",
            "child": "rod",
            "anchor": [0, 0, 0],
            "axis": [0, 1, 0],
        }
    ],
}

TARGET = [{"body": "rod", "position": [1.0, 0.0, 0.0]}]
CALLS: dict[str, Callable[[Any], Any]] = {
    "run": lambda scene: cardan.run(scene)[1]["state_hash"],
    "Simulation": lambda scene: cardan.Simulation(scene).state_hash(),
    "Dynamics": lambda scene: cardan.Dynamics(scene).mass_matrix([0.0]).tolist(),
    "preview": cardan.preview,
    "recording_steps": lambda scene: cardan.recording_steps(scene).tolist(),
    "verify": lambda scene: cardan.verify(scene),
    "rollout": lambda scene: cardan.rollout(scene, [{}]).metrics["state_hash"].tolist(),
    "linearize": lambda scene: cardan.linearize(scene).A.tolist(),
    "statics": lambda scene: cardan.statics(scene).status,
    "inverse_kinematics": lambda scene: cardan.inverse_kinematics(scene, TARGET).found,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_scene_is_taken_in_each_form(name: str) -> None:
    call = CALLS[name]
    loaded = call(cardan.load_scene(PENDULUM))
    assert call(PENDULUM) == loaded
    assert call(json.dumps(PENDULUM)) == loaded


@pytest.mark.parametrize("name", CALLS)
def test_a_document_with_faults_is_refused_with_all_of_them(name: str) -> None:
    wrong = json.loads(json.dumps(PENDULUM))
    wrong["bodies"][0]["mass"], wrong["joints"][0]["child"] = -1.0, "rot"
    with pytest.raises(cardan.SceneInvalid, match="/bodies/0/mass") as refused:
        CALLS[name](wrong)
    assert "/joints/0/child" in str(refused.value)


def test_what_helps_is_said_with_a_fault() -> None:
    with pytest.raises(cardan.SceneInvalid, match="Did you mean 'duration'"):
        cardan.run({"simulation": {"durration": 1.0}, "bodies": PENDULUM["bodies"]})


def test_steps_are_whole_numbers() -> None:
    simulation = cardan.Simulation(PENDULUM)
    assert simulation.advance(np.int64(2)) == 2  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        simulation.advance(1.5)  # type: ignore[arg-type]
    assert simulation.step_count == 2


def test_a_simulation_and_a_recording_say_what_they_are() -> None:
    simulation = cardan.Simulation(PENDULUM)
    simulation.advance(20)
    assert repr(simulation) == "<Simulation: 1 moving bodies, 1 joints, maximal, t = 0.02 s>"
    assert repr(cardan.run(PENDULUM)[0]) == "<Recording: 3 frames of 1 bodies>"


def test_an_example_that_is_none_leads_to_one_that_is() -> None:
    with pytest.raises(KeyError, match="Did you mean 'double-pendulum'"):
        cardan.example_text("doublependulum")


def test_a_distribution_that_is_none_is_told_in_words() -> None:
    with pytest.raises(ValueError, match="/gravity/2") as refused:
        cardan.sample({"/gravity/2": {"type": "normal", "mean": -9.8, "std": 0.1}}, 4)
    assert "/deviation: The field `deviation` is missing" in str(refused.value)
    assert "union" not in str(refused.value)
