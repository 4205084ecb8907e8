"""Contacts and friction against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import Document, document, ground, simulate

pytestmark = pytest.mark.reference

G = 9.81


def on_plane(body: dict[str, Any], friction: float, **more: Any) -> Any:
    """One body on the plane z = 0, both of one material."""
    for shape in body["shapes"]:
        shape["material"] = "stuff"
    scene = document(
        [ground(material="stuff"), body],
        materials={"stuff": {"friction": friction}},
        **more,
    )
    return simulate(scene)


def ball(**more: Any) -> dict[str, Any]:
    """A solid ball of 0.1 m, resting on the plane."""
    sphere = {"type": "sphere", "radius": 0.1}
    return {"name": "ball", "position": [0, 0, 0.1], "mass": 1.0, "shapes": [sphere], **more}


def test_thrown_ball_slides_then_rolls() -> None:
    mu, v0 = 0.2, 3.0
    sim = on_plane(ball(linear_velocity=[v0, 0, 0]), mu, simulation={"dt": 1e-3})
    rolling_from = 2.0 * v0 / (7.0 * mu * G)
    sim.advance(math.floor(rolling_from / 1e-3) - 1)
    v = sim.velocities()[1]
    assert v[0] - 0.1 * v[4] > 1e-3
    sim.advance(200)
    v = sim.velocities()[1]
    assert v[0] == pytest.approx(5.0 / 7.0 * v0, rel=1e-6)
    assert v[4] == pytest.approx(v[0] / 0.1, rel=1e-6)
    lost = sim.energy()["dissipated_friction"] / (0.5 * v0**2)
    assert lost == pytest.approx(2.0 / 7.0, rel=1e-3)


def test_ball_with_backspin_comes_back() -> None:
    sim = on_plane(
        ball(linear_velocity=[3.0, 0, 0], angular_velocity=[0, -60.0, 0]),
        0.2,
        simulation={"dt": 1e-3},
    )
    sim.advance(1500)
    assert sim.velocities()[1, 0] == pytest.approx(
        5.0 / 7.0 * 3.0 - 2.0 / 7.0 * 0.1 * 60.0, rel=1e-5
    )


@pytest.mark.parametrize("phi", [0.0, 0.3, math.pi / 4, 1.2])
def test_cone_friction_has_no_favourite_direction(phi: float) -> None:
    mu, force = 0.4, 1.05 * 0.4 * G
    push: Document = {"type": "wrench", "body": "block"}
    push["force"] = [force * math.cos(phi), force * math.sin(phi), 0]
    box = {"type": "box", "size": [0.4, 0.4, 0.1]}
    block = {"name": "block", "position": [0, 0, 0.05], "mass": 1.0, "shapes": [box]}
    # pushed at ground level so that it does not lean
    push["point"] = [0, 0, 0.0]
    sim = on_plane(block, mu, forces=[push], simulation={"dt": 1e-3})
    sim.advance(500)
    v = sim.velocities()[1, :2]
    assert np.linalg.norm(v) == pytest.approx(0.05 * mu * G * 0.5, rel=2e-2)
    assert math.atan2(v[1], v[0]) == pytest.approx(phi, abs=1e-6)


def test_box_friction_sticks_on_the_diagonal() -> None:
    mu = 0.4
    push = {"type": "wrench", "body": "block", "point": [0, 0, 0]}
    push["force"] = [1.2 * mu * G / math.sqrt(2)] * 2 + [0]
    box = {"type": "box", "size": [0.4, 0.4, 0.1]}
    block = {"name": "block", "position": [0, 0, 0.05], "mass": 1.0, "shapes": [box]}
    sim = on_plane(
        block, mu, forces=[push], simulation={"dt": 1e-3}, contact={"friction_cone": "box"}
    )
    sim.advance(300)
    assert np.abs(sim.velocities()[1]).max() < 1e-6


def test_block_sticks_below_the_critical_angle() -> None:
    mu = 0.5
    for degrees, sticks in ((26.0, True), (27.2, False)):
        angle = math.radians(degrees)
        slope = {"type": "plane", "normal": [math.sin(angle), 0, math.cos(angle)], "material": "s"}
        box = {"type": "box", "size": [0.4, 0.4, 0.1], "material": "s"}
        q = [math.cos(angle / 2), 0, math.sin(angle / 2), 0]
        n = np.array([math.sin(angle), 0, math.cos(angle)])
        block = {"name": "block", "position": (0.05 * n).tolist(), "orientation": q, "mass": 1.0}
        scene = document(
            [{"name": "slope", "type": "static", "shapes": [slope]}, {**block, "shapes": [box]}],
            materials={"s": {"friction": mu}},
            simulation={"dt": 1e-3},
        )
        sim = simulate(scene)
        sim.advance(1000)
        moved = float(np.linalg.norm(sim.poses()[1, :3] - 0.05 * n))
        if sticks:
            assert moved < 1e-9
        else:
            way = 0.5 * G * (math.sin(angle) - mu * math.cos(angle))
            assert moved == pytest.approx(way, rel=1e-3)


@pytest.mark.parametrize("kind", ["sphere", "box", "capsule", "cylinder", "convex"])
def test_every_solid_rests_on_the_plane_and_bears_its_weight(kind: str) -> None:
    shapes = {
        "sphere": {"type": "sphere", "radius": 0.1},
        "box": {"type": "box", "size": [0.3, 0.2, 0.2]},
        "capsule": {
            "type": "capsule",
            "radius": 0.1,
            "length": 0.3,
            "orientation": [0.7071067811865476, 0, 0.7071067811865475, 0],
        },
        "cylinder": {"type": "cylinder", "radius": 0.2, "length": 0.2},
        "convex": {
            "type": "convex",
            "points": [[x, y, z] for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.1, 0.1)],
        },
    }
    body = {"name": "solid", "position": [0, 0, 0.102], "mass": 3.0, "shapes": [shapes[kind]]}
    sim = on_plane(body, 0.5, simulation={"dt": 1e-3})
    sim.advance(1000)
    assert sim.poses()[1, 2] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(sim.velocities()[1]).max() < 1e-6
    assert sim.contact_table()["normal_force"].sum() == pytest.approx(3.0 * G, rel=1e-6)
