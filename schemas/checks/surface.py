"""Triangle surfaces: welded, without what has no area, and whether they enclose a volume."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cardan.schemas.shape import Heightfield, Mesh

WELD = 1e-9
"""Vertices nearer than this share of the extent are one vertex."""
THIN = 1e-10
"""A triangle lower than this share of the extent has no area."""
FLAT_VOLUME = 1e-9
"""A volume below this share of its parts is rounding."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Surface(NamedTuple):
    """A surface of triangles, counter-clockwise seen from outside."""

    vertices: Floats
    """(v, 3) [m], no two alike."""
    faces: Ints
    """(t, 3) vertex numbers, all with an area."""
    dropped: int
    """Triangles without an area, left out."""


class Closure(NamedTuple):
    """What keeps a surface from enclosing a volume."""

    open_edges: int
    """Edges of one triangle only."""
    crowded_edges: int
    """Edges of more than two triangles."""
    flipped_edges: int
    """Edges whose two triangles run the same way: one of them is turned over."""
    volume: float
    """Sum of signed tetrahedra [m^3]; 0 when it is rounding."""

    @property
    def is_closed(self) -> bool:
        """Whether every edge joins two triangles of the same sense around a positive volume."""
        return not any(self[:3]) and self.volume > 0.0


def surface_of(vertices: Any, faces: Any) -> Surface:
    """Return the welded surface of vertices (v, 3) and faces (t, 3) with valid indices."""
    points: Floats = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    corners: Ints = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    low = points.min(axis=0)
    extent = float(np.ptp(points, axis=0).max())
    if extent > 0.0:
        # a grid moved off the round numbers that coordinates like to have
        cells = np.floor((points - low) / (WELD * extent) + 0.3819660112501051)
        _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    else:
        first, number = np.zeros(1, np.int64), np.zeros(len(points), np.int64)
    # in the order of the document
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    points = points[first[order]]
    corners = rank[np.asarray(number).reshape(-1)[corners]]
    kept = _has_area(points, corners, THIN * extent)
    return Surface(points, corners[kept], int(len(corners) - kept.sum()))


def _has_area(points: Floats, corners: Ints, thin: float) -> npt.NDArray[np.bool_]:
    """Return which triangles (t,) are higher than `thin` [m] over their longest edge."""
    p = points[corners]
    edges = p[:, [1, 2, 0]] - p
    longest = np.sqrt(np.einsum("tki,tki->tk", edges, edges)).max(axis=1)
    area2 = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    return np.asarray(area2 > thin * longest)


def surface_of_mesh(mesh: Mesh) -> Surface:
    """Return the surface of a mesh whose indices are valid."""
    return surface_of(mesh.vertices, mesh.faces)


def surface_of_heightfield(field: Heightfield) -> Surface:
    """Return two triangles per cell, cut along the diagonal from (+x, low y) to (low x, +y)."""
    heights = np.asarray(field.heights, dtype=np.float64)
    rows, columns = heights.shape
    x = field.size[0] * (np.arange(columns) / (columns - 1) - 0.5)
    y = field.size[1] * (np.arange(rows) / (rows - 1) - 0.5)
    grid_x, grid_y = np.meshgrid(x, y)
    vertices = np.stack([grid_x, grid_y, heights], axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    lower = np.stack([a, a + 1, a + columns], axis=1)
    upper = np.stack([a + 1, a + columns + 1, a + columns], axis=1)
    faces = np.stack([lower, upper], axis=1).reshape(-1, 3)
    return Surface(vertices, faces.astype(np.int64), 0)


def closure_of(surface: Surface) -> Closure:
    """Return whether a surface encloses a volume, and if not, why."""
    faces, count = surface.faces, len(surface.vertices)
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    key = np.minimum(start, end) * count + np.maximum(start, end)
    _, index, uses = np.unique(key, return_inverse=True, return_counts=True)
    sense = np.bincount(np.asarray(index).reshape(-1), np.where(start < end, 1, -1), len(uses))
    p = surface.vertices - surface.vertices.mean(axis=0)
    a, b, c = (p[faces[:, k]] for k in range(3))
    parts = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6.0
    total = float(parts.sum())
    if abs(total) <= FLAT_VOLUME * float(np.abs(parts).sum()):
        total = 0.0
    return Closure(
        open_edges=int((uses == 1).sum()),
        crowded_edges=int((uses > 2).sum()),
        flipped_edges=int(((uses == 2) & (sense != 0)).sum()),
        volume=total,
    )
