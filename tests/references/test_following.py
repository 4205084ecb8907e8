"""Position motors follow their targets: amplitude, phase and ramps against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

H = 1e-3
AMPLITUDE = 0.1
FORMULATIONS = ("maximal", "reduced")


def sine(frequency: float, end: float) -> dict[str, Any]:
    """A sine, told at the ends of steps."""
    times = np.arange(round(end / H) + 8) * H
    values = AMPLITUDE * np.sin(2.0 * math.pi * frequency * times)
    return {"times": times.tolist(), "values": values.tolist()}


def driven(kind: str, motors: dict[str, Any], formulation: str = "maximal", **options: Any) -> Any:
    """One body on one joint, along or about z, or with a second axis."""
    body = {"name": "b", "mass": 2.0, "inertia": [0.3, 0.4, 0.5]}
    joint = {"name": "j", "type": kind, "parent": "world", "child": "b", "anchor": [0, 0, 0]}
    if kind == "universal":
        joint |= {"axis": [0, 0, 1], "axis2": [1, 0, 0]}
    elif kind != "ball":
        joint["axis"] = [0, 0, 1]
    simulation = {"dt": H, "formulation": formulation, **options}
    return simulate(document([body], [joint | motors], gravity=[0, 0, 0], simulation=simulation))


def wave(path: np.ndarray, times: np.ndarray, frequency: float) -> tuple[float, float]:
    """Amplitude and lag [s] of a path, by least squares."""
    w = 2.0 * math.pi * frequency
    columns = np.column_stack([np.sin(w * times), np.cos(w * times), np.ones_like(times)])
    s, c, _ = np.linalg.lstsq(columns, path, rcond=None)[0]
    return math.hypot(s, c), -math.atan2(c, s) / w


def follow(sim: Any, coordinate: int, frequency: float) -> tuple[float, float]:
    """Amplitude and lag of a coordinate after 0.1 s, when the start is forgotten."""
    sim.advance(100)
    times, path = [], []
    for _ in range(100):
        sim.advance(1)
        times.append(sim.time)
        path.append(float(sim.joint_table()["q"][coordinate]))
    return wave(np.array(path), np.array(times), frequency)


CASES = [
    ("hinge", "motor", 0),
    ("slider", "motor", 0),
    ("universal", "motor2", 1),
    ("cylindrical", "motor2", 1),
]


@pytest.mark.parametrize("frequency", [10.0, 50.0, 100.0])
@pytest.mark.parametrize(("kind", "motor", "coordinate"), CASES)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_amplitude_and_lag(
    formulation: str, kind: str, motor: str, coordinate: int, frequency: float
) -> None:
    drive: Document = {motor: {"type": "position", "target": sine(frequency, 0.2)}}
    if coordinate == 1:
        drive["motor"] = {"type": "position", "target": 0.0}
    amplitude, lag = follow(driven(kind, drive, formulation), coordinate, frequency)
    assert amplitude == pytest.approx(AMPLITUDE, rel=1e-3)
    assert abs(lag) < 1e-3 * H
    # means of middles: 1 - (omega h)^6/64 and smaller terms
    theta = 2.0 * math.pi * frequency * H
    short = sum(c * math.cos(k * theta) for k, c in enumerate((22, 15, -6, 1))) / 32.0
    assert amplitude == pytest.approx(short * AMPLITUDE, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_ball_turns_about_a_fixed_axis_as_asked(formulation: str) -> None:
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    target = sine(50.0, 0.2)
    target["values"] = [(x * axis).tolist() for x in target["values"]]
    sim = driven("ball", {"motor": {"type": "position", "target": target}}, formulation)
    amplitude, lag = follow(sim, 0, 50.0)
    assert amplitude == pytest.approx(2.0 / 3.0 * AMPLITUDE, rel=1e-3)
    assert abs(lag) < 0.02 * H


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ramp_is_followed_without_lag(formulation: str) -> None:
    motor = {"type": "position", "target": {"times": [0, 0.1, 1.0], "values": [0, 0, 1.8]}}
    sim = driven("slider", {"motor": motor}, formulation)
    sim.advance(200)
    assert sim.joint_table()["q"][0] == pytest.approx(2.0 * (sim.time - 0.1), abs=1e-9)
    assert sim.joint_table()["qd"][0] == pytest.approx(2.0, rel=1e-9)


def test_a_bend_of_the_target_is_cut_by_a_tenth_of_a_step() -> None:
    motor = {"type": "position", "target": {"times": [0, 0.1, 1.0], "values": [0, 0, 1.8]}}
    sim = driven("slider", {"motor": motor})
    worst = 0.0
    for _ in range(150):
        sim.advance(1)
        worst = max(worst, abs(sim.joint_table()["q"][0] - 2.0 * max(sim.time - 0.1, 0.0)))
    assert worst == pytest.approx(2.0 * H * 3.0 / 32.0, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_step_has_no_rate(formulation: str) -> None:
    target = {"times": [0, 0.05], "values": [0, 0.3], "interpolation": "step"}
    sim = driven("slider", {"motor": {"type": "position", "target": target}}, formulation)
    speeds = []
    for _ in range(150):
        sim.advance(1)
        speeds.append(abs(float(sim.joint_table()["qd"][0])))
    # erp = 0.2 of the step goes in one step of the simulation, no more
    assert max(speeds) == pytest.approx(0.2 * 0.3 / H, rel=1e-6)
    assert sim.joint_table()["q"][0] == pytest.approx(0.3, abs=1e-9)


def test_a_speed_limit_holds_for_the_target_too() -> None:
    motor = {"type": "position", "target": {"times": [0, 1], "values": [0, 3]}, "max_speed": 2.0}
    sim = driven("slider", {"motor": motor})
    sim.advance(100)
    assert sim.joint_table()["qd"][0] == pytest.approx(2.0, rel=1e-12)


def test_parts_of_a_step_between_exact_impacts_follow_too() -> None:
    motor = {"type": "position", "target": {"times": [0, 1], "values": [0, 1.5]}}
    body = {"name": "b", "mass": 2.0, "inertia": [0.3] * 3}
    ball = {"name": "ball", "mass": 1.0, "position": [3.0, 0, 0.1021]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "steel"}]
    plane = {"type": "plane", "normal": [0, 0, 1], "material": "steel"}
    steel = {"steel": {"restitution": 1.0}}
    floor = {"name": "floor", "type": "static", "shapes": [plane]}
    joint = {"name": "j", "type": "slider", "parent": "world", "child": "b", "axis": [1, 0, 0]}
    options = {"dt": H, "contact": {"impact_time": "exact"}}
    joints = [joint | {"motor": motor}]
    sim = simulate(document([floor, body, ball], joints, materials=steel, simulation=options))
    for _ in range(20):
        sim.advance(10)
        if sim.time > 0.05:
            assert sim.joint_table()["q"][0] == pytest.approx(1.5 * sim.time, abs=1e-5)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint", "rk4"])
def test_a_damper_of_a_drive_is_against_the_speed_of_the_target(integrator: str) -> None:
    motor: Document = {"type": "position", "target": {"times": [0, 10], "values": [0, 5]}}
    motor |= {"stiffness": 400.0, "damping": 40.0}
    sim = driven("hinge", {"motor": motor}, "reduced", integrator=integrator)
    sim.advance(2000)
    row = sim.joint_table()[0]
    assert row["qd"] == pytest.approx(0.5, rel=1e-6)
    assert row["q"] == pytest.approx(0.5 * sim.time, abs=1e-6 if integrator == "rk4" else 1e-3 * H)


def test_a_soft_ball_drive_follows_a_turn_about_a_moving_axis() -> None:
    """Where spring and damper see the target itself, what follows it exactly feels its torque
    alone: with much of both it is there but for I alpha/k."""
    times = np.arange(0.0, 1.0, H)
    phi = np.column_stack([0.8 * np.sin(2 * times), 0.5 * times, 0.6 * np.cos(times) - 0.6])
    target = {"times": times.tolist(), "values": phi.tolist()}
    motor = {"type": "position", "target": target, "stiffness": 4e3, "damping": 400.0}
    sim = driven("ball", {"motor": motor}, "reduced", integrator="rk4")
    sim.advance(800)
    assert sim.joint_table()["q"][:3] == pytest.approx(phi[800], abs=1e-3)
