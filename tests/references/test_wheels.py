"""The reason in Constraint Notes n.d. for the finite orientation update: fast wheels on axles."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference


def axle_angle(update: str, w: float, dt: float) -> float:
    """Angle [rad] a wheel on a hinge turns in one second at w rad/s, minus what it should."""
    wheel = {
        "name": "wheel",
        "mass": 3.0,
        "angular_velocity": [0, w, 0],
        "inertia": [0.02, 0.034, 0.02],
    }
    axle = {
        "name": "axle",
        "type": "hinge",
        "parent": "world",
        "child": "wheel",
        "anchor": [0, 0, 0],
        "axis": [0, 1, 0],
    }
    settings: dict[str, Any] = {"dt": dt, "orientation_update": update}
    sim = simulate(document([wheel], [axle], gravity=[0, 0, 0], simulation=settings))
    sim.advance(round(1.0 / dt))
    return float(sim.joint_table()["q"][0]) - w


def test_finite_update_turns_a_wheel_by_exactly_its_speed() -> None:
    assert abs(axle_angle("finite", 200.0, 0.001)) < 1e-9


def test_infinitesimal_update_lags_as_its_formula_says() -> None:
    w, dt = 200.0, 0.001
    half = 0.5 * dt * w
    lag = (2.0 * math.atan(0.5 * half) * 2.0 - dt * w) / dt
    assert axle_angle("infinitesimal", w, dt) == pytest.approx(lag, rel=1e-9)
    assert lag < -0.1
