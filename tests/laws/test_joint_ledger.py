"""Every kind of row a joint writes is booked: the balance of energy closes to rounding."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.scenes import Document, brick, document, ground, simulate

pytestmark = pytest.mark.law

AXIS, POINT = [0.2, -0.4, 0.8], [0.3, 0.0, 0.1]
PLANAR = {"type": "planar", "axis": AXIS, "direction": [1, 0, 0]}
DISTANCE = {"type": "distance", "anchor": POINT, "anchor2": [0.7, 0.3, 0.2]}
SCREW = {"type": "screw", "anchor": POINT, "axis": AXIS, "pitch": 0.4}
BALL = {"type": "ball", "anchor": POINT, "axis": [1, 0, 0]}
HINGE = {"type": "hinge", "anchor": POINT, "axis": AXIS}
DRIVE = {"type": "position", "target": 0.2}
CASES: dict[str, dict[str, Any]] = {
    "ball rubbing": {**BALL, "friction": 0.4, "damping": 0.1},
    "ball in its cone": {**BALL, "limits": {"swing": 0.2, "twist": 0.1, "restitution": 0.5}},
    "ball in a soft cone": {**BALL, "limits": {"swing": 0.1, "stiffness": 30.0, "damping": 1.0}},
    "ball driven": {**BALL, "motor": {"type": "velocity", "target": [1, 2, 0], "max_force": 3.0}},
    "ball turned": {**BALL, "motor": {"type": "position", "target": [1, 0, 0], "max_force": 5.0}},
    "planar rubbing": {**PLANAR, "friction": 0.5, "damping": 0.2},
    "planar driven": {**PLANAR, "motor": DRIVE, "motor2": DRIVE, "motor3": DRIVE},
    "planar stopped": {**PLANAR, "limits": {"upper": 0.05}, "limits3": {"lower": -0.1}},
    "rod": DISTANCE,
    "rope": {**DISTANCE, "limits": {"upper": 0.6, "restitution": 0.3}, "damping": 0.3},
    "winch": {**DISTANCE, "motor": {"type": "velocity", "target": -0.3}, "friction": 0.5},
    "screw": {**SCREW, "friction": 0.05, "damping": 0.02, "limits": {"upper": 0.5}},
    "screw driven": {**SCREW, "motor": {"type": "force", "target": 0.3}},
    "cubic drive": {**HINGE, "motor": {**DRIVE, "stiffness": [0.0, 0.0, 9.0], "damping": 0.1}},
    "slow drive": {**HINGE, "motor": {**DRIVE, "max_speed": 0.5, "max_force": 2.0}},
    "damped stop": {**HINGE, "limits": {"upper": 0.1, "damping": 2.0}},
    "cubic stop": {**HINGE, "limits": {"upper": 0.1, "stiffness": [5.0, 1.0, 50.0]}},
    "breaking": {**BALL, "breaking_force": 25.0},
}


@pytest.mark.parametrize("name", CASES)
def test_balance_closes(name: str) -> None:
    bodies = [
        brick("a", linear_velocity=[0.5, 0.1, -0.2], angular_velocity=[0.4, -1.0, 2.0]),
        brick("b", position=[0.6, 0.1, 0.2], angular_velocity=[-1.0, 0.5, 0.3]),
    ]
    joint = {"name": "j", "parent": "a", "child": "b", **CASES[name]}
    hung: Document = {"name": "hung", "type": "ball", "parent": "world", "child": "a"}
    hung |= {"anchor": [-0.3, 0, 0]}
    sim = simulate(document(bodies, [hung, joint], simulation={"dt": 1e-3}))
    sim.advance(1500)
    summary = sim.summary()
    assert summary["energy"]["balance_error"] < 1e-11
    assert summary["momentum"]["max_angular_drift"] < 1e-10
    assert (name == "breaking") == bool(summary["joints"]["broken"])


def test_gears_and_racks_close_the_balance_and_say_what_the_world_takes() -> None:
    bodies = [
        {"name": n, "mass": 1.0, "inertia": [0.2, 0.3, 0.4], "position": p}
        for n, p in (("a", [0, 0, 0]), ("b", [1, 0, 0]), ("c", [0, 1, 0]))
    ]
    end = {"parent": "world", "axis": [0, 0, 1]}
    joints: list[Document] = [
        {**end, "name": "ha", "type": "hinge", "child": "a", "anchor": [0.1, 0, 0]},
        {**end, "name": "hb", "type": "hinge", "child": "b", "anchor": [1, 0, 0]},
        {**end, "name": "rail", "type": "slider", "child": "c", "axis": [0, 1, 0]},
        {**end, "name": "gear", "type": "gear", "parent": "a", "child": "b", "ratio": -2.0},
        {**end, "name": "rack", "type": "rack", "parent": "b", "child": "c", "ratio": 0.3}
        | {"axis2": [0, 1, 0]},
    ]
    sim = simulate(document(bodies, joints, gravity=[1.0, 1.0, 0], simulation={"dt": 1e-3}))
    sim.advance(2000)
    summary = sim.summary()
    assert abs(sim.velocities()[2, 1]) > 0.1
    assert summary["energy"]["balance_error"] < 1e-11
    assert summary["momentum"]["max_linear_drift"] < 1e-10
    assert summary["momentum"]["max_angular_drift"] < 1e-10


def test_what_a_break_sets_apart_sleeps_apart() -> None:
    box = {"type": "box", "size": [0.2, 0.2, 0.2]}
    boxes = [
        {"name": n, "mass": m, "position": [x, 0, 0.1], "shapes": [box]}
        for n, m, x in (("a", 100.0, 0.0), ("b", 1.0, 0.5))
    ]
    weak = {"name": "weak", "type": "fixed", "parent": "a", "child": "b", "breaking_force": 20.0}
    options = {"dt": 1e-3, "sleeping": {"enabled": True, "time": 0.1}}
    sim = simulate(document([ground(), *boxes], [weak], simulation=options))
    sim.advance(300)
    assert (sim.state.asleep_with[1:3] >= 0).all()
    sim.apply_impulse("b", [0, 0, 3.0])
    sim.advance(1)
    assert sim.summary()["joints"]["broken"]
    # b is in the air for 0.6 s
    sim.apply_impulse("b", [0, 0, 3.0])
    sim.advance(250)
    assert sim.state.asleep_with[1] >= 0
    assert sim.state.asleep_with[2] < 0
