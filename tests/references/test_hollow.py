"""Balls, capsules and planes on hollow shapes: closed forms of rolling and swinging."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import SceneError, Simulation
from tests.engine.scenes import Document, document, ground, simulate

pytestmark = pytest.mark.reference

G = 9.81
H = 1e-3
LYING = [math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]
ROUGH: Document = {"materials": {"rough": {"friction": 1.0}}, "simulation": {"dt": H}}
BOWL = {"type": "bowl", "inner_radius": 1.0, "outer_radius": 1.05, "material": "rough"}
TUBE = {
    "type": "tube",
    "inner_radius": 1.0,
    "outer_radius": 1.05,
    "length": 1.0,
    "material": "rough",
}


def held(shape: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A static body with a shape."""
    return {"name": "held", "type": "static", "shapes": [shape], **more}


def swing_of(sim: Simulation, steps: int) -> float:
    """Period of x of the second body, from its crossings of zero downwards [s]."""
    x = np.zeros(steps + 1)
    x[0] = sim.poses()[1, 0]
    for k in range(steps):
        sim.advance(1)
        x[k + 1] = sim.poses()[1, 0]
    down = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0))
    times = H * (down + x[down] / (x[down] - x[down + 1]))
    return float((times[-1] - times[0]) / (len(times) - 1))


@pytest.mark.parametrize("hollow", ["bowl", "tube"])
@pytest.mark.parametrize("shape", ["sphere", "capsule"])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_what_rolls_in_a_hollow_has_its_closed_period(
    hollow: str, shape: str, formulation: str
) -> None:
    if shape == "capsule" and (hollow == "bowl" or formulation == "reduced"):
        pytest.skip("the capsule lies along a tube")
    r, angle = 0.1, 0.02
    own: dict[str, Any] = {"type": shape, "radius": r, "material": "rough"}
    if shape == "capsule":
        own["length"] = 0.4
    place = [(1.0 - r) * math.sin(angle), 0.0, -(1.0 - r) * math.cos(angle)]
    body = {"name": "roller", "position": place, "mass": 1.0, "shapes": [own], "orientation": LYING}
    more = {**ROUGH, "simulation": {"dt": H, "formulation": formulation}}
    support = held(BOWL) if hollow == "bowl" else held(TUBE, orientation=LYING)
    sim = simulate(document([support, body], **more))
    inertia = 0.4
    if shape == "capsule":
        inertia = float(sim.model.bodies.inertia_B[1, 2, 2]) / r**2
    period = 2.0 * math.pi * math.sqrt((1.0 + inertia) * (1.0 - r) / G)
    assert swing_of(sim, 5000) == pytest.approx(period, rel=1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-9
    # the swing is not lost
    swing = float(np.abs(sim.velocities()[1, :3]).max() + abs(sim.poses()[1, 0]))
    assert swing > 0.01


def test_ring_on_a_peg_swings_with_its_closed_period() -> None:
    major, minor, peg, angle = 0.2, 0.02, 0.01, 0.02
    inner = major - minor
    far = inner - peg
    bar = {"type": "capsule", "radius": peg, "length": 0.4, "material": "rough"}
    ring = {"type": "ring", "major_radius": major, "minor_radius": minor, "material": "rough"}
    place = [far * math.sin(angle), 0.0, -far * math.cos(angle)]
    body = {"name": "ring", "position": place, "mass": 1.0, "shapes": [ring], "orientation": LYING}
    sim = simulate(document([held(bar, orientation=LYING), body], **ROUGH))
    inertia = (major**2 + 0.75 * minor**2) / inner**2
    period = 2.0 * math.pi * math.sqrt(far * (1.0 + inertia) / G)
    assert swing_of(sim, 5000) == pytest.approx(period, rel=1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


def test_ball_rests_on_the_rims_of_hollow_shapes() -> None:
    """On three points of a ring, of the end of a tube, of the rim of a bowl."""
    ring = {"type": "ring", "major_radius": 0.1, "minor_radius": 0.02}
    tube = {"type": "tube", "inner_radius": 0.1, "outer_radius": 0.12, "length": 0.2}
    bowl = {"type": "bowl", "inner_radius": 0.1, "outer_radius": 0.12}
    for shape, height in (
        (ring, math.sqrt(0.17**2 - 0.1**2)),
        (tube, 0.1 + math.sqrt(0.15**2 - 0.1**2)),
        (bowl, math.sqrt(0.15**2 - 0.1**2)),
    ):
        ball = {"type": "sphere", "radius": 0.15}
        body = {"name": "ball", "position": [0, 0, height], "mass": 1.0, "shapes": [ball]}
        sim = simulate(document([held(shape), body], simulation={"dt": H}))
        sim.advance(500)
        np.testing.assert_allclose(sim.poses()[1, :3], [0, 0, height], atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "height", "q"),
    [
        ({"type": "ring", "major_radius": 0.2, "minor_radius": 0.05}, 0.05, [1, 0, 0, 0]),
        (
            {"type": "tube", "inner_radius": 0.1, "outer_radius": 0.12, "length": 0.2},
            0.1,
            [1, 0, 0, 0],
        ),
        ({"type": "tube", "inner_radius": 0.1, "outer_radius": 0.12, "length": 0.2}, 0.12, LYING),
        ({"type": "bowl", "inner_radius": 0.1, "outer_radius": 0.12}, 0.12, [1, 0, 0, 0]),
        ({"type": "bowl", "inner_radius": 0.1, "outer_radius": 0.12}, 0.0, [0, 1, 0, 0]),
    ],
)
def test_hollow_shapes_stand_on_planes(
    shape: dict[str, Any], height: float, q: list[float]
) -> None:
    body = {
        "name": "b",
        "position": [0, 0, height],
        "density": 500,
        "shapes": [shape],
        "orientation": q,
    }
    sim = simulate(document([ground(), body], simulation={"dt": H}))
    sim.advance(500)
    np.testing.assert_allclose(sim.poses()[1, :3], [0, 0, height], atol=1e-6)


def test_fast_ball_does_not_leave_a_tube() -> None:
    ball = {"type": "sphere", "radius": 0.1}
    body = {
        "name": "ball",
        "position": [0.2, 0, 0],
        "mass": 1.0,
        "shapes": [ball],
        "linear_velocity": [60, 30, 0],
    }
    sim = simulate(document([held(TUBE), body], gravity=[0, 0, 0], **ROUGH))
    for _ in range(40):
        sim.advance(5)
        assert np.hypot(*sim.poses()[1, :2]) < 0.91


def test_cones_and_hollow_shapes_are_refused_by_name() -> None:
    shape: Document = {"type": "cone", "radius": 1, "length": 1}
    cone: Document = {
        "name": "cone",
        "position": [0, 0, 3],
        "mass": 1.0,
        "shapes": [shape],
    }
    with pytest.raises(SceneError, match="touches balls, boxes, capsules, cylinders"):
        simulate(document([held(BOWL), cone], **ROUGH))
    shape["collision_mask"] = 0
    simulate(document([held(BOWL), cone], **ROUGH))
