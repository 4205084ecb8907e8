"""Balls in hollows of facets: as in smooth ones where facets are small, and struck by corners."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cardan import engine
from cardan.schemas import load_scene

G, RADIUS, BALL = 9.81, 1.0, 0.1


def strip(points: Any, closed: bool = False) -> dict[str, Any]:
    """A surface along y over points in the plane of x and z."""
    n = len(points)
    vertices = [[float(x), y, float(z)] for x, z in points for y in (-0.3, 0.3)]
    faces = []
    for i in range(n if closed else n - 1):
        p, q = 2 * i, 2 * ((i + 1) % n)
        faces += [[p, q, q + 1], [p, q + 1, p + 1]]
    return {"type": "mesh", "vertices": vertices, "faces": faces, "material": "m"}


def ball_on(surface: dict[str, Any], friction: float, dt: float, **ball: Any) -> engine.Simulation:
    shape = {"type": "sphere", "radius": BALL, "material": "m"}
    document = {
        "gravity": [0, 0, -G],
        "simulation": {"dt": dt, "duration": 10},
        "materials": {"m": {"friction": friction}},
        "bodies": [
            {"name": "track", "type": "static", "shapes": [surface]},
            {"name": "ball", "mass": 1.0, "shapes": [shape], **ball},
        ],
    }
    return engine.Simulation(load_scene(document))


def loop(facets: int) -> dict[str, Any]:
    angle = 2 * math.pi * np.arange(facets) / facets
    out = RADIUS / math.cos(math.pi / facets)
    return strip([[out * math.sin(a), -out * math.cos(a)] for a in angle], closed=True)


def mechanical(simulation: engine.Simulation) -> float:
    energy = simulation.energy()
    return energy["kinetic"] + energy["potential"]


@pytest.mark.parametrize("facets", [720, 1440])
@pytest.mark.parametrize("rolls", [False, True])
def test_a_ball_keeps_its_energy_in_a_loop(facets: int, rolls: bool) -> None:
    """Once round at 9 m/s at the bottom; struck in each step it would lose 4 %."""
    speed = 9.0
    simulation = ball_on(
        loop(facets), 0.8 if rolls else 0.0, 1e-3,
        position=[0, 0, BALL - RADIUS],
        linear_velocity=[speed, 0, 0],
        angular_velocity=[0, speed / BALL if rolls else 0.0, 0],
    )  # fmt: skip
    start, before, turned = mechanical(simulation), 0.0, 0.0
    while turned < 2 * math.pi:
        simulation.advance(1)
        assert simulation.time < 2.0
        x, _, z = simulation.poses()[1, :3]
        angle = math.atan2(x, -z)
        turned += (angle - before + math.pi) % (2 * math.pi) - math.pi
        before = angle
    kinetic = (0.7 if rolls else 0.5) * speed**2
    assert mechanical(simulation) == pytest.approx(start, abs=0.005 * kinetic)


def test_a_ball_rolls_to_and_fro_as_a_pendulum() -> None:
    angle = np.linspace(-1.5, 1.5, 688)
    out = RADIUS / math.cos(0.5 * (angle[1] - angle[0]))
    start, d = 0.8, RADIUS - BALL
    simulation = ball_on(
        strip([[out * math.sin(a), -out * math.cos(a)] for a in angle]), 0.8, 1e-3,
        position=[d * math.sin(start), 0.03, -d * math.cos(start)],
    )  # fmt: skip
    times = np.linspace(0, 5, 51)
    truth = solve_ivp(lambda _, y: [y[1], -G / (1.4 * d) * math.sin(y[0])], (0, 5), [start, 0.0],
                      "DOP853", times, rtol=1e-10, atol=1e-12)  # fmt: skip
    found = [simulation.poses()[1, 0]]
    for _ in times[1:]:
        simulation.advance(100)
        found.append(simulation.poses()[1, 0])
    assert found == pytest.approx(d * np.sin(truth.y[0]), abs=0.005 * d * math.sin(start))


@pytest.mark.parametrize("corner", [0.03, 0.2])
def test_a_hollow_corner_takes_what_is_across_it(corner: float) -> None:
    """A ball that slides into a slope keeps the velocity along it."""
    rise = [math.cos(corner), math.sin(corner)]
    track = strip([[-2, 0], [0, 0], rise, [2 * rise[0], 2 * rise[1]]])
    simulation = ball_on(track, 0.0, 2e-4, position=[-0.5, 0, BALL], linear_velocity=[4.0, 0, 0])
    start = mechanical(simulation)
    simulation.advance(1250)
    assert simulation.poses()[1, 0] > 0.2
    lost = (start - mechanical(simulation)) / (0.5 * 16.0)
    assert lost == pytest.approx(math.sin(corner) ** 2, rel=0.05)
