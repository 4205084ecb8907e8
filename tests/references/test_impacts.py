"""Impacts: restitution, and what a simultaneous law does to a row of balls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import document, ground, simulate
from tests.references.scenes import first_impact_speeds

pytestmark = pytest.mark.reference


def balls(speeds: list[float], gap: float = 0.0) -> Any:
    """Equal balls of 0.1 m in a row along x, frictionless, restitution 1, no gravity."""
    bodies = [
        {
            "name": f"ball-{k}",
            "position": [k * (0.2 + gap), 0, 0],
            "mass": 0.5,
            "linear_velocity": [v, 0, 0],
            "shapes": [{"type": "sphere", "radius": 0.1, "material": "steel"}],
        }
        for k, v in enumerate(speeds)
    ]
    steel = {"steel": {"friction": 0.0, "restitution": 1.0}}
    return simulate(document(bodies, materials=steel, gravity=[0, 0, 0], simulation={"dt": 1e-3}))


def test_two_balls_exchange_their_speeds() -> None:
    sim = balls([1.0, 0.0], gap=0.01)
    sim.advance(100)
    assert sim.velocities()[:, 0] == pytest.approx([0.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("n", [3, 5])
def test_touching_balls_under_the_simultaneous_law(n: int) -> None:
    """All contacts at once: v0 = -(n - 2)/n, the others 2/n (closed form); energy is kept."""
    sim = balls([1.0] + [0.0] * (n - 1))
    sim.advance(3)
    expected = [-(n - 2) / n] + [2 / n] * (n - 1)
    assert sim.velocities()[:, 0] == pytest.approx(expected, abs=1e-9)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-12


def test_balls_with_gaps_pass_the_speed_on() -> None:
    sim = balls([1.0, 0, 0, 0, 0], gap=0.005)
    sim.advance(200)
    assert sim.velocities()[:, 0] == pytest.approx([0, 0, 0, 0, 1.0], abs=1e-9)


def test_oblique_impact_of_equal_balls_leaves_at_right_angles() -> None:
    sim = balls([1.0, 0.0], gap=0.05)
    state = sim.state
    state.p_WB[1, 1] = 0.1
    sim.advance(300)
    a, b = sim.velocities()[:, :3]
    assert np.linalg.norm(a) > 0.1
    assert np.dot(a, b) == pytest.approx(0.0, abs=1e-9)


def test_bouncing_ball_keeps_its_heights() -> None:
    """Apexes e^2, e^4, e^6 of the first height; an impact may come up to a step early."""
    e = 0.8
    ball = {"name": "ball", "position": [0, 0, 1.1], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "rubber"}]
    scene = document(
        [ground(material="rubber"), ball],
        materials={"rubber": {"restitution": e}},
        simulation={"dt": 5e-4, "duration": 4.0},
    )
    sim = simulate(scene)
    heights, falling = [], True
    last = sim.poses()[1, 2]
    apexes = []
    for _ in range(5000):
        sim.advance(1)
        z = sim.poses()[1, 2]
        if not falling and z < last:
            apexes.append(last - 0.1)
        falling = z < last
        last = z
        heights.append(z)
    assert apexes[:3] == pytest.approx([e**2, e**4, e**6], rel=1e-2)


def test_cradle_follows_the_simultaneous_law() -> None:
    speed = math.sqrt(2 * 9.81 * 0.5 * (1 - math.cos(math.radians(40))))
    expected = speed * np.array([-0.6, 0.4, 0.4, 0.4, 0.4])
    assert first_impact_speeds("newton") == pytest.approx(expected, abs=1e-2)
