"""Convex hulls: vertices, and planar faces as loops of vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Share of the size by which points of single precision lie beside the planes of their faces.
ROUNDED = 1e-6
# Triangles that meet at less than this angle [rad] are one plane.
FLAT = 1e-4


class Hull(NamedTuple):
    """A convex polyhedron in the shape's frame."""

    points: NDArray[np.float64]  # (k, 3) m   vertices only
    triangles: NDArray[np.int64]  # (t, 3)    counter-clockwise from outside
    normals: NDArray[np.float64]  # (f, 3) -  of the planar faces
    offsets: NDArray[np.float64]  # (f,) m
    loops: list[NDArray[np.int64]]  # vertices of each face, counter-clockwise from outside


def convex_hull(points: NDArray[np.float64]) -> Hull:
    """The hull of points (n, 3) by Qhull; triangles in one plane become one face.

    Facets that rounding has bent or split are merged (option C), as those of files in single
    precision, with points on their edges and faces.

    Raises ValueError when the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    merged = f"C{ROUNDED * float(np.ptp(points, axis=0).max()):.3e}"
    try:
        hull = ConvexHull(points, qhull_options=f"Qt {merged}")
    except QhullError as error:
        raise ValueError("the points lie in one plane") from error
    number = {int(old): new for new, old in enumerate(sorted(hull.vertices))}
    vertices = np.asarray(points, dtype=float)[sorted(hull.vertices)]
    triangles = np.array([[number[int(v)] for v in simplex] for simplex in hull.simplices])
    center = vertices.mean(axis=0)
    # Qhull's triangles are not oriented: turn each so that its normal points out
    p = vertices[triangles]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    inward = np.einsum("ti,ti->t", normal, p[:, 0] - center) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    normals, offsets, loops = planar_faces(vertices, triangles, hull.equations)
    return Hull(vertices, triangles, normals, offsets, loops)


def planar_faces(
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    equations: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[NDArray[np.int64]]]:
    """One face for every distinct plane (normal, -offset) of the triangles.

    A face has all vertices of its triangles: some lie beside its plane where points were rounded,
    as in files of single precision.
    """
    kept: list[NDArray[np.float64]] = []
    loops = []
    left = np.asarray(equations, dtype=float)
    while len(left):
        n = left[0, :3]
        kept.append(left[0])
        same = np.linalg.norm(left[:, :3] - n, axis=1) <= FLAT
        on = np.unique(triangles[same])
        left, triangles = left[~same], triangles[~same]
        middle = vertices[on].mean(axis=0)
        u = np.linalg.svd(n[None, :])[2][1]
        arms = vertices[on] - middle
        angles = np.arctan2(arms @ np.cross(n, u), arms @ u)
        loops.append(on[np.argsort(angles, kind="stable")].astype(np.int64))
    normals = np.array([k[:3] for k in kept])
    offsets = np.array([-k[3] for k in kept])
    return normals, offsets, loops
