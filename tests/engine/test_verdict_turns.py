"""Turns per step: gears and racks need less than half a turn, balls may turn by any angle."""

from __future__ import annotations

from typing import Any

import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene


def rack_and_pinion(speed: float, formulation: str) -> dict[str, Any]:
    """A pinion at a speed [rad/s] that moves a rack by 10 mm/rad, at 10 ms."""
    bar = {"mass": 2.0, "inertia": [0.1] * 3}
    bodies = [
        {"name": "pinion", "mass": 1.0, "inertia": [0.02] * 3, "angular_velocity": [0, 0, speed]},
        {"name": "bar", "position": [0, 0.5, 0], **bar, "linear_velocity": [0.01 * speed, 0, 0]},
    ]
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "pinion"}
    guide = {"name": "guide", "type": "slider", "parent": "world", "child": "bar"}
    teeth = {"name": "teeth", "type": "rack", "parent": "bar", "child": "pinion", "ratio": 0.01}
    joints = [
        {**pin, "anchor": [0, 0, 0], "axis": [0, 0, 1]},
        {**guide, "anchor": [0, 0.5, 0], "axis": [1, 0, 0]},
        {**teeth, "axis": [0, 0, 1], "axis2": [1, 0, 0]},
    ]
    options = {"dt": 0.01, "duration": 0.5, "formulation": formulation}
    scene = {"version": 1, "gravity": [0, 0, 0], "bodies": bodies, "joints": joints}
    return scene | {"simulation": options}


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize(("speed", "status"), [(290.0, "trusted"), (330.0, "suspect")])
def test_half_a_turn_per_step_is_too_much(formulation: str, speed: float, status: str) -> None:
    simulation = Simulation(load_scene(rack_and_pinion(speed, formulation)))
    simulation.advance(simulation.total_steps)
    off = abs(float(simulation.state.p_WB[1, 0]) - 0.01 * speed * 0.5)
    verdict = simulation.summary()["verdict"]
    assert verdict["status"] == status, (off, verdict["findings"])
    if status == "trusted":
        assert off < 1e-6
    else:
        (finding,) = verdict["findings"]
        assert (finding["quantity"], finding["body"]) == ("turn_per_step", "pinion")


@pytest.mark.parametrize(
    ("moments", "status"), [([0.004] * 3, "trusted"), ([0.004, 0.0045, 0.005], "suspect")]
)
def test_the_spin_of_a_ball_costs_nothing(moments: list[float], status: str) -> None:
    """It slides until it rolls at 5/7 of its speed, whatever its spin about the vertical."""
    speed, friction, radius, gravity, end = 2.0, 0.4, 0.1, 9.81, 0.5
    sphere = {"type": "sphere", "radius": radius, "material": "felt"}
    ball = {"name": "ball", "mass": 1.0, "inertia": moments, "position": [0, 0, radius]}
    ball |= {"linear_velocity": [speed, 0, 0], "angular_velocity": [0, 0, 30.0], "shapes": [sphere]}
    plane = {"type": "plane", "normal": [0, 0, 1], "material": "felt"}
    scene = {
        "version": 1,
        "gravity": [0, 0, -gravity],
        "materials": {"felt": {"friction": friction}},
        "bodies": [{"name": "floor", "type": "static", "shapes": [plane]}, ball],
        "simulation": {"dt": 0.01, "duration": end},
    }
    simulation = Simulation(load_scene(scene))
    simulation.advance(simulation.total_steps)
    verdict = simulation.summary()["verdict"]
    found = {finding["quantity"] for finding in verdict["findings"]}
    assert verdict["status"] == status, verdict["findings"]
    assert found == (set() if status == "trusted" else {"turn_per_step"})
    if status == "trusted":
        rolls = 2.0 * speed / (7.0 * friction * gravity)
        way = speed * rolls - 0.5 * friction * gravity * rolls**2
        way += 5.0 / 7.0 * speed * (end - rolls)
        i = list(simulation.body_names).index("ball")
        assert float(simulation.state.p_WB[i, 0]) == pytest.approx(way, rel=5e-3)
