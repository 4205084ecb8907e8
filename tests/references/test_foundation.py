"""Stiffness per area: an elastic foundation under faces, lines and points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference

G = 9.81
H = 1e-3
BED = 2e6
DAMPING = 4e4
SIZE = np.array([0.3, 0.2, 0.1])
QUARTER = math.sqrt(0.5)
# orientations of a box that stands on its faces, and the edge that is upright
STANDS = [
    ([1.0, 0.0, 0.0, 0.0], 2),
    ([QUARTER, 0.0, QUARTER, 0.0], 0),
    ([QUARTER, -QUARTER, 0.0, 0.0], 1),
    ([math.cos(0.3), 0.0, 0.0, math.sin(0.3)], 2),
]
SLAB = {"type": "box", "size": [2, 2, 0.2], "position": [0, 0, -0.1], "material": "floor"}
TILES = {
    "type": "mesh",
    "vertices": [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]],
    "faces": [[0, 1, 2], [0, 2, 3]],
    "material": "floor",
}
BLOCK = {
    "type": "convex",
    "points": [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 0)],
    "material": "floor",
}
FLOORS: dict[str, dict[str, Any]] = {
    "plane": ground(material="floor"),
    "box": {"name": "ground", "type": "static", "shapes": [SLAB]},
    "mesh": {"name": "ground", "type": "static", "shapes": [TILES]},
    "convex": {"name": "ground", "type": "static", "shapes": [BLOCK]},
}
# outlines are clipped with a slack of 1e-5 of the size of the block
WITHIN = {"convex": 1e-4}


def on_bed(
    shape: dict[str, Any],
    height: float,
    floor: str | dict[str, Any] = "plane",
    damping: float = DAMPING,
    **more: Any,
) -> Simulation:
    """A body of 2 kg on a floor that is elastic per area, its origin at `height`."""
    body = {"name": "body", "position": [0, 0, height], "mass": 2.0, "shapes": [shape]}
    body |= more.pop("body", {})
    return simulate(
        document(
            [FLOORS[floor] if isinstance(floor, str) else floor, body],
            materials={"floor": {"stiffness_per_area": BED, "damping_per_area": damping}},
            simulation={"dt": H, **more.pop("simulation", {})},
            **more,
        )
    )


def sunk(sim: Simulation, height: float) -> float:
    sim.advance(1500)
    return float(height - sim.poses()[1, 2])


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize(("q", "up"), STANDS)
def test_box_sinks_by_its_pressure_on_every_face(q: list[float], up: int, floor: str) -> None:
    height = 0.5 * SIZE[up]
    area = np.prod(SIZE) / SIZE[up]
    box = {"type": "box", "size": SIZE.tolist()}
    sim = on_bed(box, height, floor, body={"orientation": q})
    depth = 2.0 * G / (BED * area)
    assert sunk(sim, height) == pytest.approx(depth, rel=WITHIN.get(floor, 1e-6))


@pytest.mark.parametrize(
    ("method", "formulation"),
    [
        *((method, "maximal") for method in ("auto", "pgs", "jacobi", "apgd", "lemke")),
        *((method, "reduced") for method in ("auto", "pgs")),
    ],
)
def test_half_the_edges_sink_four_times_as_deep(method: str, formulation: str) -> None:
    depths = []
    for edge in (0.2, 0.1):
        box = {"type": "box", "size": [edge, edge, 0.1]}
        cone = {"friction_cone": "box"} if method == "lemke" else {}
        solver = {"method": method, "max_iterations": 2000, "tolerance": 1e-12}
        sim = on_bed(
            box, 0.05, solver=solver, contact=cone, simulation={"formulation": formulation}
        )
        depths.append(sunk(sim, 0.05))
    assert depths[0] == pytest.approx(2.0 * G / (BED * 0.04), rel=1e-5)
    assert depths[1] / depths[0] == pytest.approx(4.0, rel=1e-5)


def test_octagonal_patch_of_two_boxes_has_its_own_area() -> None:
    """A square turned by 45 degrees on a square: four of eight corners carry the whole area."""
    pad = {"type": "box", "size": [0.2, 0.2, 0.2], "position": [0, 0, -0.1], "material": "floor"}
    floor = {"name": "ground", "type": "static", "shapes": [pad]}
    q = [math.cos(math.pi / 8), 0.0, 0.0, math.sin(math.pi / 8)]
    sim = on_bed({"type": "box", "size": [0.2, 0.2, 0.1]}, 0.05, floor, body={"orientation": q})
    area = 0.04 * 2.0 * (math.sqrt(2.0) - 1.0)
    assert sunk(sim, 0.05) == pytest.approx(2.0 * G / (BED * area), rel=1e-4)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("kind", ["cylinder", "cone"])
def test_round_caps_stand_on_their_circle(kind: str, floor: str) -> None:
    sim = on_bed({"type": kind, "radius": 0.1, "length": 0.2}, 0.1, floor)
    depth = 2.0 * G / (BED * math.pi * 0.01)
    assert sunk(sim, 0.1) == pytest.approx(depth, rel=WITHIN.get(floor, 1e-6))


def test_box_oscillates_with_the_frequency_of_its_bed() -> None:
    stiffness = BED * 0.04
    rest = 0.05 - 2.0 * G / stiffness
    sim = on_bed({"type": "box", "size": [0.2, 0.2, 0.1]}, rest + 1e-4, damping=0.0)
    w = math.sqrt(stiffness / 2.0)
    # the trapezoidal rule turns tan(w h/2) into w h/2
    slower = 2.0 / H * math.atan(0.5 * w * H)
    heights = []
    for _ in range(300):
        sim.advance(1)
        heights.append(sim.poses()[1, 2] - rest)
    t = H * np.arange(1, 301)
    np.testing.assert_allclose(heights, 1e-4 * np.cos(slower * t), atol=2e-7)
    # of an oscillation with 0.4 mJ
    assert sim.summary()["energy"]["balance_error"] < 1e-10


def test_ball_sinks_until_its_volume_in_the_bed_bears_it() -> None:
    radius = 0.1
    sim = on_bed({"type": "sphere", "radius": radius}, radius)
    assert sunk(sim, radius) == pytest.approx(
        math.sqrt(2.0 * G / (BED * math.pi * radius)), rel=1e-6
    )


def test_lying_capsule_sinks_along_its_line() -> None:
    radius, length = 0.1, 0.5
    q = [QUARTER, 0.0, QUARTER, 0.0]
    shape = {"type": "capsule", "radius": radius, "length": length}
    sim = on_bed(shape, radius, body={"orientation": q})
    depth = (2.0 * G / (BED * 4.0 / 3.0 * length * math.sqrt(2.0 * radius))) ** (2.0 / 3.0)
    assert sunk(sim, radius) == pytest.approx(depth, rel=1e-6)


def test_ball_bounces_on_its_bed_without_a_loss() -> None:
    """F = k pi R d^2: the ball comes back with its speed, and its deepest point is known."""
    speed, radius = 1.0, 0.1
    sim = on_bed(
        {"type": "sphere", "radius": radius},
        radius + 1e-6,
        damping=0.0,
        gravity=[0, 0, 0],
        body={"linear_velocity": [0, 0, -speed]},
        simulation={"dt": 2e-4},
    )
    deepest = 0.0
    while sim.time < 0.1:
        sim.advance(1)
        deepest = max(deepest, radius - sim.poses()[1, 2])
    # m v^2/2 = k pi R d^3/3
    assert deepest == pytest.approx((3.0 / (BED * math.pi * radius)) ** (1.0 / 3.0), rel=1e-3)
    assert sim.velocities()[1, 2] == pytest.approx(speed, rel=1e-3)
    assert abs(sim.energy()["correction"]) < 1e-3
    assert sim.summary()["energy"]["balance_error"] < 1e-12


def test_two_beds_act_in_series() -> None:
    box = {"type": "box", "size": [0.2, 0.2, 0.1], "material": "pad"}
    bed = {"stiffness_per_area": BED, "damping_per_area": DAMPING}
    sim = simulate(
        document(
            [
                ground(material="floor"),
                {"name": "b", "position": [0, 0, 0.05], "mass": 2.0, "shapes": [box]},
            ],
            materials={"floor": bed, "pad": {"stiffness_per_area": 2.0 * BED}},
            simulation={"dt": H},
        )
    )
    made = sim.model.materials
    assert made.foundation[1, 2] == pytest.approx(1.5 / BED)
    assert made.foundation_damping[1, 2] == pytest.approx(DAMPING / 1.5**2)
    assert sunk(sim, 0.05) == pytest.approx(2.0 * G * 1.5 / (BED * 0.04), rel=1e-6)
