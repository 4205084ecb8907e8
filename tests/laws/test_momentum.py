"""Isolated systems keep both momenta; others change them by what comes from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import brick, document, simulate

pytestmark = pytest.mark.law

JOINTS: list[dict[str, Any]] = [
    {"type": "ball"},
    {"type": "hinge", "axis": [0, 0, 1], "limits": {"lower": -0.2, "upper": 0.3}},
    {"type": "slider", "axis": [1, 0, 0], "limits": {"lower": -0.05, "upper": 0.05}},
    {"type": "hinge2", "axis": [0, 0, 1], "axis2": [0, 1, 0.2], "spring": {"stiffness": 300.0}},
    {"type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0]},
    {"type": "fixed"},
    {"type": "hinge", "axis": [1, 1, 0], "motor": {"type": "velocity", "target": 3.0}},
    {"type": "cylindrical", "axis": [0, 1, 0], "friction": 0.5},
    {"type": "ball", "friction": 0.3, "damping": 0.1},
    {"type": "ball", "motor": {"type": "position", "target": [0.5, 1.0, -0.2], "stiffness": 9.0}},
    {"type": "planar", "axis": [0, 1, 1], "limits": {"upper": 0.05}, "friction": 0.5},
    {"type": "planar", "axis": [0, 1, 1], "motor3": {"type": "velocity", "target": 2.0}},
    {"type": "screw", "axis": [0, 1, 1], "pitch": 0.5, "limits": {"upper": 0.2}},
    {"type": "distance", "anchor2": [0.7, 0.3, 0.2]},
    {"type": "distance", "anchor2": [0.7, 0.3, 0.2], "spring": {"stiffness": 50.0}},
    {"type": "distance", "anchor2": [0.7, 0.3, 0.2], "limits": {"lower": 0.4, "upper": 0.6}},
]


@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: "-".join(j))
def test_isolated_pair_keeps_both_momenta(joint: dict[str, Any]) -> None:
    bodies = [
        brick("a", linear_velocity=[0.5, 0.1, -0.2], angular_velocity=[0.4, -1.0, 2.0]),
        brick("b", position=[0.6, 0.1, 0.2], angular_velocity=[-1.0, 0.5, 0.3]),
    ]
    full = {"name": "j", "parent": "a", "child": "b", "anchor": [0.3, 0.0, 0.1], **joint}
    sim = simulate(document(bodies, [full], gravity=[0, 0, 0], simulation={"dt": 0.002}))
    start = sim.momentum()
    for _ in range(20):
        sim.advance(50)
        assert np.abs(sim.momentum() - start).max() <= 1e-12 * np.abs(start).max() * 50


def test_momentum_changes_by_the_impulse_of_gravity_and_supports() -> None:
    bodies = [brick("a"), brick("b", position=[0.6, 0, 0])]
    joints = [
        {"name": "pin", "type": "ball", "parent": "world", "child": "a", "anchor": [-0.3, 0, 0]},
        {"name": "knee", "type": "ball", "parent": "a", "child": "b", "anchor": [0.3, 0, 0]},
    ]
    sim = simulate(document(bodies, joints, simulation={"dt": 0.001}))
    sim.advance(1000)
    drift = sim.summary()["momentum"]
    assert np.abs(sim.momentum()).max() > 1.0
    assert drift["max_linear_drift"] <= 1e-11
    assert drift["max_angular_drift"] <= 1e-11
