"""The tree of a mesh finds what a look at every triangle finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.engine.build.mesh import build_mesh, mesh_arrays
from cardan.engine.collision.mesh.aabb_tree import (
    nearest_on_triangle,
    nearest_triangle,
    next_leaf,
    pseudo_normal,
    start_walk,
    triangle_above,
    triangle_meets,
)
from cardan.engine.world.collision import TREE_DEPTH
from cardan.engine.world.model import INSIDE_CLOSED, TREE_LEAF
from cardan.schemas.checks.surface import surface_of
from tests.engine.collision.worlds import grid, icosphere


def soup(rng, count, size):
    """Triangles anywhere, of any size, with no order and no neighbours."""
    corners = rng.uniform(-1, 1, size=(count, 1, 3)) + size * rng.normal(size=(count, 3, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def found_by_tree(meshes, m, box):
    stack = np.zeros(TREE_DEPTH, np.int64)
    start_walk(stack)
    found, leaves = [], 0
    leaf = next_leaf(meshes, m, box, stack)
    while leaf >= 0:
        leaves += 1
        triangles = meshes.leaf[leaf : leaf + TREE_LEAF]
        found += [int(t) for t in triangles if t >= 0 and triangle_meets(meshes, int(t), box)]
        leaf = next_leaf(meshes, m, box, stack)
    return found, leaves


def found_by_all(meshes, first, count, box):
    p = meshes.vertex[meshes.corner[first : first + count]]
    apart = (p.min(axis=1) > box[1]).any(axis=1) | (p.max(axis=1) < box[0]).any(axis=1)
    return [first + int(t) for t in np.flatnonzero(~apart)]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 150),
    size=st.sampled_from([1e-6, 0.05, 1.0]),
    reach=st.sampled_from([0.0, 0.1, 0.5, 3.0]),
)
def test_walk_finds_exactly_the_triangles_that_meet_the_box(seed, count, size, reach):
    rng = np.random.default_rng(seed)
    surfaces = [surface_of(*soup(rng, n, size)) for n in (7, count)]
    built = [build_mesh(s, False) for s in surfaces]
    meshes = mesh_arrays(built)
    for _ in range(5):
        middle = rng.uniform(-1, 1, size=3)
        half = reach * rng.uniform(size=3)
        box = (tuple(middle - half), tuple(middle + half))
        found, _ = found_by_tree(meshes, 1, box)
        assert len(found) == len(set(found))
        assert sorted(found) == found_by_all(meshes, len(built[0].faces), len(built[1].faces), box)


def test_every_triangle_is_in_one_leaf_and_the_tree_is_as_deep_as_its_logarithm():
    for cells in (1, 2, 3, 10, 31):
        built = build_mesh(surface_of(*grid(lambda x, y: np.sin(x * y), cells=cells)), False)
        count = len(built.faces)
        assert sorted(t for t in built.leaf if t >= 0) == list(range(count))
        leaves = max(1, 2 ** int(np.ceil(np.log2(count / TREE_LEAF))))
        assert len(built.leaf) == leaves * TREE_LEAF
        assert len(built.node) == 2 * leaves - 1


def test_a_small_box_opens_few_leaves_of_a_large_mesh():
    """Not a time but a count: what a query costs grows like the depth."""
    opened = []
    for cells in (16, 64, 160):
        built = build_mesh(
            surface_of(*grid(lambda x, y: 0.1 * np.sin(5 * x) * y, cells=cells)), False
        )
        meshes = mesh_arrays([built])
        low = np.array([0.31, 0.27, -1.0])
        box = (tuple(low), tuple(low + np.array([1.0 / cells, 1.0 / cells, 2.0])))
        opened.append(found_by_tree(meshes, 0, box)[1])
    assert max(opened) <= 8


def closest_by_brute_force(points, p):
    """Distance of p to each triangle (t, 3, 3), sampled densely."""
    k = np.linspace(0, 1, 60)
    u, v = np.meshgrid(k, k)
    inside = u + v <= 1 + 1e-12
    u, v = u[inside], v[inside]
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    samples = a[:, None] + u[None, :, None] * (b - a)[:, None] + v[None, :, None] * (c - a)[:, None]
    return np.linalg.norm(samples - p, axis=2).min(axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_nearest_triangle_is_the_nearest(seed):
    rng = np.random.default_rng(seed)
    built = build_mesh(surface_of(*soup(rng, 60, 0.3)), False)
    meshes = mesh_arrays([built])
    stack = np.zeros(TREE_DEPTH, np.int64)
    for _ in range(5):
        p = rng.uniform(-1.5, 1.5, size=3)
        t = nearest_triangle(meshes, 0, tuple(p), stack)
        point, weights = nearest_on_triangle(meshes, t, tuple(p))
        assert sum(weights) == pytest.approx(1)
        distance = np.linalg.norm(np.array(point) - p)
        sampled = closest_by_brute_force(built.vertices[built.faces], p).min()
        assert distance <= sampled + 1e-12
        assert distance >= sampled - 0.03


def test_pseudo_normal_tells_inside_from_outside_of_a_closed_mesh():
    vertices, faces = icosphere(1)
    built = build_mesh(surface_of(vertices, faces), False)
    assert built.inside == INSIDE_CLOSED
    meshes = mesh_arrays([built])
    stack = np.zeros(TREE_DEPTH, np.int64)
    rng = np.random.default_rng(2)
    planes = np.einsum("ti,ti->t", built.normals, built.vertices[built.faces[:, 0]])
    trials = [*rng.normal(size=(200, 3)), *(1.2 * vertices), *(0.7 * vertices)]
    for x in trials:
        t = nearest_triangle(meshes, 0, tuple(x), stack)
        q, weights = nearest_on_triangle(meshes, t, tuple(x))
        side = np.dot(pseudo_normal(meshes, t, weights), x - np.array(q))
        assert (side < 0) == bool(np.all(built.normals @ x < planes))


def test_the_triangle_of_a_heightfield_over_a_point():
    built = build_mesh(surface_of(*grid(lambda x, y: x * y, half=1.0, cells=7)), True)
    meshes = mesh_arrays([built])
    stack = np.zeros(TREE_DEPTH, np.int64)
    rng = np.random.default_rng(1)
    for _ in range(60):
        x, y = rng.uniform(-1.3, 1.3, size=2)
        t = triangle_above(meshes, 0, (x, y, -5.0), stack)
        if max(abs(x), abs(y)) > 1:
            assert t == -1
            continue
        a, b, c = built.vertices[built.faces[t]][:, :2]
        weights = np.linalg.solve(np.array([b - a, c - a]).T, np.array([x, y]) - a)
        assert weights.min() >= -1e-12
        assert weights.sum() <= 1 + 1e-12
