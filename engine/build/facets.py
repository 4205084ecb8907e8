"""Facets that stand for a smooth hollow surface: its curvature, from the angles between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# edges with a larger angle are corners [rad]
CORNER = 0.05
# triangles with a smaller angle are coplanar [rad]
FLAT = 1e-4
# largest share of a facet's angles that may lie on one side of it; beyond it the surface ends there
ONE_SIDED = 0.5

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# of the six numbers of a symmetric matrix: its rows and columns
ROWS, COLUMNS = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]


def find_curvatures(
    vertices: Floats, faces: Ints, normals: Floats, neighbours: Ints, regions: Ints
) -> tuple[Floats, Floats, Floats]:
    """Curvature [1/m] (t, 6), middle [m] (t, 3) and rise [m] (t,) of the region of each triangle.

        K = - sum of angle/2 length m m^T / area     over hollow edges, m their normals in the plane

    (xx, yy, zz, xy, xz, yz), 0 where a region has no such edges, or on one side only. Its integral
    over the surface is the sum of the angles, as that of a smooth one. The rise is the largest
    distance of the curved surface, which touches the region in its middle, from the plane.

    Check   tests/engine/build/test_facets.py
    """
    n = int(regions.max(initial=-1)) + 1
    p = vertices[faces]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    total = np.bincount(regions, area, n)
    middle = np.zeros((n, 3))
    np.add.at(middle, regions, area[:, None] * p.mean(axis=1))
    middle /= total[:, None]
    curvature, first, whole = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(n)
    for k in range(3):
        other = neighbours[:, k]
        edge = p[:, (k + 1) % 3] - p[:, k]
        length = np.linalg.norm(edge, axis=1)
        u = edge / length[:, None]
        m = np.cross(u, normals)
        turn = np.einsum("ti,ti->t", np.cross(normals, normals[other]), u)
        angle = np.arctan2(turn, np.einsum("ti,ti->t", normals, normals[other]))
        hollow = (other >= 0) & (angle < -FLAT) & (angle >= -CORNER)
        weight = np.where(hollow, -angle * length, 0.0)
        np.add.at(curvature, regions, -0.5 * weight[:, None, None] * m[:, :, None] * m[:, None, :])
        np.add.at(first, regions, weight[:, None] * m)
        np.add.at(whole, regions, weight)
    curvature /= total[:, None, None]
    curvature[np.linalg.norm(first, axis=1) > ONE_SIDED * whole] = 0.0
    away = p - middle[regions][:, None, :]
    rise = 0.5 * np.abs(np.einsum("tci,tij,tcj->tc", away, curvature[regions], away)).max(axis=1)
    largest = np.zeros(n)
    np.maximum.at(largest, regions, rise)
    return curvature[:, ROWS, COLUMNS][regions], middle[regions], largest[regions]
