"""Distance joints as rods, ropes, bars with play, springs and winches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

HANG = [0, 0, -1.0]


def hung(more: dict[str, Any], dt: float = 1e-3, gravity: float = -9.81, **body: Any) -> Any:
    """2 kg one metre below the origin, on a distance joint."""
    stone = {"name": "stone", "position": HANG, "mass": 2.0, "inertia": [0.1, 0.1, 0.1], **body}
    joint: Document = {"name": "j", "type": "distance", "parent": "world", "child": "stone"}
    joint |= {"anchor": [0, 0, 0], "anchor2": HANG, **more}
    return simulate(document([stone], [joint], gravity=[0, 0, gravity], simulation={"dt": dt}))


def test_rod_carries_the_weight() -> None:
    sim = hung({})
    sim.advance(100)
    row = sim.joint_table()[0]
    assert [row["fx"], row["fy"], row["fz"]] == pytest.approx([0, 0, 2 * 9.81], abs=1e-9)
    assert row["q"] == pytest.approx(1.0, abs=1e-12)


def test_slack_rope_falls_freely_and_then_holds() -> None:
    sim = hung({"limits": {"upper": 1.5}})
    sim.advance(300)
    assert sim.poses()[0, 2] == pytest.approx(-1.0 - 0.5 * 9.81 * 0.09, abs=1e-9)
    sim.advance(700)
    assert sim.poses()[0, 2] == pytest.approx(-1.5, abs=1e-6)
    assert float(sim.joint_table()["limit_force"][0]) == pytest.approx(-2 * 9.81, rel=1e-9)
    # all that fell is lost in the jerk
    assert sim.energy()["dissipated_impact"] == pytest.approx(2 * 9.81 * 0.5, rel=1e-3)


def test_bar_with_play_holds_both_ways() -> None:
    for gravity, length in ((-9.81, 1.2), (9.81, 0.8)):
        sim = hung({"limits": {"lower": 0.8, "upper": 1.2}}, gravity=gravity)
        sim.advance(1500)
        assert float(sim.joint_table()["q"][0]) == pytest.approx(length, abs=1e-6)


def test_equal_limits_are_a_rod_of_another_length() -> None:
    sim = hung({"limits": {"lower": 1.1, "upper": 1.1}})
    sim.advance(1000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(1.1, abs=1e-9)


def test_elastic_distance_swings_as_sine() -> None:
    sim = hung({"spring": {"stiffness": 200.0}}, gravity=0.0, linear_velocity=[0, 0, 1.0])
    sim.advance(1000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(1.0 - 0.1 * math.sin(10.0), abs=2e-5)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-4


def test_spring_rest_counts_from_the_first_distance() -> None:
    sim = hung({"spring": {"stiffness": 200.0, "damping": 30.0, "rest": 0.1}}, gravity=0.0)
    sim.advance(3000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(1.1, abs=1e-6)


def test_damping_along_the_line_slows_as_an_exponential() -> None:
    slack = {"limits": {"lower": 0.1}, "damping": 4.0}
    sim = hung(slack, gravity=0.0, linear_velocity=[0, 0, -1.0])
    sim.advance(1000)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(math.exp(-2.0), rel=1e-6)
    assert sim.energy()["dissipated_damping"] == pytest.approx(1.0 - math.exp(-4.0), rel=1e-6)


def test_friction_along_the_line_stops_in_its_time() -> None:
    slack = {"limits": {"lower": 0.1}, "friction": 2.0}
    sim = hung(slack, gravity=0.0, linear_velocity=[0, 0, -1.0])
    sim.advance(500)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(0.5, rel=1e-9)
    sim.advance(1500)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(1.5, rel=1e-3)
    assert sim.energy()["dissipated_friction"] == pytest.approx(1.0, rel=1e-9)


def test_winch_winds_at_its_speed_and_pulls_no_more_than_it_may() -> None:
    sim = hung({"motor": {"type": "velocity", "target": -0.2}})
    sim.advance(1000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.8, abs=2e-4)
    assert float(sim.joint_table()["motor_force"][0]) == pytest.approx(-2 * 9.81, rel=1e-9)
    weak = hung({"motor": {"type": "velocity", "target": -0.2, "max_force": 10.0}})
    weak.advance(1000)
    assert float(weak.joint_table()["qd"][0]) == pytest.approx(9.81 - 5.0, rel=1e-9)


def test_pendulum_on_a_rope_keeps_its_energy() -> None:
    start: dict[str, Any] = {"position": [1.0, 0, 0]}
    sim = hung({"anchor2": [1.0, 0, 0], "limits": {"upper": 1.0}}, inertia=[1e-3] * 3, **start)
    sim.advance(2000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_anchors_may_meet(speed: float) -> None:
    # to the anchor and through it; at rest in it the line is that of the start
    more = {"spring": {"stiffness": 50.0, "rest": -1.0}}
    sim = hung(more, gravity=0.0, linear_velocity=[0, 0, speed])
    if speed == 0.0:
        sim.state.p_WB[0] = 0.0
    energy = sim.energy()["total"]
    for _ in range(2000):
        sim.advance(1)
        assert np.isfinite(sim.poses()).all()
    assert sim.energy()["total"] == pytest.approx(energy, rel=1e-2, abs=1e-12)
