"""Rays and distances to meshes against a look at every triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.build.mesh import build_mesh, mesh_arrays
from cardan.engine.collision.mesh.ray import ray_mesh
from cardan.engine.world.collision import TREE_DEPTH
from cardan.schemas.checks.surface import surface_of
from tests.engine.collision.worlds import cuboid, grid, icosphere
from tests.engine.scenes import document, simulate
from tests.engine.test_meshes import angle_iron, body, mesh


def by_all_triangles(built, o, d):
    """(distance, normal) of the first front face, solved as a linear system for each."""
    best, normal = np.inf, None
    for face, n in zip(built.faces, built.normals, strict=True):
        if n @ d >= 0:
            continue
        a, b, c = built.vertices[face]
        t, u, v = np.linalg.solve(np.array([-d, b - a, c - a]).T, o - a)
        if t >= 0 and u >= -1e-12 and v >= -1e-12 and u + v <= 1 + 1e-12 and t < best:
            best, normal = t, n
    return best, normal


@pytest.mark.parametrize("shape", ["ball", "bumps"])
def test_ray_meets_the_first_front_face(shape):
    bumps = grid(lambda x, y: 0.3 * np.sin(3 * x) * np.cos(2 * y), cells=9)
    built = build_mesh(surface_of(*(icosphere(2) if shape == "ball" else bumps)), False)
    meshes = mesh_arrays([built])
    stack = np.zeros(TREE_DEPTH, np.int64)
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(150):
        o = 3 * rng.normal(size=3)
        if np.linalg.norm(o) < 1.1 and shape == "ball":
            continue
        d = rng.normal(size=3) - o
        d /= np.linalg.norm(d)
        expected, normal = by_all_triangles(built, o, d)
        t, n = ray_mesh(meshes, 0, tuple(o), tuple(d), np.inf, stack)
        assert (t == np.inf) == (expected == np.inf)
        if normal is not None:
            hits += 1
            assert t == pytest.approx(expected, abs=1e-9)
            assert np.array(n) == pytest.approx(normal, abs=1e-12)
            short = ray_mesh(meshes, 0, tuple(o), tuple(d), expected * (1 - 1e-9), stack)
            assert short[0] == np.inf
    assert hits > 40


def test_no_ray_slips_between_neighbours():
    built = build_mesh(surface_of(*grid(lambda x, y: 0.1 * x * y, cells=8)), False)
    meshes = mesh_arrays([built])
    stack = np.zeros(TREE_DEPTH, np.int64)
    for vertex in built.vertices:
        if np.abs(vertex[:2]).max() < 1.99:
            t, _ = ray_mesh(meshes, 0, (*vertex[:2], 5.0), (0.0, 0.0, -1.0), np.inf, stack)
            assert t == pytest.approx(5.0 - vertex[2], abs=1e-12)


def test_rays_of_a_simulation_see_meshes_and_fields():
    field = {"type": "heightfield", "size": [4, 4], "heights": [[0.5] * 5] * 5}
    block = mesh(*cuboid(np.array([0.5, 0.5, 0.5])), position=[0, 0, 1.5])
    base = {"name": "base", "type": "static", "shapes": [field, block]}
    sim = simulate(document([base, body({"type": "sphere", "radius": 0.1}, 3.0)]))
    rays = sim.raycast([[0, 0, 2.5], [1, 0, 5], [1, 0, 0], [0, 0, 1.5], [1, 0, 9]], [0, 0, -1])
    found: dict[int, tuple[Any, ...]] = {
        int(r["ray"]): (int(r["shape"]), float(r["distance"]), float(r["nz"])) for r in rays
    }
    assert found[0] == (1, pytest.approx(0.5), 1.0)
    assert found[1] == (0, pytest.approx(4.5), 1.0)
    # from below the ground and from within the block: at once
    assert found[2] == (0, 0.0, 1.0)
    assert found[3] == (1, 0.0, 1.0)


def test_pieces_of_a_mesh_are_one_shape_to_whoever_asks():
    pytest.importorskip("vhacdx", reason="the extra `meshes` is not installed")
    shapes = [angle_iron(), {"type": "sphere", "radius": 0.02, "position": [0.3, 0.3, 0]}]
    sim = simulate(document([{"name": "iron", "density": 1000.0, "shapes": shapes}]))
    hit = sim.raycast([[0.15, 0.05, 1], [0.3, 0.3, 1]], [0, 0, -1])
    assert list(hit["shape"]) == [0, 1]


def test_closest_points_of_a_solid_and_a_mesh():
    rng = np.random.default_rng(8)
    half = np.array([0.6, 0.5, 0.4])
    twins = []
    for shape in (mesh(*cuboid(half, cells=3)), {"type": "box", "size": (2 * half).tolist()}):
        base = {"name": "base", "type": "static", "shapes": [shape]}
        twins.append(simulate(document([base, body({"type": "capsule", "radius": 0.1,
                                                    "length": 0.4}, 2.0)])))  # fmt: skip
    for k in range(12):
        q = rng.normal(size=4)
        p = rng.normal(size=3)
        p *= (1.5 if k < 8 else 0.55) / np.linalg.norm(p)
        found = []
        for sim in twins:
            sim.state.p_WB[1], sim.state.q_WB[1] = p, q / np.linalg.norm(q)
            found.append(sim.closest_points("base", "body"))
        a, b = found
        if b["distance"] > 0:
            assert a["distance"] == pytest.approx(b["distance"], abs=1e-6)
            assert np.allclose(a["point_b"], b["point_b"], atol=1e-3)
        else:
            assert -0.7 < a["distance"] < 0
            assert a["distance"] == pytest.approx(b["distance"], abs=0.02)
        assert np.linalg.norm(a["normal"]) == pytest.approx(1)
