"""Mass properties by independent integration, and inertia in the world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.bodies.mass_properties import moments_fault
from cardan.engine.bodies.world_inertia import write_world_inertia
from cardan.engine.build.rotations import rotation_matrix
from cardan.engine.simulation import Simulation
from cardan.schemas import load_scene
from tests.engine.scenes import brick, document, simulate

# the middles of 100^3 cells of a cube of 1 m
MIDDLES = np.linspace(-0.495, 0.495, 100)

SHAPES: dict[str, tuple[dict[str, Any], Any]] = {
    "sphere": ({"radius": 0.5}, lambda p: (p**2).sum(1) <= 0.25),
    "box": ({"size": [1.0, 0.6, 0.4]}, lambda p: (np.abs(p) <= [0.5, 0.3, 0.2]).all(1)),
    "cylinder": (
        {"radius": 0.4, "length": 0.8},
        lambda p: (p[:, 0] ** 2 + p[:, 1] ** 2 <= 0.16) & (np.abs(p[:, 2]) <= 0.4),
    ),
    "capsule": (
        {"radius": 0.2, "length": 0.6},
        lambda p: (
            p[:, 0] ** 2 + p[:, 1] ** 2 + (np.maximum(np.abs(p[:, 2]) - 0.3, 0.0)) ** 2 <= 0.04
        ),
    ),
    "cone": (
        {"radius": 0.4, "length": 0.8},
        lambda p: (
            (np.abs(p[:, 2]) <= 0.4) & (np.hypot(p[:, 0], p[:, 1]) <= 0.4 * (0.4 - p[:, 2]) / 0.8)
        ),
    ),
    "ellipsoid": (
        {"radii": [0.5, 0.3, 0.2]},
        lambda p: ((p / [0.5, 0.3, 0.2]) ** 2).sum(1) <= 1.0,
    ),
    "convex": (
        {"points": [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]},
        lambda p: (p >= 0).all(1) & (p.sum(1) <= 0.5),
    ),
}


def body_of(shapes: list[dict[str, Any]]) -> Simulation:
    return simulate(document([{"name": "b", "density": 700.0, "shapes": shapes}]))


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_mass_centre_and_inertia_agree_with_counted_points(kind: str) -> None:
    fields, inside = SHAPES[kind]
    sim = body_of([{"type": kind, **fields}])
    points = np.stack(np.meshgrid(MIDDLES, MIDDLES, MIDDLES), axis=-1).reshape(-1, 3)
    points = points[inside(points)]
    mass = 700.0 * len(points) / 1e6
    center = points.mean(0)
    d = points - center
    second = mass * (d.T @ d) / len(points)
    inertia = np.trace(second) * np.eye(3) - second
    bodies = sim.model.bodies
    assert bodies.mass[0] == pytest.approx(mass, rel=5e-3)
    assert bodies.com_B[0] == pytest.approx(center, abs=3e-4)
    assert bodies.inertia_B[0] == pytest.approx(inertia, abs=5e-3 * np.abs(inertia).max())


def test_a_box_of_eight_boxes_is_the_box() -> None:
    small = [
        {"type": "box", "size": [0.5, 0.3, 0.2], "position": [x, y, z]}
        for x in (-0.25, 0.25)
        for y in (-0.15, 0.15)
        for z in (-0.1, 0.1)
    ]
    whole = body_of([{"type": "box", "size": [1.0, 0.6, 0.4]}]).model.bodies
    parts = body_of(small).model.bodies
    assert parts.mass[0] == pytest.approx(whole.mass[0], rel=1e-14)
    assert parts.inertia_B[0] == pytest.approx(whole.inertia_B[0], rel=1e-13, abs=1e-13)


def test_hull_of_a_box_weighs_like_the_box() -> None:
    corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.3, 0.3) for z in (-0.2, 0.2)]
    hull = body_of([{"type": "convex", "points": corners}]).model.bodies
    box = body_of([{"type": "box", "size": [1.0, 0.6, 0.4]}]).model.bodies
    assert hull.inertia_B[0] == pytest.approx(box.inertia_B[0], rel=1e-12, abs=1e-12)


def test_given_mass_is_spread_evenly_and_a_given_centre_shifts_the_inertia() -> None:
    body = {"name": "b", "mass": 2.0, "shapes": [{"type": "sphere", "radius": 0.5}]}
    body["center_of_mass"] = [0.1, 0.0, 0.0]
    bodies = Simulation(load_scene(document([body]))).model.bodies
    expected = 0.4 * 2.0 * 0.25 * np.eye(3) + 2.0 * 0.01 * np.diag([0.0, 1.0, 1.0])
    assert bodies.inertia_B[0] == pytest.approx(expected, rel=1e-12)


def test_inertia_in_the_world_is_turned_and_inverted() -> None:
    sim = simulate(document([brick("b", orientation=[0.5, 0.5, -0.5, 0.5])]))
    write_world_inertia(sim.world)
    R = rotation_matrix(sim.state.q_WB[0])
    expected = np.linalg.inv(R @ sim.model.bodies.inertia_B[0] @ R.T)
    assert sim.work.motion.inverse_inertia_W[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert not sim.work.motion.inverse_inertia_W[1].any()


def test_impossible_tensors_are_named() -> None:
    assert moments_fault(np.array([1.0, 1.0, 1.0])) is None
    assert "positive definite" in str(moments_fault(np.array([-1.0, 1.0, 1.0])))
    assert "triangle" in str(moments_fault(np.array([1.0, 1.0, 3.0])))
