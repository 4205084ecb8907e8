"""The reason in Constraint Notes n.d. for the finite orientation update: fast wheels on axles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import document, simulate
from tests.references.rolling_forms import bicycle_flow

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


def test_the_equations_of_the_bicycle_have_the_published_eigenvalues() -> None:
    """Meijaard et al. 2007, table 2, at 5 m/s: castering, capsize, weave."""
    found = np.sort_complex(np.linalg.eigvals(bicycle_flow(5.0)))
    weave = complex(-0.77534188, 4.46486771)
    published = [-14.07838969, weave.conjugate(), weave, -0.32286643]
    np.testing.assert_allclose(found, published, atol=1e-7)
