"""Every example is a scene, and the engine takes it."""

import math

import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document, example_names, example_text


def test_examples_show_what_scenes_are_made_of() -> None:
    """Shapes, joints with motors and limits, forces: some example has each."""
    documents = [example_document(name) for name in example_names()]
    bodies = [body for document in documents for body in document["bodies"]]
    joints = [joint for document in documents for joint in document.get("joints", [])]
    shapes = {shape["type"] for body in bodies for shape in body.get("shapes", [])}
    assert {"plane", "box", "sphere", "capsule"} <= shapes
    assert {"hinge", "ball"} <= {joint["type"] for joint in joints}
    assert any("motor" in joint for joint in joints)
    assert any("limits" in joint for joint in joints)
    assert {"mesh", "heightfield", "cylinder"} <= shapes
    assert any(document.get("forces") for document in documents)
    assert all(document.get("description") for document in documents)


@pytest.mark.parametrize("name", example_names())
def test_example_validates_builds_and_runs_ten_steps(name: str) -> None:
    simulation = Simulation(load_scene(example_text(name)))
    assert simulation.advance(10) == 10
    assert simulation.failure is None
    assert math.isfinite(simulation.energy()["total"])
