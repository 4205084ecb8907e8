"""Meshes on moving bodies: one convex hull if the mesh is convex, else convex pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.hull import Hull, convex_hull
from cardan.schemas.checks.surface import Surface, closure_of, surface_of_mesh

# A mesh is convex if its volume differs from that of its hull by at most this share.
CONVEX = 1e-4
# Corners of one piece: of larger hulls, the support points in as many directions.
MAX_CORNERS = 256
# Pieces of one mesh, and voxels of the decomposition.
MAX_PIECES = 32
VOXELS = 100_000


def volume_of(hull: Hull) -> float:
    """Volume of a hull: sum of tetrahedra from its centre [m^3]."""
    p = hull.points[hull.triangles] - hull.points.mean(axis=0)
    return float(np.einsum("ti,ti->t", p[:, 0], np.cross(p[:, 1], p[:, 2])).sum() / 6.0)


def directions(count: int) -> NDArray[np.float64]:
    """(count, 3) evenly distributed unit vectors: a spiral of golden angles from pole to pole."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def coarse_hull(points: NDArray[np.float64]) -> Hull:
    """The hull of points (n, 3), with at most MAX_CORNERS of them."""
    hull = convex_hull(points)
    if len(hull.points) <= MAX_CORNERS:
        return hull
    reach = hull.points @ directions(MAX_CORNERS).T
    return convex_hull(hull.points[np.unique(reach.argmax(axis=0))])


def decomposed(surface: Surface) -> list[NDArray[np.float64]] | None:
    """Corners of convex pieces of a closed surface; None if the optional package is missing.

    V-HACD in one thread, for reproducible pieces.
    """
    try:
        import vhacdx
    except ImportError:
        return None
    # each face begins with the number of its corners
    counted = np.insert(surface.faces, 0, 3, axis=1).astype(np.uint32)
    found = vhacdx.compute_vhacd(
        surface.vertices,
        counted.reshape(-1),
        maxConvexHulls=MAX_PIECES,
        resolution=VOXELS,
        maxNumVerticesPerCH=64,
        asyncACD=False,
    )
    return [np.asarray(points, dtype=float) for points, _ in found]


def convex_pieces(shape: Any, pointer: str, faults: Faults) -> list[Hull]:
    """Hulls whose union approximates a closed mesh; adds a fault if there are none."""
    surface = surface_of_mesh(shape)
    try:
        hull = convex_hull(surface.vertices)
    except ValueError as error:
        faults.add(
            f"{pointer}/vertices",
            "flat_hull",
            f"Of this mesh {error}; a body that moves needs a solid.",
            "Make it thicker, use a thin box, or make the body static.",
        )
        return []
    whole = volume_of(hull)
    if whole - closure_of(surface).volume <= CONVEX * whole:
        return [coarse_hull(hull.points)]
    parts = decomposed(surface)
    if parts is None:
        faults.add(
            f"{pointer}/type",
            "extra_missing",
            "This mesh is not convex, and a body that moves needs convex pieces; the extra that "
            "cuts meshes into pieces is not installed.",
            "Install cardan[meshes], give the body several convex shapes, or make it static.",
        )
        return []
    return [coarse_hull(points) for points in parts]
