"""SimBenchmark (ETH Zurich): rolling, bouncing and 666 balls, errors as published there.

All errors are means over the steps of squared errors; error correction is off (ERP = CFM = 0), as
in the published figures.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from tests.engine.scenes import document, ground, simulate
from tests.references.rows import Case, Row, at_most

SOURCE = "SimBenchmark, RSL ETH Zurich"
G = 9.81
DIRECTIONS = {"y": (0.0, 1.0), "xy": (0.5, math.sqrt(0.75))}


def rolling_scene(direction: str) -> dict[str, Any]:
    """25 balls on a box that is pushed with 150 N over the ground and slides."""
    x, y = DIRECTIONS[direction]
    sunk = 2e-5
    box = {"type": "box", "size": [20, 20, 1], "material": "box"}
    sphere = {"type": "sphere", "radius": 0.5, "material": "ball"}
    bodies: list[dict[str, Any]] = [ground(material="ground")]
    bodies.append({"name": "box", "mass": 10, "position": [0, 0, 0.5 - sunk], "shapes": [box]})
    for i in range(25):
        at = [2.0 * (i // 5) - 4, 2.0 * (i % 5) - 4, 1.5 - sunk]
        bodies.append({"name": f"ball-{i}", "mass": 1, "position": at, "shapes": [sphere]})
    pairs = [
        {"materials": ["box", "ground"], "friction": 0.4},
        {"materials": ["ball", "box"], "friction": 0.8},
    ]
    return document(
        bodies,
        forces=[{"type": "wrench", "body": "box", "force": [150 * x, 150 * y, 0]}],
        materials={"box": {}, "ball": {}, "ground": {}},
        material_pairs=pairs,
        simulation={"dt": 1e-3, "duration": 4.0},
        contact={"erp": 0.0},
    )


@functools.cache
def rolling_error(direction: str, steps: int = 4000) -> float:
    """Mean over the steps of the sum over box and balls of |v - exact|^2 [m^2/s^2].

    Sliding friction of 0.4 (10 + 25) g on the box; balls roll: a_ball = 2/7 a_box.
    """
    sim = simulate(rolling_scene(direction))
    push = np.array([*DIRECTIONS[direction], 0.0])
    a_box = (150.0 - 0.4 * 35 * G) / (10.0 + 25.0 * 2.0 / 7.0)
    rates = np.array([0.0, a_box] + [a_box * 2.0 / 7.0] * 25)
    total = 0.0
    for _ in range(steps):
        sim.advance(1)
        exact = sim.time * rates[:, None] * push
        total += float(((sim.velocities()[:, :3] - exact) ** 2).sum())
    return total / steps


def rolling() -> list[Row]:
    """Both directions of the push."""
    return [
        at_most(f"velocity error, 4 s, push along {name}", rolling_error(name), 1e-8, "m^2/s^2")
        for name in DIRECTIONS
    ]


def balls_scene(restitution: float, height: float, duration: float = 10.0) -> dict[str, Any]:
    """6 x 6 x 6 frictionless balls above the ground, each moved a little aside."""
    rng = np.random.default_rng(42)
    sphere = {"type": "sphere", "radius": 0.1, "material": "ball"}
    bodies: list[dict[str, Any]] = [ground(material="ball")]
    for i in range(216):
        layer, row, column = i // 36, i // 6 % 6, i % 6
        aside = rng.uniform(0.0, 1e-3, 2)
        at = [0.21 * column + aside[0], 0.21 * row + aside[1], height + 0.21 * layer]
        bodies.append({"name": f"ball-{i}", "mass": 10, "position": at, "shapes": [sphere]})
    return document(
        bodies,
        materials={"ball": {"friction": 0.0, "restitution": restitution}},
        simulation={"dt": 1e-3, "duration": duration},
        contact={"erp": 0.0, "restitution_threshold": 0.0},
    )


def penetrations(p: np.ndarray) -> float:
    """Sum of squared penetrations of balls of 0.1 m at p (n, 3) with each other and z = 0 [m^2]."""
    pairs = cKDTree(p).query_pairs(0.2, output_type="ndarray")
    apart = np.linalg.norm(p[pairs[:, 0]] - p[pairs[:, 1]], axis=1)
    floor = np.minimum(p[:, 2] - 0.1, 0.0)
    return float(((0.2 - apart) ** 2).sum() + (floor**2).sum())


@functools.cache
def penetration_error(steps: int) -> float:
    """Mean over the steps of the sum of squared penetrations [m^2], inelastic balls."""
    sim = simulate(balls_scene(0.0, 0.101))
    total = 0.0
    for _ in range(steps):
        sim.advance(1)
        total += penetrations(sim.poses()[1:, :3])
    return total / steps


def bouncing_scene() -> dict[str, Any]:
    """7 x 7 frictionless balls dropped from 5 m that lose nothing at the ground."""
    sphere = {"type": "sphere", "radius": 0.1, "material": "ball"}
    bodies: list[dict[str, Any]] = [ground(material="ball")]
    for i in range(49):
        at = [2.0 * (i // 7), 2.0 * (i % 7), 5.0]
        bodies.append({"name": f"ball-{i}", "mass": 10, "position": at, "shapes": [sphere]})
    return document(
        bodies,
        materials={"ball": {"friction": 0.0, "restitution": 1.0}},
        simulation={"dt": 1e-3, "duration": 20.0},
        contact={"erp": 0.0},
    )


@functools.cache
def bouncing_error(steps: int) -> float:
    """Mean over the steps of (E - E0)^2 [J^2], E of all balls from their speeds and heights."""
    sim = simulate(bouncing_scene())
    start = 10.0 * G * 5.0 * 49
    total = 0.0
    for _ in range(steps):
        sim.advance(1)
        v, z = sim.velocities()[1:, :3], sim.poses()[1:, 2]
        total += (5.0 * float((v**2).sum()) + 10.0 * G * float(z.sum()) - start) ** 2
    return total / steps


def balls() -> list[Row]:
    """All 10 s."""
    return [at_most("squared penetrations, 10 s at 1 ms", penetration_error(10000), 1.35e-4, "m^2")]


def bouncing() -> list[Row]:
    """All 20 s, by stepping alone: a bounce takes back the speed of the step it is in."""
    return [at_most("energy error, 20 s at 1 ms", bouncing_error(20000), 0.0186, "J^2")]


CASES = {
    "rolling": Case(SOURCE, rolling),
    "balls-666": Case(SOURCE, balls, slow=True),
    "bouncing": Case(SOURCE, bouncing, slow=True),
}
