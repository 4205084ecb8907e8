"""Meshes with fewer vertices, for pictures: vertices that are near each other become one.

Source: Rossignac and Borrel 1993, clustering of vertices in the cells of a grid
"""

import numpy as np
import numpy.typing as npt

Vertices = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]

HALVINGS = 14
"""Steps of the search for the width of a cell."""


def vertices_of_each(sizes: list[int], total: int) -> int:
    """The largest limit per mesh at which all together have at most `total` vertices; 4 or more."""
    left = total
    for k, size in enumerate(sorted(sizes)):
        room = max(left // (len(sizes) - k), 4)
        if size > room:
            return room
        left -= size
    return max(sizes, default=0)


def thinned(vertices: Vertices, faces: Faces, count: int) -> tuple[Vertices, Faces, float]:
    """At most `count` vertices, the remaining faces, and the largest shift of a vertex [m].

    Vertices (n, 3) [m] in one cell of a grid become their mean; faces (m, 3) that lose an edge are
    removed. The cells are as small as the count allows. A mesh within the count is unchanged.
    """
    if len(vertices) <= count:
        return vertices, faces, 0.0
    low = vertices.min(axis=0)
    fine, coarse = 0.0, float(np.ptp(vertices, axis=0).max()) * (1.0 + 1e-9)
    for _ in range(HALVINGS):
        width = 0.5 * (fine + coarse)
        fine, coarse = (
            (fine, width) if _cells(vertices, low, width)[1] <= count else (width, coarse)
        )
    cell, number = _cells(vertices, low, coarse)
    weight = np.bincount(cell, minlength=number)
    sums = [np.bincount(cell, vertices[:, k], number) / weight for k in range(3)]
    kept: Vertices = np.stack(sums, axis=1)
    moved = float(np.linalg.norm(kept[cell] - vertices, axis=1).max())
    left: Faces = cell[faces]
    distinct = (left[:, 0] != left[:, 1]) & (left[:, 1] != left[:, 2]) & (left[:, 2] != left[:, 0])
    left = left[distinct]
    # keep one of the faces with the same corners in the same orientation
    first = np.argmin(left, axis=1)[:, None]
    turned = np.take_along_axis(left, (first + np.arange(3)) % 3, axis=1)
    _, once = np.unique(turned, axis=0, return_index=True)
    return kept, left[np.sort(once)], moved


def _cells(vertices: Vertices, low: Vertices, width: float) -> tuple[Faces, int]:
    """Number of the cell of each vertex (n,), and how many cells there are."""
    corners = np.floor((vertices - low) / width).astype(np.int64)
    along = int(corners.max()) + 1
    number = (corners[:, 0] * along + corners[:, 1]) * along + corners[:, 2]
    _, cell = np.unique(number, return_inverse=True)
    return cell.reshape(-1), int(cell.max()) + 1
