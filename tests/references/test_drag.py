"""Drag against its closed forms: second order in the step, and every joule is booked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

MASS, SPEED, SECONDS = 2.0, 3.0, 1.0


def moving(dt: float, drag: dict[str, float], gravity: float = 0.0, speed: float = SPEED) -> float:
    """Speed along x after SECONDS of a body under drag and a force along x."""
    body = brick("mass", mass=MASS, linear_velocity=[speed, 0, 0])
    force = {"type": "drag", "body": "mass", **drag}
    scene = document([body], forces=[force], gravity=[gravity, 0, 0], simulation={"dt": dt})
    sim = simulate(scene)
    sim.advance(round(SECONDS / dt))
    assert sim.summary()["energy"]["balance_error"] <= 1e-13
    assert np.abs(sim.velocities()[0, 1:]).max() == 0.0
    return float(sim.velocities()[0, 0])


def falling(c: float) -> float:
    """Quadratic drag from rest: terminal speed u, v = u tanh(g t/u)."""
    u = math.sqrt(MASS * 9.81 / c)
    return u * math.tanh(9.81 * SECONDS / u)


CASES: dict[str, tuple[dict[str, float], float, float, float]] = {
    "linear": ({"linear": 1.0}, 0.0, SPEED, SPEED * math.exp(-SECONDS / MASS)),
    "quadratic": (
        {"quadratic": 0.5},
        0.0,
        SPEED,
        SPEED / (1.0 + 0.5 * SPEED * SECONDS / MASS),
    ),
    "both": (
        {"linear": 1.0, "quadratic": 0.5},
        0.0,
        SPEED,
        SPEED / ((1.0 + 0.5 * SPEED) * math.exp(SECONDS / MASS) - 0.5 * SPEED),
    ),
    "falling": ({"quadratic": 0.5}, 9.81, 0.0, falling(0.5)),
}


@pytest.mark.parametrize("name", CASES)
def test_speed_is_right_to_second_order(name: str) -> None:
    drag, gravity, speed, expected = CASES[name]
    errors = [abs(moving(dt, drag, gravity, speed) - expected) for dt in (0.02, 0.01, 0.005)]
    assert errors[2] <= 1e-5 * expected
    if name == "quadratic":
        # v+ = v/(1 + h c v/m): the rule is exact along a line
        assert max(errors) <= 1e-13
    else:
        assert errors[0] / errors[1] >= 3.5
        assert errors[1] / errors[2] >= 3.5


def test_strong_drag_brings_to_rest_and_never_turns_round() -> None:
    for drag in ({"linear": 1e6}, {"quadratic": 1e6}):
        assert 0.0 <= moving(0.01, drag) <= 0.01 * SPEED


def thrown(dt: float) -> Simulation:
    """A ball thrown through air at 1/240 s: the balance once was off by 8e-3."""
    ball: dict[str, Any] = {"name": "ball", "mass": 0.1, "linear_velocity": [20, 3, 10]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.05}]
    air = {"type": "drag", "body": "ball", "linear": 0.01, "quadratic": 0.02}
    sim = simulate(document([ball], forces=[air], simulation={"dt": dt}))
    sim.advance(round(SECONDS / dt))
    return sim


def test_what_drag_takes_is_booked_as_damping() -> None:
    sim = thrown(1.0 / 240.0)
    summary, energy = sim.summary(), sim.energy()
    assert summary["energy"]["balance_error"] <= 1e-13
    lost = summary["energy"]["initial"] - energy["total"]
    assert energy["dissipated_damping"] == pytest.approx(lost, rel=1e-12)
    assert energy["correction"] == 0.0
    assert summary["momentum"]["max_linear_drift"] <= 1e-12


def pulled_chain(formulation: str, dt: float, links: int = 10) -> Simulation:
    """Links of 10 cm, let go level, each with drag, after 40 ms."""
    length, names = 0.1, ["world", *(f"link{k}" for k in range(links))]
    inertia = [1e-5, 1e-4, 1e-4]
    bodies = [
        {"name": names[k + 1], "position": [length * (k + 0.5), 0, 0], "mass": 0.1,
         "inertia": inertia}
        for k in range(links)
    ]  # fmt: skip
    joints = [
        {"name": f"pin{k}", "type": "hinge", "parent": names[k], "child": names[k + 1],
         "anchor": [length * k, 0, 0], "axis": [0, 1, 0]}
        for k in range(links)
    ]  # fmt: skip
    forces = [
        {"name": f"air{k}", "type": "drag", "body": names[k + 1], "linear": 0.5, "quadratic": 1.0}
        for k in range(links)
    ]
    simulation = {"dt": dt, "formulation": formulation}
    sim = simulate(document(bodies, joints, forces=forces, simulation=simulation))
    sim.advance(round(0.04 / dt))
    return sim


def test_drag_on_many_links_is_the_same_in_both_formulations() -> None:
    """In joint coordinates by conjugate gradients, in a few products whatever their number."""
    apart = []
    for dt in (0.004, 0.002):
        reduced, maximal = pulled_chain("reduced", dt), pulled_chain("maximal", dt)
        apart.append(float(np.abs(reduced.poses() - maximal.poses()).max()))
        assert reduced.summary()["energy"]["balance_error"] <= 1e-13
        solver = reduced.summary()["solver"]
        assert solver["max_residual"] <= 1e-13
        assert 1 < solver["mean_iterations"] < 20
    assert math.log2(apart[0] / apart[1]) > 1.8


def test_drag_on_a_pendulum_is_of_second_order() -> None:
    """The force knows what the joint makes of the velocity."""
    angles = []
    for dt in (8e-3, 4e-3, 2e-3, 1e-3):
        rod = {"name": "rod", "position": [0.5, 0, 0], "mass": 1.0, "inertia": [0.01, 0.09, 0.09]}
        pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "rod"}
        pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
        air = {"type": "drag", "body": "rod", "linear": 0.5, "quadratic": 0.4}
        sim = simulate(document([rod], [pin], forces=[air], simulation={"dt": dt}))
        sim.advance(round(0.96 / dt))
        angles.append(float(sim.joint_table()["q"][0]))
    steps = np.abs(np.diff(angles))
    assert (steps[:-1] / steps[1:]).min() >= 3.5
