"""Limits stop where they should, bounce as they should, and hold."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference


def pendulum(limits: dict[str, Any], dt: float = 1e-3) -> Any:
    """A point-like mass on a 1 m rod, 60 degrees from hanging; the angle is 0 at the start."""
    start = math.radians(60)
    bob = {
        "name": "bob",
        "position": [math.sin(start), 0, -math.cos(start)],
        "mass": 1.0,
        "inertia": [1e-6, 1e-6, 1e-6],
    }
    pin = {
        "name": "pin",
        "type": "hinge",
        "parent": "world",
        "child": "bob",
        "anchor": [0, 0, 0],
        "axis": [0, 1, 0],
        "limits": limits,
    }
    return simulate(document([bob], [pin], simulation={"dt": dt, "duration": 3.0}))


SPEED = math.sqrt(2 * 9.81 * 0.5)


def test_inelastic_stop_takes_all_speed_and_holds() -> None:
    sim = pendulum({"upper": math.radians(60)})
    fastest = 0.0
    for _ in range(1500):
        sim.advance(1)
        fastest = max(fastest, abs(float(sim.joint_table()["qd"][0])))
    row = sim.joint_table()[0]
    assert fastest == pytest.approx(SPEED, rel=1e-3)
    assert row["q"] == pytest.approx(math.radians(60), abs=1e-6)
    assert row["qd"] == pytest.approx(0.0, abs=1e-5)
    lost = sim.energy()["dissipated_impact"]
    assert lost == pytest.approx(0.5 * SPEED**2, rel=5e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_bouncing_stop_returns_its_share_of_the_speed(restitution: float) -> None:
    sim = pendulum({"upper": math.radians(60), "restitution": restitution})
    while float(sim.joint_table()["qd"][0]) >= 0.0:
        sim.advance(1)
        assert sim.time < 2.0
    assert -float(sim.joint_table()["qd"][0]) == pytest.approx(restitution * SPEED, rel=5e-3)


def wagon(speed: float, gravity: float, restitution: float, threshold: float) -> Any:
    """A body on a rail that moves towards a stop, a tenth of a second away; gravity along it."""
    body = {"name": "wagon", "mass": 1.0, "inertia": [0.1] * 3, "linear_velocity": [speed, 0, 0]}
    rail: dict[str, Any] = {"name": "rail", "type": "slider", "parent": "world", "child": "wagon"}
    rail |= {"axis": [1, 0, 0], "limits": {"upper": 0.1 * speed, "restitution": restitution}}
    contact = {"restitution_threshold": threshold}
    scene = document([body], [rail], simulation={"dt": 1e-3, "contact": contact})
    return simulate(scene | {"gravity": [gravity, 0, 0]})


@pytest.mark.parametrize("speed", [1.0, 1e-3, 1e-6])
def test_in_scenes_of_small_speeds_stops_rebound_as_in_large_ones(speed: float) -> None:
    sim = wagon(speed, 0.0, 0.8, 0.5 * speed)
    sim.advance(300)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(-0.8 * speed, rel=1e-9)


@pytest.mark.parametrize("threshold", [0.5, 0.0])
def test_what_is_pressed_on_a_stop_comes_to_rest(threshold: float) -> None:
    sim = wagon(0.5, 9.81, 0.6, threshold)
    sim.advance(2000)
    row = sim.joint_table()[0]
    assert float(row["q"]) == pytest.approx(0.05, abs=1e-6)
    assert float(row["qd"]) == pytest.approx(0.0, abs=1e-9)
    assert float(row["limit_force"]) == pytest.approx(-9.81, rel=1e-6)


def test_soft_stop_settles_where_spring_and_weight_balance() -> None:
    limits = {"upper": math.radians(30), "stiffness": 200.0, "damping": 20.0}
    sim = pendulum(limits)
    sim.advance(3000)
    q = float(sim.joint_table()["q"][0])
    # angle from hanging is 60 degrees - q; weight m g l sin = k (q - upper)
    torque = 9.81 * math.sin(math.radians(60) - q)
    assert 200.0 * (q - math.radians(30)) == pytest.approx(torque, rel=1e-3)
    assert float(sim.joint_table()["limit_force"][0]) == pytest.approx(-torque, rel=1e-3)


def test_equal_limits_lock() -> None:
    sim = pendulum({"lower": 0.0, "upper": 0.0})
    sim.advance(1000)
    assert abs(float(sim.joint_table()["q"][0])) < 1e-9
    assert sim.energy()["kinetic"] < 1e-15


@pytest.mark.parametrize("kind", ["slider", "hinge"])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_what_starts_beyond_a_stop_is_brought_back_without_a_velocity(
    formulation: str, kind: str
) -> None:
    body = {"name": "body", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    joint: dict[str, Any] = {"name": "stop", "type": kind, "parent": "world", "child": "body"}
    joint |= {"axis": [1, 0, 0]}
    joint |= {"limits": {"lower": 0.05, "upper": 1.0}}
    joint |= {"anchor": [0, 0, 0]} if kind == "hinge" else {}
    simulation = {"dt": 1e-3, "duration": 0.2, "formulation": formulation}
    sim = simulate(document([body], [joint], gravity=[0, 0, 0], simulation=simulation))
    sim.advance(sim.total_steps)
    (row,) = sim.joint_table()
    assert row["q"] == pytest.approx(0.05, abs=2e-6)
    assert abs(row["qd"]) < 1e-9
    # as far as it was at the start: the first step is not lost
    (found,) = sim.findings()
    assert found["value"] == pytest.approx(0.05, rel=1e-9)
    assert (found["first_step"], found["joint"]) == (1, "stop")
