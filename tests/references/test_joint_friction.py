"""Friction and damping of joints with several free motions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference


def scene(joint: dict[str, Any], forces: list[Any] | None = None, **body: Any) -> Any:
    """A round body on a joint to the world, without gravity."""
    stone = {"name": "b", "mass": 2.0, "inertia": [0.5] * 3, **body}
    full = {"name": "j", "parent": "world", "child": "b", **joint}
    more = {"gravity": [0, 0, 0], "simulation": {"dt": 1e-3}, "forces": forces or []}
    return simulate(document([stone], [full], **more))


BALL = {"type": "ball", "anchor": [0, 0, 0]}
PLANAR = {"type": "planar", "axis": [0, 0, 1]}


@pytest.mark.parametrize("direction", [[1, 0, 0], [1, 1, 1], [0.2, -0.9, 0.4]])
def test_friction_of_a_ball_is_the_same_about_every_axis(direction: list[float]) -> None:
    n = np.array(direction) / np.linalg.norm(direction)
    sim = scene({**BALL, "friction": 1.0}, angular_velocity=(2.0 * n).tolist())
    sim.advance(500)
    assert sim.velocities()[0, 3:] == pytest.approx((2.0 - 0.5 / 0.5) * n, rel=1e-9, abs=1e-12)
    sim.advance(1000)
    assert sim.velocities()[0, 3:] == pytest.approx(np.zeros(3), abs=1e-12)
    assert sim.energy()["dissipated_friction"] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(("torque", "turns"), [(0.9, False), (1.1, True)])
def test_ball_sticks_up_to_its_friction(torque: float, turns: bool) -> None:
    push = {"type": "wrench", "body": "b", "torque": [0, torque, 0]}
    sim = scene({**BALL, "friction": 1.0}, [push])
    sim.advance(1000)
    expected = (torque - 1.0) / 0.5 if turns else 0.0
    assert sim.velocities()[0, 4] == pytest.approx(expected, abs=1e-3)


def test_ball_that_slides_is_turned_aside_by_any_torque() -> None:
    # friction is against the motion only: across it the smallest torque accelerates
    push = {"type": "wrench", "body": "b", "torque": [0, 0.3, 0]}
    sim = scene({**BALL, "friction": 1.0}, [push], angular_velocity=[20.0, 0, 0])
    sim.advance(100)
    w = sim.velocities()[0, 3:]
    assert w[1] == pytest.approx(0.3 * 0.1 / 0.5, rel=0.02)


def test_damping_of_a_ball_is_the_same_about_every_axis() -> None:
    w = np.array([1.0, -2.0, 0.5])
    sim = scene({**BALL, "damping": 0.5}, angular_velocity=w.tolist())
    sim.advance(1000)
    assert sim.velocities()[0, 3:] == pytest.approx(w * math.exp(-1.0), rel=1e-6)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("heading", np.linspace(0.0, 6.0, 5))
def test_planar_friction_is_the_same_in_every_direction(heading: float) -> None:
    n = np.array([math.cos(heading), math.sin(heading), 0.0])
    sim = scene({**PLANAR, "friction": 1.0}, linear_velocity=(2.0 * n).tolist())
    sim.advance(1000)
    assert sim.velocities()[0, :3] == pytest.approx(1.5 * n, rel=1e-9, abs=1e-12)
    assert sim.velocities()[0, 3:] == pytest.approx(np.zeros(3), abs=1e-12)


def test_planar_turn_has_a_friction_of_its_own() -> None:
    sim = scene({**PLANAR, "friction": 1.0}, angular_velocity=[0, 0, 2.0])
    sim.advance(500)
    assert sim.velocities()[0, 5] == pytest.approx(1.0, rel=1e-9)


def test_planar_damping_slows_all_three() -> None:
    sim = scene(
        {**PLANAR, "damping": 0.5}, linear_velocity=[1.0, -2.0, 0], angular_velocity=[0, 0, 3.0]
    )
    sim.advance(1000)
    v = sim.velocities()[0]
    assert v[:2] == pytest.approx(np.array([1.0, -2.0]) * math.exp(-0.25), rel=1e-6)
    assert v[5] == pytest.approx(3.0 * math.exp(-1.0), rel=1e-6)
