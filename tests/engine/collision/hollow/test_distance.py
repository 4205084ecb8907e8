"""Hollow shapes: distances, masses and rays beside a fine search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.bodies import mass_properties as mass
from cardan.engine.collision.hollow.distance import hollow_distance
from cardan.engine.collision.hollow.ray import ray_hollow
from cardan.engine.world.model import BOWL, RING, TUBE

SHAPES = {
    "tube": (TUBE, (0.5, 0.4, 0.3)),
    "ring": (RING, (0.5, 0.15, 0.0)),
    "half bowl": (BOWL, (0.6, 0.5 * math.pi, 0.4)),
    "flat bowl": (BOWL, (0.6, 0.9, 0.4)),
}
MASSES = {
    "tube": mass.tube(2.0, 0.3, 0.5, 0.8),
    "ring": mass.ring(2.0, 0.5, 0.15),
    "half bowl": mass.bowl(2.0, 0.4, 0.6, 0.5 * math.pi),
    "flat bowl": mass.bowl(2.0, 0.4, 0.6, 0.9),
}


def is_inside(kind, size, x):
    """Whether points (n, 3) lie in the material, by its definition."""
    rho, z = np.hypot(x[:, 0], x[:, 1]), x[:, 2]
    if kind == RING:
        return np.hypot(rho - size[0], z) <= size[1]
    if kind == TUBE:
        return (rho >= size[2]) & (rho <= size[0]) & (np.abs(z) <= size[1])
    s = np.hypot(rho, z)
    return (s >= size[2]) & (s <= size[0]) & (np.arctan2(rho, -z) <= size[1])


@pytest.mark.parametrize("name", SHAPES)
def test_distance_is_signed_and_has_the_length_of_its_gradient(name):
    kind, size = SHAPES[name]
    rng = np.random.default_rng(1)
    points = rng.uniform(-0.9, 0.9, (400, 3))
    inside = is_inside(kind, size, points)
    for x, within in zip(points, inside, strict=True):
        gap, n, _ = hollow_distance(kind, size, tuple(x))
        assert (gap <= 0.0) == within
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        # the foot lies on the surface, and nothing nearer does
        foot = x - gap * np.array(n)
        assert abs(hollow_distance(kind, size, tuple(foot))[0]) < 1e-12
        near = x + 0.999 * abs(gap) * unit_vectors(rng, 50)
        assert (is_inside(kind, size, near) == within).all()


def unit_vectors(rng, count):
    v = rng.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


@pytest.mark.parametrize("name", SHAPES)
def test_mass_properties_agree_with_integration(name):
    kind, size = SHAPES[name]
    n = 120
    line = (np.arange(n) + 0.5) / n * 1.4 - 0.7
    x = np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3)
    x = x[is_inside(kind, size, x)]
    cell = 2.0 * (1.4 / n) ** 3
    found = MASSES[name]
    assert found.mass == pytest.approx(len(x) * cell, rel=2e-2)
    np.testing.assert_allclose(found.center, x.mean(axis=0), atol=2e-3)
    arm = x - x.mean(axis=0)
    second = cell * arm.T @ arm
    inertia = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(found.inertia, inertia, atol=2e-2 * np.trace(inertia))


@pytest.mark.parametrize("name", SHAPES)
def test_rays_stop_at_the_first_surface(name):
    kind, size = SHAPES[name]
    rng = np.random.default_rng(2)
    starts, goals = rng.uniform(-1.5, 1.5, (150, 3)), rng.uniform(-0.5, 0.5, (150, 3))
    ways = (goals - starts) / np.linalg.norm(goals - starts, axis=1, keepdims=True)
    t = np.arange(0.0, 3.0, 5e-4)
    hits = 0
    for o, d in zip(starts, ways, strict=True):
        within = np.flatnonzero(is_inside(kind, size, o + t[:, None] * d))
        found, n = ray_hollow(kind, size, 1.0, tuple(o), tuple(d))
        # nothing of the shape lies before the hit, which is on the surface
        assert found <= (t[within[0]] if len(within) else math.inf) + 1e-9
        if 0.0 < found < math.inf:
            hits += 1
            assert abs(hollow_distance(kind, size, tuple(o + found * d))[0]) < 1e-9
            assert np.dot(n, d) < 1e-6
    assert hits > 50
