"""Springs and dampers against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import brick, document, simulate

pytestmark = pytest.mark.reference

SLIDER = {
    "name": "rail",
    "type": "slider",
    "parent": "world",
    "child": "mass",
    "axis": [1, 0, 0],
}


def oscillator(damping: float = 0.0, dt: float = 1e-3) -> object:
    """2 kg on a joint spring of 200 N/m, moving at 1 m/s: w = 10 rad/s."""
    joint = {**SLIDER, "spring": {"stiffness": 200.0, "damping": damping}}
    mass = brick("mass", linear_velocity=[1.0, 0, 0])
    return simulate(document([mass], [joint], gravity=[0, 0, 0], simulation={"dt": dt}))


def test_joint_spring_swings_as_sine_and_keeps_energy() -> None:
    sim = oscillator()
    sim.advance(5000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.1 * math.sin(50.0), abs=1e-4)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-4


def test_joint_damper_decays_as_it_should() -> None:
    sim = oscillator(damping=4.0)
    sim.advance(1000)
    wd = math.sqrt(100.0 - 1.0)
    exact = math.exp(-1.0) * math.sin(wd) / wd
    assert float(sim.joint_table()["q"][0]) == pytest.approx(exact, abs=5e-6)
    energy = sim.energy()
    assert energy["dissipated_damping"] == pytest.approx(1.0 - energy["total"], rel=1e-4)


def test_very_stiff_joint_spring_stays_stable() -> None:
    joint = {**SLIDER, "spring": {"stiffness": 1e12, "damping": 0.0}}
    mass = brick("mass", linear_velocity=[1.0, 0, 0])
    sim = simulate(document([mass], [joint], gravity=[0, 0, 0], simulation={"dt": 1e-2}))
    sim.advance(1000)
    assert np.abs(sim.velocities()).max() <= 1.0 + 1e-9


@pytest.mark.parametrize("stiffness", [200.0, [0.0, 0.0, 5e4]])
def test_spring_between_points_keeps_energy(stiffness: object) -> None:
    spring = {
        "type": "spring",
        "parent": "world",
        "child": "mass",
        "anchor": [-1, 0, 0],
        "anchor2": [0, 0, 0],
        "stiffness": stiffness,
    }
    mass = brick("mass", linear_velocity=[1.0, 0, 0])
    sim = simulate(document([mass], forces=[spring], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(5000)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-4
    if stiffness == 200.0:
        assert sim.poses()[0, 0] == pytest.approx(0.1 * math.sin(50.0), abs=1e-4)


def damped(dt: float, damping: float, kind: str) -> Any:
    """A mass of 2 kg (or 0.02 kg m^2) at speed 1 on a damped force element, w = 10 /s."""
    ends = {"parent": "world", "child": "mass", "damping": damping}
    if kind == "spring":
        ends |= {"type": kind, "anchor": [-1, 0, 0], "anchor2": [0, 0, 0], "stiffness": 200.0}
        mass = brick("mass", linear_velocity=[1.0, 0, 0])
    else:
        ends |= {"type": kind, "axis": [0, 0, 1], "stiffness": 200.0}
        mass = brick("mass", inertia=[2.0, 2.0, 2.0], angular_velocity=[0, 0, 1.0])
    return simulate(document([mass], forces=[ends], gravity=[0, 0, 0], simulation={"dt": dt}))


@pytest.mark.parametrize("kind", ["spring", "torsion"])
def test_damper_of_a_force_element_is_second_order_and_booked(kind: str) -> None:
    wd = math.sqrt(100.0 - 1.0)
    exact = math.exp(-1.0) * (math.cos(wd) - math.sin(wd) / wd)
    error = []
    for dt in (4e-3, 2e-3):
        sim = damped(dt, 4.0, kind)
        sim.advance(round(1.0 / dt))
        v = sim.velocities()[0]
        error.append(abs(float(v[0] if kind == "spring" else v[5]) - exact))
        energy = sim.energy()
        assert energy["dissipated_damping"] == pytest.approx(1.0 - energy["total"], rel=1e-3)
    assert error[1] < 1e-4
    assert 3.8 < error[0] / error[1] < 4.2


def test_very_strong_damper_stays_stable() -> None:
    sim = damped(1e-2, 1e9, "spring")
    sim.advance(100)
    assert np.abs(sim.velocities()).max() <= 1.0


def test_torsion_spring_swings_as_sine() -> None:
    torsion = {"type": "torsion", "parent": "world", "child": "mass", "axis": [0, 0, 1]}
    torsion |= {"stiffness": 20.0}
    mass = brick("mass", inertia=[0.2, 0.2, 0.2], angular_velocity=[0, 0, 1.0])
    sim = simulate(document([mass], forces=[torsion], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(2000)
    assert sim.velocities()[0, 5] == pytest.approx(math.cos(20.0), abs=2e-4)


def test_drag_slows_as_exponential() -> None:
    drag = {"type": "drag", "body": "mass", "linear": 1.0}
    mass = brick("mass", linear_velocity=[3.0, 0, 0])
    sim = simulate(document([mass], forces=[drag], gravity=[0, 0, 0], simulation={"dt": 1e-4}))
    sim.advance(20000)
    assert sim.velocities()[0, 0] == pytest.approx(3.0 * math.exp(-1.0), rel=1e-4)


def test_two_bodies_circle_under_point_gravity() -> None:
    gravity = {"type": "point_gravity", "constant": 1.0}
    bodies = [
        brick("sun", mass=4.0, position=[-1.0, 0, 0], linear_velocity=[0, -1.0, 0]),
        brick("star", mass=4.0, position=[1.0, 0, 0], linear_velocity=[0, 1.0, 0]),
    ]
    sim = simulate(document(bodies, forces=[gravity], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(round(2 * math.pi / 1e-3))
    assert np.linalg.norm(sim.poses()[1, :2]) == pytest.approx(1.0, abs=1e-5)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-5
    assert sim.summary()["momentum"]["max_linear_drift"] < 1e-12
