"""Swing cone and twist of a ball joint: where they stop, how they bounce, give way and hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

UP = [0, 0, 1]


def ball(limits: dict[str, Any], spin: list[float], **more: Any) -> Any:
    """A sphere-like body on a ball joint at its centre, without gravity: I = 1 kg m^2."""
    body = {"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "angular_velocity": spin}
    joint: Document = {
        "name": "j",
        "type": "ball",
        "parent": "world",
        "child": "b",
        "anchor": [0, 0, 0],
    }
    joint |= {"axis": UP, "limits": limits, **more}
    return simulate(document([body], [joint], gravity=[0, 0, 0], simulation={"dt": 1e-3}))


def swing_and_twist(sim: Any) -> tuple[float, float]:
    """Angles of the body against the start, by SciPy's rotations."""
    w, x, y, z = sim.poses()[0, 3:]
    axis = Rotation.from_quat([x, y, z, w]).apply(UP)
    return math.acos(min(1.0, axis[2])), 2.0 * math.atan2(z, w)


def test_cone_stops_the_axis_in_every_direction() -> None:
    for azimuth in np.linspace(0.0, 2.0 * math.pi, 7):
        sim = ball({"swing": 0.5}, [math.cos(azimuth), math.sin(azimuth), 0.0])
        sim.advance(400)
        assert swing_and_twist(sim)[0] == pytest.approx(0.4, abs=1e-9)
        sim.advance(600)
        assert swing_and_twist(sim)[0] == pytest.approx(0.5, abs=1e-8)
        assert sim.velocities()[0] == pytest.approx(np.zeros(6), abs=1e-8)
        assert sim.energy()["dissipated_impact"] == pytest.approx(0.5, rel=1e-9)


def test_axis_slides_along_its_cone() -> None:
    # I = 1: from a tilt of 0.3 about x, with a spin that is not about x only
    sim = ball({"swing": 0.5}, [1.0, 0.0, 0.0])
    sim.advance(300)
    sim.set_velocity("b", [0, 0, 0], [1.0, 0.4, 0.0])
    for _ in range(20):
        sim.advance(100)
        assert swing_and_twist(sim)[0] <= 0.5 + 1e-4
    assert swing_and_twist(sim)[0] == pytest.approx(0.5, abs=1e-4)
    assert float(np.linalg.norm(sim.velocities()[0, 3:])) > 0.1
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_twist_stops_either_way_while_the_swing_is_free(side: float) -> None:
    sim = ball({"twist": 0.7}, [0.0, 0.0, side])
    sim.advance(2000)
    assert swing_and_twist(sim)[1] == pytest.approx(side * 0.7, abs=1e-8)
    row = sim.joint_table()
    assert row["q"].tolist() == pytest.approx([0.0, 0.0, side * 0.7], abs=1e-8)
    tilted = ball({"twist": 0.7}, [1.0, 0.0, 0.0])
    tilted.advance(2000)
    assert swing_and_twist(tilted)[0] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("limits", [{"swing": 0.5}, {"twist": 0.5}])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_bounces_return_their_share(limits: dict[str, Any], restitution: float) -> None:
    spin = np.array([0.6, 0.8, 0.0]) if "swing" in limits else np.array([0.0, 0.0, 1.0])
    sim = ball({**limits, "restitution": restitution}, spin.tolist())
    sim.advance(600)
    assert sim.velocities()[0, 3:] == pytest.approx(-restitution * spin, abs=1e-9)


@pytest.mark.parametrize("limits", [{"swing": 0.2}, {"twist": 0.2}])
def test_soft_ones_hold_where_spring_and_torque_balance(limits: dict[str, Any]) -> None:
    torque = [0.0, 3.0, 0.0] if "swing" in limits else [0.0, 0.0, 3.0]
    wrench = {"type": "wrench", "body": "b", "torque": torque}
    scene = document(
        [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}],
        [
            {
                "name": "j",
                "type": "ball",
                "parent": "world",
                "child": "b",
                "anchor": [0, 0, 0],
                "axis": UP,
                "limits": {**limits, "stiffness": [20.0, 0.0, 100.0], "damping": 15.0},
            }
        ],
        forces=[wrench],
        gravity=[0, 0, 0],
        simulation={"dt": 1e-3},
    )
    sim = simulate(scene)
    sim.advance(12000)
    x = max(swing_and_twist(sim)) - 0.2
    assert 20.0 * x + 100.0 * x**3 == pytest.approx(3.0, rel=1e-6)
    held = sim.joint_table()["limit_force"]
    assert held.tolist() == pytest.approx([-t for t in torque], rel=1e-6, abs=1e-9)


def test_axis_turned_over_comes_back_into_its_cone() -> None:
    # a body that starts with the axis straight down: no direction to swing in, and no twist
    sim = ball({"swing": 1.0, "twist": 1.0}, [0.0, 0.0, 0.0])
    sim.state.q_WB[0] = [0.0, 1.0, 0.0, 0.0]
    sim.advance(1)
    assert np.isfinite(sim.poses()).all()
    sim.advance(2000)
    swing, twist = swing_and_twist(sim)
    assert swing <= 1.0 + 1e-3
    assert abs(twist) <= 1.0 + 1e-3


@pytest.mark.law
@pytest.mark.parametrize(
    "law", [{}, {"restitution": 0.8}, {"stiffness": 50.0, "damping": 1.0}, {"damping": 2.0}]
)
def test_isolated_pair_at_its_limits_keeps_both_momenta(law: dict[str, Any]) -> None:
    bodies = [
        brick("a", linear_velocity=[0.5, 0.1, -0.2], angular_velocity=[0.4, -1.0, 2.0]),
        brick("b", position=[0.6, 0.1, 0.2], angular_velocity=[-1.0, 2.5, 1.3]),
    ]
    joint: Document = {
        "name": "j",
        "type": "ball",
        "parent": "a",
        "child": "b",
        "anchor": [0.3, 0.0, 0.1],
    }
    joint |= {"axis": [1, 0, 0], "limits": {"swing": 0.3, "twist": 0.2, **law}}
    sim = simulate(document(bodies, [joint], gravity=[0, 0, 0], simulation={"dt": 0.002}))
    start = sim.momentum()
    touched = 0.0
    for _ in range(1000):
        sim.advance(1)
        touched = max(touched, float(np.abs(sim.joint_table()["limit_force"]).max()))
        assert np.abs(sim.momentum() - start).max() <= 1e-12 * np.abs(start).max() * 50
    assert touched > 0.0
    assert sim.summary()["energy"]["balance_error"] < 1e-9
