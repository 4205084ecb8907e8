"""Impacts with an answer in closed form: at their exact moment, and by stepping."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate
from tests.references.closed_forms import CHECKS, checks
from tests.references.rows import Case, Row, at_least, at_most, near
from tests.references.simbenchmark import SOURCE, bouncing_scene

EXACT = {"impact_time": "exact"}


def balls(centres: list[list[float]], speeds: list[float], **contact: Any) -> Simulation:
    """Equal frictionless balls of 0.1 m that lose nothing; speeds along x, no gravity."""
    sphere = {"type": "sphere", "radius": 0.1, "material": "steel"}
    bodies = [
        {"name": f"ball-{k}", "mass": 0.5, "position": at, "shapes": [sphere]}
        | {"linear_velocity": [speed, 0, 0]}
        for k, (at, speed) in enumerate(zip(centres, speeds, strict=True))
    ]
    steel = {"steel": {"friction": 0.0, "restitution": 1.0}}
    space: dict[str, Any] = {"gravity": [0, 0, 0], "simulation": {"dt": 1e-3}}
    return simulate(document(bodies, materials=steel, contact=contact, **space))


def bounces(contact: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Times [s] and following apexes [m] of the first six impacts of a ball dropped from 1 m.

    Both from the flight after an impact, which is a parabola exactly.
    """
    params = checks()["bouncing_ball_times"]["params"]
    rubber, g = {"rubber": {"restitution": params["e"]}}, params["g"]
    ball = {"name": "ball", "position": [0, 0, params["h"] + 0.1], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "rubber"}]
    scene = document([ground(material="rubber"), ball], materials=rubber, contact=contact)
    sim = simulate({**scene, "gravity": [0, 0, -g]})
    times: list[float] = []
    apexes: list[float] = []
    falling = True
    while len(times) < 6 and sim.time < 4.0:
        sim.advance(1)
        height, speed = float(sim.poses()[1, 2]) - 0.1, float(sim.velocities()[1, 2])
        if falling and speed > 0.0:
            left = math.sqrt(speed**2 + 2.0 * g * height)
            times.append(sim.time - (left - speed) / g)
            apexes.append(height + speed**2 / (2.0 * g))
        falling = speed < 0.0
    return times, apexes


def bouncing_times() -> list[Row]:
    """A ball that keeps 0.8 of its speed."""
    expect = checks()["bouncing_ball_times"]["expect"]
    found = {}
    for name, contact in (("exact", EXACT), ("step", {})):
        times, apexes = bounces(contact)
        late = float(np.abs(np.array(times) - expect["impact_times"]).max())
        high = float(np.abs(np.array(apexes[:5]) - expect["apex"]).max())
        found[name] = late, high
    return [
        at_most("six impact times, exact moments", found["exact"][0], 1e-10, "s"),
        at_most("five apexes, exact moments", found["exact"][1], 1e-10, "m"),
        at_most("six impact times by stepping, per impact", found["step"][0] / 6, 1e-3, "s"),
    ]


def cradle() -> list[Row]:
    """Five balls in a row: with gaps, touching under a law in turn, and all at once."""
    apart = balls([[0.2 * k + 0.01 * k, 0, 0] for k in range(5)], [1, 0, 0, 0, 0], **EXACT)
    apart.advance(100)
    v = apart.velocities()[:, 0]
    exchanged = float(np.abs(v - [0, 0, 0, 0, 1]).max())
    touching = [[0.2 * k, 0, 0] for k in range(5)]
    rows = [at_most("speeds after one pass, with gaps", exchanged, 1e-12, "m/s")]
    for k in (1, 2):
        speeds = [1.0] * k + [0.0] * (5 - k)
        sim = balls(touching, speeds, restitution_law="propagating")
        sim.advance(5)
        off = float(np.abs(sim.velocities()[:, 0] - speeds[::-1]).max())
        rows.append(at_most(f"touching, in turn: {k} in, {k} out", off, 1e-9, "m/s"))
    at_once = checks()["newtons_cradle"]["expect"]["simultaneous_newton_e1_N5"]
    sim = balls(touching, [1, 0, 0, 0, 0])
    sim.advance(3)
    off = float(np.abs(sim.velocities()[:, 0] - at_once).max())
    rows.append(at_most("touching, all at once (Newton's law)", off, 1e-9, "m/s"))
    return rows


def oblique() -> list[Row]:
    """Equal balls, one at rest, part at right angles."""
    worst, slowest = 0.0, math.inf
    for share in (0.2, 0.5, 0.8):
        sim = balls([[-0.5, 0.2 * share, 0], [0, 0, 0]], [1.0, 0.0], **EXACT)
        sim.advance(800)
        a, b = sim.velocities()[:, :3]
        slowest = min(slowest, float(np.linalg.norm(a)), float(np.linalg.norm(b)))
        cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
        worst = max(worst, abs(math.asin(cosine)))
    return [
        at_most("angle between them off 90 degrees", worst, 1e-9, "rad"),
        at_least("slower of the two", slowest, 0.1, "m/s"),
    ]


def bouncing_exactly() -> list[Row]:
    """SimBenchmark's 49 bouncing balls with impacts at their moment, 5 s."""
    scene = bouncing_scene()
    scene["simulation"]["contact"] = {**scene["simulation"]["contact"], **EXACT}
    sim, total, steps = simulate(scene), 0.0, 5000
    start = 10.0 * 9.81 * 5.0 * 49
    for _ in range(steps):
        sim.advance(1)
        v, z = sim.velocities()[1:, :3], sim.poses()[1:, 2]
        total += (5.0 * float((v**2).sum()) + 10.0 * 9.81 * float(z.sum()) - start) ** 2
    # dropped from 5 m to 0.1 m: sqrt(2 h/g) down, and the same up
    fall = math.sqrt(2.0 * 4.9 / 9.81)
    since = (sim.time - fall) % (2.0 * fall)
    height = 5.0 - 0.5 * 9.81 * (since - fall) ** 2
    return [
        at_most("energy error, 5 s at 1 ms", total / steps, 1e-10, "J^2"),
        near("height at the end", float(sim.poses()[1, 2]), height, 1e-9, "m"),
    ]


CASES = {
    "bouncing_ball_times": Case(CHECKS, bouncing_times),
    "newtons_cradle": Case(CHECKS, cradle),
    "equal_mass_oblique": Case(CHECKS, oblique),
    "bouncing-exact": Case(SOURCE, bouncing_exactly),
}
