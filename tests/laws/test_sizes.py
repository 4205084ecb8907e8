"""Machines of any size: micrometres or kilometres, they move as those of a metre do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cardan.schemas.examples import example_text
from tests.laws.machines import machine
from tests.laws.measures import after, apart
from tests.laws.transforms import in_units

# powers of two: numbers change their exponents alone
SIZES = {"micrometres": 2.0**-20, "millimetres": 2.0**-10, "kilometres": 2.0**10}
# errors by tolerances of 1e-8 m/s and 1e-9 m, in metres, seconds and radians of the original scene
BOUNDS = {"micrometres": 3e-5, "millimetres": 1e-5, "kilometres": 1e-6}
STEPS = 300


def scene_of(name: str) -> dict[str, Any]:
    """A scene whose joints need position correction in every step."""
    scene: dict[str, Any] = machine() if name == "machine" else json.loads(example_text(name))
    scene["simulation"] = {"dt": 1e-3, "duration": 1.0}
    return scene


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        ("machine", "maximal"),
        ("double-pendulum", "maximal"),
        ("heavy-top", "maximal"),
        ("slider-crank", "maximal"),
        ("slider-crank", "reduced"),
    ],
)
def test_a_machine_of_any_size_moves_as_one_of_a_metre(
    name: str, formulation: str, size: str
) -> None:
    """Gravity and density are the same, so that times scale as the square root of lengths."""
    scene = scene_of(name)
    scene["simulation"]["formulation"] = formulation
    length, time, mass = SIZES[size], SIZES[size] ** 0.5, SIZES[size] ** 3
    p, q, v, w = after(in_units(scene, length, time, mass), STEPS)
    difference = apart(after(scene, STEPS), (p / length, q, v * time / length, w * time))
    assert difference < BOUNDS[size]
