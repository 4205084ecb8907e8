"""Curved bodies that roll, rock and spin on a plane: their energy is kept, whatever the step.

The scenes lie in benchmarks/trust/scenes; what they reached before contacts were of second order
stands in the text of each row (decisions 0144, 0201, 0510, 0512).
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cardan.engine import Simulation
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document
from tests.references.rows import Case, Row, at_least, at_most, near

SCENES = Path(__file__).parents[2] / "benchmarks" / "trust" / "scenes"
DT = 1e-3
LOOP, BALL = 1.0, 0.1
# [rad/s] of the rattleback, by equations of rolling: `rolled` of tests/laws/test_rolling.py
TURNED = 5.0907


def followed(name: str, duration: float) -> tuple[NDArray[np.float64], Simulation]:
    """Quaternions of the last body after every step of 1 ms, (n + 1, 4), and the simulation."""
    scene = json.loads((SCENES / f"{name}.json").read_text())
    scene["simulation"] = {"dt": DT, "duration": duration}
    simulation = Simulation(load_scene(scene))
    found = [simulation.poses()[-1, 3:]]
    for _ in range(round(duration / DT)):
        simulation.advance(1)
        found.append(simulation.poses()[-1, 3:])
    return np.array(found), simulation


def tilt(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angle of the z axis of a body to the vertical [rad]."""
    x, y = quaternions[:, 1], quaternions[:, 2]
    return np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))


def rocking() -> list[Row]:
    """An ellipsoid let go half a radian aslant rocks between half a radian and half a radian."""
    rows = []
    for name, how, before in (
        ("ellipsoid-slip", "without friction", 0.276),
        ("ellipsoid-rock", "without slip", 0.403),
    ):
        found, _ = followed(name, 20.0)
        last = float(tilt(found)[-5000:].max())
        rows.append(near(f"{how}: amplitude after 20 s ({before} before)", last, 0.5, 0.005, "rad"))
    return rows


def disk() -> list[Row]:
    """A thin disk that rolls steadily on a circle stays at its tilt."""
    found, _ = followed("disk-29", 4.0)
    least = math.degrees(tilt(found).min())
    return [near("lowest tilt in 4 s (6.8 before)", least, 30.0, 0.3, "degrees")]


def rattleback() -> list[Row]:
    """The ellipsoid of Kane and Levinson, rolling without slip, turns back."""
    _, simulation = followed("rattleback-5", 8.0)
    spin = float(simulation.velocities()[-1, 5])
    return [near("spin after 8 s (0.24 before)", spin, TURNED, 0.01 * TURNED, "rad/s")]


def tippe_top() -> list[Row]:
    """Steps of 0.1 ms, and equations of motion with the limit of Coulomb's law, stay upright."""
    found, _ = followed("tippe", 6.0)
    upward = float(np.cos(tilt(found)).min())
    return [at_least("upward part of the axis, least in 6 s (-1 before)", upward, 0.9, "")]


def loop() -> list[Row]:
    """A ball slides without friction once round a loop of 1440 facets, at 9 m/s at the bottom."""
    facets, speed = 1440, 9.0
    angle = 2.0 * math.pi * np.arange(facets) / facets
    out = LOOP / math.cos(math.pi / facets)
    vertices = [
        [out * math.sin(a), y, -out * math.cos(a)] for a in angle.tolist() for y in (-0.3, 0.3)
    ]
    faces = []
    for i in range(facets):
        p, q = 2 * i, 2 * ((i + 1) % facets)
        faces += [[p, q, q + 1], [p, q + 1, p + 1]]
    track = {"type": "mesh", "vertices": vertices, "faces": faces, "material": "ice"}
    bodies: list[Document] = [
        {"name": "track", "type": "static", "shapes": [track]},
        {
            "name": "ball", "mass": 1.0, "position": [0, 0, BALL - LOOP],
            "linear_velocity": [speed, 0, 0],
            "shapes": [{"type": "sphere", "radius": BALL, "material": "ice"}],
        },
    ]  # fmt: skip
    ice = {"ice": {"friction": 0.0}}
    simulation = Simulation(load_scene(document(bodies, materials=ice, simulation={"dt": DT})))
    start = total(simulation)
    turned, before = 0.0, 0.0
    while turned < 2.0 * math.pi and simulation.time < 2.0:
        simulation.advance(1)
        x, _, z = simulation.poses()[1, :3]
        now = math.atan2(x, -z)
        turned += (now - before + math.pi) % (2.0 * math.pi) - math.pi
        before = now
    lost = abs(start - total(simulation)) / (0.5 * speed**2)
    return [
        at_least("way round", turned, 2.0 * math.pi, "rad"),
        at_most("energy lost, of the kinetic energy at the bottom (0.044 before)", lost, 0.005, ""),
    ]


def total(simulation: Simulation) -> float:
    """Kinetic and potential energy [J]."""
    energy = simulation.energy()
    return float(energy["kinetic"] + energy["potential"])


CASES = {
    "ellipsoid that rocks": Case("energy is kept", rocking),
    "disk on a circle": Case("steady rolling", disk),
    "rattleback": Case("Kane and Levinson 1982, equations solved", rattleback),
    "tippe top that stays up": Case("equations of motion with Coulomb's law", tippe_top),
    "loop of 1440 facets": Case("energy is kept", loop),
}
