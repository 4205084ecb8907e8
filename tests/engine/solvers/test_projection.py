"""A projection is the nearest point of a convex set: (x - P x) . (y - P x) <= 0 for y in it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.solvers.projection import clamp, project_cone, project_disk


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.7, 2.0])
def test_cone_projection_is_nearest(mu):
    rng = np.random.default_rng(int(10 * mu))
    for _ in range(300):
        x = rng.normal(size=3) * [2, 1, 1]
        nearest = np.array(project_cone(*x, mu))
        assert np.hypot(*nearest[1:]) <= mu * nearest[0] + 1e-14
        assert abs((x - nearest) @ nearest) < 1e-12
        n = rng.exponential(size=40)
        angle = rng.uniform(0, 2 * np.pi, 40)
        t = mu * n * rng.uniform(0, 1, 40)
        points = np.column_stack([n, t * np.cos(angle), t * np.sin(angle)])
        assert ((points - nearest) @ (x - nearest)).max() < 1e-12


def test_cone_without_friction_is_a_half_line():
    assert project_cone(2.0, 3.0, -1.0, 0.0) == (2.0, 0.0, 0.0)
    assert project_cone(-2.0, 3.0, -1.0, 0.0) == (0.0, 0.0, 0.0)
    assert project_cone(-2.0, 0.0, 0.0, 0.5) == (0.0, 0.0, 0.0)


def test_disk_projection_is_nearest():
    rng = np.random.default_rng(5)
    for x in rng.normal(size=(200, 2)):
        nearest = np.array(project_disk(*x, 0.8))
        assert np.hypot(*nearest) <= 0.8 * (1 + 1e-15)
        points = rng.uniform(-0.8, 0.8, (50, 2))
        points = points[np.hypot(*points.T) <= 0.8]
        assert ((points - nearest) @ (x - nearest)).max() < 1e-12


def test_disk_of_no_radius_is_the_origin():
    assert project_disk(3.0, 4.0, 0.0) == (0.0, 0.0)
    assert project_disk(3.0, 4.0, -1.0) == (0.0, 0.0)


def test_not_a_number_is_not_hidden():
    assert np.isnan(clamp(np.nan, 0.0, 1.0))
    assert np.isnan(project_disk(np.nan, 0.0, 1.0)).any()
    assert np.isnan(project_disk(np.nan, 0.0, 0.0)).any()
