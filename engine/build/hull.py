"""Convex hulls: vertices, and planar faces as loops of vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.memoised import memoised_for

# Share of the size by which points of single precision lie beside the planes of their faces.
ROUNDED = 1e-6
# Hulls that are kept, for variants of a scene and for the masses of its bodies.
MOST_HULLS = 256
# Triangles that meet at less than this angle [rad] are one plane.
FLAT = 1e-4


class Hull(NamedTuple):
    """A convex polyhedron in the shape's frame."""

    points: NDArray[np.float64]  # (k, 3) m   vertices only
    triangles: NDArray[np.int64]  # (t, 3)    counter-clockwise from outside
    normals: NDArray[np.float64]  # (f, 3) -  of the planar faces
    offsets: NDArray[np.float64]  # (f,) m
    loops: tuple[NDArray[np.int64], ...]  # vertices of each face, counter-clockwise from outside


@memoised_for(MOST_HULLS)
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


def planes_of(normals: NDArray[np.float64]) -> NDArray[np.int64]:
    """(t,) the plane of each triangle, by its normal; planes are numbered as they come first."""
    from scipy.spatial import cKDTree

    plane, count = np.full(len(normals), -1), 0
    for t, near in enumerate(cKDTree(normals).query_ball_point(normals, FLAT)):
        if plane[t] < 0:
            same = [other for other in near if plane[other] < 0]
            plane[same] = count
            count += 1
    return plane


def planar_faces(
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    equations: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[NDArray[np.int64], ...]]:
    """One face for every distinct plane (normal, -offset) of the triangles.

    A face has all vertices of its triangles: some lie beside its plane where points were rounded,
    as in files of single precision.
    """
    plane = planes_of(equations[:, :3])
    kept = equations[np.unique(plane, return_index=True)[1]]
    normals, offsets = kept[:, :3].copy(), -kept[:, 3]
    # the vertices of each face, once, face by face
    corners = np.unique(plane[:, None] * len(vertices) + triangles)
    face, on = np.divmod(corners, len(vertices))
    first = np.searchsorted(face, np.arange(len(kept)))
    count = np.diff(np.append(first, len(face)))
    middle = np.add.reduceat(vertices[on], first) / count[:, None]
    # in each plane angles are counted from u
    u = np.linalg.svd(normals[:, None, :])[2][:, 1]
    arms = vertices[on] - middle[face]
    across = np.einsum("ij,ij->i", arms, np.cross(normals, u)[face])
    angles = np.arctan2(across, np.einsum("ij,ij->i", arms, u[face]))
    around = on[np.lexsort((angles, face))]
    return normals, offsets, tuple(np.split(around, first[1:]))
