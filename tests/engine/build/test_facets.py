"""Curvature of surfaces of facets, against cylinders, spheres and corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine.build.facets import find_curvatures
from cardan.engine.build.mesh import face_normals, find_neighbours, find_regions
from tests.engine.collision.worlds import icosphere

Floats = NDArray[np.float64]


def curvatures_of(vertices: Any, faces: Any) -> tuple[Floats, Floats, Floats]:
    vertices, faces = np.array(vertices, float), np.array(faces)
    normals = face_normals(vertices, faces)
    neighbours = find_neighbours(faces, len(vertices))
    return find_curvatures(vertices, faces, normals, neighbours, find_regions(normals, neighbours))


def profile(points: Any) -> tuple[Any, Any]:
    """A strip along y over points in the plane of x and z, seen from above."""
    vertices = [[x, y, z] for x, z in points for y in (-0.2, 0.3)]
    n = len(points) - 1
    faces = [f for i in range(0, 2 * n, 2) for f in ([i, i + 2, i + 3], [i, i + 3, i + 1])]
    return vertices, faces


def arc(radius: float, sign: float, n: int = 40) -> list[list[float]]:
    angle = np.linspace(-0.5, 0.5, n + 1)
    return [[radius * np.sin(a), -sign * radius * np.cos(a)] for a in angle]


def test_a_hollow_cylinder_has_its_curvature() -> None:
    radius, n = 2.0, 40
    curvature, middle, rise = curvatures_of(*profile(arc(radius, 1.0)))
    along = np.repeat((np.arange(n) + 0.5) / n - 0.5, 2)
    for t in range(2, 2 * n - 2):
        K = np.array([[curvature[t, 0], curvature[t, 3], curvature[t, 4]],
                      [curvature[t, 3], curvature[t, 1], curvature[t, 5]],
                      [curvature[t, 4], curvature[t, 5], curvature[t, 2]]])  # fmt: skip
        u = np.array([np.cos(along[t]), 0.0, np.sin(along[t])])
        assert pytest.approx(-np.outer(u, u) / radius, rel=1e-3, abs=1e-9) == K
        inner = radius * np.cos(0.5 / n)
        assert middle[t] == pytest.approx(
            [inner * np.sin(along[t]), 0.05, -inner * np.cos(along[t])]
        )
        assert rise[t] == pytest.approx(radius * (0.5 / n) ** 2 / 2, rel=1e-2)
    # the first and the last facet have one neighbour
    assert (curvature[[0, 1, -2, -1]] == 0.0).all()
    assert (rise[[0, 1, -2, -1]] == 0.0).all()


def test_a_hollow_sphere_is_curved_in_all_directions() -> None:
    vertices, faces = icosphere(5)
    vertices, faces = np.array(vertices), np.array(faces)[:, ::-1]
    curvature, _, _ = curvatures_of(2.0 * vertices, faces)
    # the integral of the mean curvature over a sphere is that of the angles between its facets
    p = 2.0 * vertices[faces]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    assert area @ curvature[:, :3].sum(axis=1) / area.sum() == pytest.approx(-1.0, rel=0.01)


@pytest.mark.parametrize(
    "points",
    [
        arc(2.0, -1.0),  # convex
        [[-2.0, 0.1], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.2]],  # corners
        [[-2.0, 0.0], [-1.0, 0.0], [0.0, 0.03], [1.0, 0.06]],  # a ramp
        [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]],  # flat
    ],
)
def test_what_is_convex_flat_or_a_corner_stays_plane(points: Any) -> None:
    curvature, _, rise = curvatures_of(*profile(points))
    assert (curvature == 0.0).all()
    assert (rise == 0.0).all()
