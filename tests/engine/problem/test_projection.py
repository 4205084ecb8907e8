"""A projection is the nearest point of a convex set: (x - P x) . (y - P x) <= 0 for y in it."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.projection import (
    clamp,
    project_cone,
    project_disk,
    project_pair,
    project_polygon,
)
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.7, 2.0])
def test_cone_projection_is_nearest(mu):
    rng = np.random.default_rng(int(10 * mu))
    for _ in range(300):
        x = rng.normal(size=3) * [2, 1, 1]
        nearest = np.array(project_cone(x[0], x[1], x[2], mu))
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
        nearest = np.array(project_disk(x[0], x[1], 0.8))
        assert np.hypot(*nearest) <= 0.8 * (1 + 1e-15)
        points = rng.uniform(-0.8, 0.8, (50, 2))
        points = points[np.hypot(*points.T) <= 0.8]
        assert ((points - nearest) @ (x - nearest)).max() < 1e-12


def test_disk_of_no_radius_is_the_origin():
    assert project_disk(3.0, 4.0, 0.0) == (0.0, 0.0)
    assert project_disk(3.0, 4.0, -1.0) == (0.0, 0.0)


@pytest.mark.parametrize("directions", [3, 4, 5, 8, 64])
def test_polygon_projection_is_nearest(directions):
    angle = 2 * np.pi * np.arange(directions) / directions
    corners = 0.8 * np.column_stack([np.cos(angle), np.sin(angle)])
    normals = angle + np.pi / directions
    edges = np.column_stack([np.cos(normals), np.sin(normals)])
    depth = 0.8 * np.cos(np.pi / directions)
    rng = np.random.default_rng(directions)
    outside = 0
    for x in [*rng.normal(size=(200, 2)), *(2 * corners), *(0.5 * corners), *edges]:
        nearest = np.array(project_polygon(x[0], x[1], 0.8, directions))
        assert (edges @ nearest).max() <= depth + 1e-15
        # a linear function of the polygon is largest at a corner
        assert ((corners - nearest) @ (x - nearest)).max() < 1e-14
        outside += (edges @ x).max() > depth
    assert outside > 20


def test_pair_is_projected_on_the_set_of_its_kind():
    assert project_pair(3.0, 4.0, 1.0, FRICTION_CONE, 4) == pytest.approx((0.6, 0.8))
    assert project_pair(3.0, -4.0, 1.0, FRICTION_BOX, 4) == (1.0, -1.0)
    assert project_pair(3.0, 4.0, 1.0, FRICTION_POLYGON, 4) == pytest.approx((0.0, 1.0))
    for kind in (FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON):
        assert project_pair(3.0, 4.0, -1.0, kind, 4) == (0.0, 0.0)


def test_not_a_number_is_not_hidden():
    assert np.isnan(clamp(np.nan, 0.0, 1.0))
    assert np.isnan(project_disk(np.nan, 0.0, 1.0)).any()
    assert np.isnan(project_disk(np.nan, 0.0, 0.0)).any()
    assert np.isnan(project_polygon(np.nan, 0.0, 1.0, 4)).any()
    assert np.isnan(project_polygon(np.nan, 0.0, 0.0, 4)).any()
