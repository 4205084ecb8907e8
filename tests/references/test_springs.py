"""Springs and dampers against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

SLIDER = {
    "name": "rail",
    "type": "slider",
    "parent": "world",
    "child": "mass",
    "axis": [1, 0, 0],
}


def oscillator(damping: float = 0.0, dt: float = 1e-3) -> Simulation:
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


@pytest.mark.parametrize("part", ["damping", "spring"])
def test_strong_joint_damper_stops_the_body_and_books_it(part: str) -> None:
    strong = (
        {"damping": 1e6} if part == "damping" else {"spring": {"stiffness": 1.0, "damping": 1e6}}
    )
    mass = brick("mass", linear_velocity=[1.0, 0, 0])
    scene = document([mass], [{**SLIDER, **strong}], gravity=[0, 0, 0], simulation={"dt": 1e-2})
    sim = simulate(scene)
    sim.advance(10)
    energy = sim.energy()
    assert abs(sim.velocities()[0, 0]) < 1e-3
    assert energy["dissipated_damping"] == pytest.approx(1.0 - energy["total"], rel=1e-9)


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


def tied(stiffness: object, dt: float, damping: float = 0.0) -> Simulation:
    """2 kg at 1 m/s on a spring to a fixed point 1 m away, whose line it moves on."""
    spring = {"type": "spring", "parent": "world", "child": "mass", "stiffness": stiffness}
    spring |= {"anchor": [-1, 0, 0], "anchor2": [0, 0, 0], "damping": damping}
    mass = brick("mass", linear_velocity=[1.0, 0, 0])
    return simulate(document([mass], forces=[spring], gravity=[0, 0, 0], simulation={"dt": dt}))


@pytest.mark.parametrize("stiffness", [2e5, 1e12])
def test_stiff_spring_between_points_stays_stable_and_keeps_energy(stiffness: float) -> None:
    sim = tied(stiffness, 1e-2)
    sim.advance(1000)
    assert np.abs(sim.velocities()).max() <= 1.0 + 1e-9
    assert sim.energy()["total"] == pytest.approx(1.0, rel=1e-8)


def test_strong_damper_between_points_stops_the_body_and_books_it() -> None:
    sim = tied(1.0, 1e-2, damping=1e6)
    sim.advance(10)
    energy = sim.energy()
    assert abs(sim.velocities()[0, 0]) < 1e-3
    assert energy["dissipated_damping"] == pytest.approx(1.0 - energy["total"], rel=1e-9)


def test_spring_follows_its_curve_from_force_to_row() -> None:
    # soft at first, a row only where k1 + 3 k3 x^2 is large: the swing must not notice
    errors = []
    for dt in (2e-3, 1e-3):
        sim = tied([10.0, 0.0, 4e6], dt)
        fine = tied([10.0, 0.0, 4e6], 1e-5)
        sim.advance(round(0.2 / dt))
        fine.advance(20000)
        errors.append(abs(sim.poses()[0, 0] - fine.poses()[0, 0]))
    assert errors[1] < 2e-4
    assert errors[0] / errors[1] > 3.0


def test_damper_between_points_is_second_order() -> None:
    wd = math.sqrt(100.0 - 1.0)
    exact = math.exp(-1.0) * math.sin(wd) / wd
    errors = []
    for dt in (4e-3, 2e-3):
        sim = tied(200.0, dt, damping=4.0)
        sim.advance(round(1.0 / dt))
        errors.append(abs(sim.poses()[0, 0] - exact))
    assert errors[1] < 2e-5
    assert 3.8 < errors[0] / errors[1] < 4.2


def test_torsion_spring_counts_whole_turns() -> None:
    torsion: Document = {"type": "torsion", "parent": "world", "child": "mass", "axis": [0, 0, 1]}
    torsion |= {"stiffness": 0.02}
    mass = brick("mass", inertia=[0.2, 0.2, 0.2], angular_velocity=[0, 0, 4.0])
    sim = simulate(document([mass], forces=[torsion], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    w = math.sqrt(0.1)
    sim.advance(5000)
    assert float(sim.state.twist[0]) == pytest.approx(4.0 / w * math.sin(5 * w), rel=1e-3)
    assert 4.0 / w * math.sin(5 * w) > 2.0 * math.pi
    assert sim.velocities()[0, 5] == pytest.approx(4.0 * math.cos(5 * w), abs=1e-4)


def test_stiff_torsion_spring_swings_and_keeps_energy() -> None:
    torsion: Document = {"type": "torsion", "parent": "world", "child": "mass", "axis": [0, 0, 1]}
    torsion |= {"stiffness": 1e5}
    mass = brick("mass", inertia=[0.2, 0.2, 0.2], angular_velocity=[0, 0, 1.0])
    sim = simulate(document([mass], forces=[torsion], gravity=[0, 0, 0], simulation={"dt": 1e-2}))
    sim.advance(1000)
    assert sim.energy()["total"] == pytest.approx(0.1, rel=1e-9)


def test_torsion_spring_swings_as_sine() -> None:
    torsion: Document = {"type": "torsion", "parent": "world", "child": "mass", "axis": [0, 0, 1]}
    torsion |= {"stiffness": 20.0}
    mass = brick("mass", inertia=[0.2, 0.2, 0.2], angular_velocity=[0, 0, 1.0])
    sim = simulate(document([mass], forces=[torsion], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(2000)
    assert sim.velocities()[0, 5] == pytest.approx(math.cos(20.0), abs=2e-4)


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
