"""Torsion springs about bodies that turn about other axes than the spring's: energy and order."""

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation, run

SPIN = {"free": [2.0, 0.4, 1.0], "tilted hinge": [1.0, 0.0, 3.0**0.5]}


def scene(kind: str, dt: float, formulation: str = "maximal", damping: float = 0.0) -> Any:
    """A body that a torsion spring about z holds; free, or on a hinge 30 degrees off z."""
    body = {"name": "b", "mass": 1.0, "inertia": [0.1, 0.12, 0.09], "angular_velocity": SPIN[kind]}
    axis = [0.5, 0.0, math.sqrt(0.75)]
    hinge = {"name": "h", "type": "hinge", "parent": "world", "child": "b", "anchor": [0, 0, 0]}
    spring = {"name": "s", "type": "torsion", "parent": "world", "child": "b", "axis": [0, 0, 1]}
    return {
        "gravity": [0, 0, 0],
        "simulation": {"dt": dt, "duration": 3.0, "formulation": formulation},
        "bodies": [body],
        "joints": [hinge | {"axis": axis}] if kind == "tilted hinge" else [],
        "forces": [spring | {"stiffness": 0.5, "damping": damping}],
    }


def drift(document: Any) -> float:
    """Largest change of the energy of a run, as a share of it."""
    summary = run(document)[1]
    assert summary["verdict"]["status"] == "trusted"
    return float(summary["energy"]["max_relative_drift"])


@pytest.mark.parametrize("kind", SPIN)
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_its_energy_is_kept_whatever_axis_a_body_turns_about(kind: str, formulation: str) -> None:
    """A torque along the axis alone gave a free body 360 times its energy at any step."""
    coarse = drift(scene(kind, 2e-3, formulation))
    fine = drift(scene(kind, 1e-3, formulation))
    assert fine < 2e-4
    assert coarse == pytest.approx(4.0 * fine, rel=0.2) or coarse < 1e-9


def test_its_torque_is_the_slope_of_its_energy() -> None:
    """Turned by small angles about each axis of the world, at a pose far from the start."""
    document = scene("free", 1e-6)
    document["bodies"][0]["angular_velocity"] = [0.0, 0.0, 0.0]

    def posed(turn: Any) -> Simulation:
        angle = float(np.linalg.norm(turn))
        s, c = math.sin(0.5 * angle), math.cos(0.5 * angle)
        by = np.array([c, *(np.asarray(turn) * (s / angle if angle > 0 else 0.0))])
        a, b, start = by[0], by[1:], np.array([0.6, 0.5, -0.4, 0.48])
        start /= np.linalg.norm(start)
        w, v = start[0], start[1:]
        q = np.array([a * w - b @ v, *(a * v + w * b + np.cross(b, v))])
        one = Simulation(document)
        one.set_state([0.0, 0.0, 0.0, *q])
        return one

    simulation = posed([0.0, 0.0, 0.0])
    simulation.advance(1)
    inertia = np.array([0.1, 0.12, 0.09])
    q = simulation.poses()[0, 3:7]
    w, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    R = np.eye(3) + 2.0 * (w * cross + cross @ cross)
    torque = R @ np.diag(inertia) @ R.T @ simulation.velocities()[0, 3:] / 1e-6
    step = 1e-5
    for k, unit in enumerate(np.eye(3)):
        ahead, behind = (posed(sign * step * unit).energy()["potential"] for sign in (1.0, -1.0))
        assert torque[k] == pytest.approx(-(ahead - behind) / (2.0 * step), rel=1e-4, abs=1e-6)


def test_a_damped_one_takes_energy_and_is_of_second_order() -> None:
    """The damper acts on the rate of the twist: what it takes is booked."""
    ends = {}
    for dt in (4e-3, 2e-3, 1e-3, 2.5e-4):
        recording, summary = run(scene("free", dt, damping=0.02))
        energy = recording.tables()["energy"]["total"]
        assert summary["energy"]["balance_error"] < 1e-3
        assert energy[-1] < 0.98 * energy[0]
        ends[dt] = Simulation(scene("free", dt, damping=0.02))
        ends[dt].advance(round(3.0 / dt))
    q = {dt: one.poses()[0, 3:7] for dt, one in ends.items()}
    errors = [float(np.abs(q[dt] - q[2.5e-4]).max()) for dt in (4e-3, 2e-3, 1e-3)]
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]
