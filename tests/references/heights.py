"""The heights of a bouncing ball, exact and ours."""

from __future__ import annotations

import functools
import math

import numpy as np

from tests.engine.scenes import document, ground, simulate

G, E, START = 9.81, 0.8, 1.0


def exact_height(t: float) -> float:
    """Height [m] of a ball dropped from START that keeps a share E of its speed at each impact."""
    fall = math.sqrt(2.0 * START / G)
    if t <= fall:
        return START - 0.5 * G * t * t
    t, v = t - fall, E * G * fall
    while v > 1e-6 and t > 2.0 * v / G:
        t, v = t - 2.0 * v / G, E * v
    return max(0.0, v * t - 0.5 * G * t * t)


@functools.cache
def bouncing_curves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (n,), exact and computed heights (n,) over four seconds at 1 ms."""
    rubber = {"rubber": {"restitution": E}}
    ball = {"name": "ball", "position": [0, 0, START + 0.1], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "rubber"}]
    scene = document(
        [ground(material="rubber"), ball],
        materials=rubber,
        contact={"restitution_threshold": 0.01},
        simulation={"dt": 1e-3, "duration": 4.0},
    )
    sim = simulate(scene)
    t = 0.01 * np.arange(401)
    ours = np.zeros(401)
    for k in range(401):
        ours[k] = sim.poses()[1, 2] - 0.1
        sim.advance(10)
    return t, np.array([exact_height(one) for one in t]), ours
