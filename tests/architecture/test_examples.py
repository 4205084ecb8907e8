"""Every example is a scene, and the engine takes it."""

import math

import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_names, example_text


def test_there_are_eight() -> None:
    assert len(example_names()) >= 8


@pytest.mark.parametrize("name", example_names())
def test_example_validates_builds_and_runs_ten_steps(name: str) -> None:
    simulation = Simulation(load_scene(example_text(name)))
    assert simulation.advance(10) == 10
    assert simulation.failure is None
    assert math.isfinite(simulation.energy()["total"])
