"""Spinning bodies against published and closed-form answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.build.rotations import rotation_matrix
from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference


def test_tumbling_about_the_middle_axis_for_a_minute() -> None:
    """I = (1, 2, 3), w = (0.01, 1, 0.01): the body turns over three times in 60 s.

    Body rates and orientation at 60 s from a reference solution good to 1e-12.
    """
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 2.0, 3.0]}
    body |= {"angular_velocity": [0.01, 1.0, 0.01]}
    sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": 0.01, "duration": 60.0}))
    sim.advance(6000)
    q = sim.poses()[0, 3:]
    w_body = rotation_matrix(q).T @ sim.velocities()[0, 3:]
    expected = [0.0016442582221340197, -1.0000486470241807, 0.008219967256618705]
    assert w_body == pytest.approx(expected, abs=1e-7)
    q_expected = np.array(
        [-0.013951029472262436, 0.9874569885381278, -0.0018527431974123528, -0.15725975933632932]
    )
    assert min(np.abs(q - q_expected).max(), np.abs(q + q_expected).max()) < 1e-7


@pytest.mark.parametrize("which", ["slow", "fast"])
def test_top_precesses_steadily_at_either_of_its_two_rates(which: str) -> None:
    """C w3 p - A p^2 cos(theta) = m g l, w3 the angular velocity along the axis.

    A = 0.1 about the tip, C = 0.05, m g l = 1.962, theta = 30 degrees, w3 = 100 rad/s.
    """
    A, C, mgl, theta, w3 = 0.1, 0.05, 9.81 * 0.2, math.radians(30), 100.0
    cosine = math.cos(theta)
    root = math.sqrt((C * w3) ** 2 - 4.0 * A * cosine * mgl)
    p = (
        (C * w3 - root) / (2 * A * cosine)
        if which == "slow"
        else (C * w3 + root) / (2 * A * cosine)
    )
    assert p == pytest.approx(0.39510385350778243 if which == "slow" else 57.339923065454784)
    axis = np.array([math.sin(theta), 0.0, cosine])
    # precession about z plus spin about the axis, whose projection on the axis makes w3
    w = np.array([0.0, 0.0, p]) + (w3 - p * cosine) * axis
    top = {
        "name": "top",
        "position": (0.2 * axis).tolist(),
        "orientation": [math.cos(theta / 2), 0.0, math.sin(theta / 2), 0.0],
        "mass": 1.0,
        "inertia": [A - 0.04, A - 0.04, C],
        "angular_velocity": w.tolist(),
        "linear_velocity": np.cross(w, 0.2 * axis).tolist(),
    }
    tip = {"name": "tip", "type": "ball", "parent": "world", "child": "top", "anchor": [0, 0, 0]}
    dt = 1e-3 if which == "slow" else 1e-4
    sim = simulate(document([top], [tip], simulation={"dt": dt, "duration": 1.0}))
    azimuth, tilt = [], []
    for _ in range(100):
        sim.advance(round(0.01 / dt))
        r = sim.poses()[0, :3]
        azimuth.append(math.atan2(r[1], r[0]))
        tilt.append(math.acos(r[2] / np.linalg.norm(r)))
    turned = np.unwrap([0.0, *azimuth])[-1]
    assert turned == pytest.approx(p, rel=2e-3)
    assert np.abs(np.array(tilt) - theta).max() < 1e-3
