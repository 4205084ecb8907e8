"""Triangle meshes: neighbours, convex edges, flat regions, and a tree of bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.components import components
from cardan.engine.build.facets import find_curvatures
from cardan.engine.build.hull import FLAT
from cardan.engine.build.memoised import memoised_for
from cardan.engine.build.mesh_tree import build_tree
from cardan.engine.world.model import (
    EDGE_BORDER,
    EDGE_CONVEX,
    EDGE_INNER,
    INSIDE_BELOW,
    INSIDE_CLOSED,
    INSIDE_NONE,
    Meshes,
)
from cardan.schemas.checks.surface import Surface, closure_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# number of meshes that are memoised for variants of a scene, and the largest arrays of an argument
# [bytes]: a mesh takes about twelve times as much
MOST_MESHES, MESH_BYTES = 4, 2_000_000


class Mesh(NamedTuple):
    """One mesh relative to the centre of its bounds; indices start at 0."""

    middle: Floats  # (3,) m            middle of the bounds in the frame of the shape
    half: Floats  # (3,) m              half edges of the bounds
    inside: int
    vertices: Floats  # (v, 3) m        from the middle
    vertex_normals: Floats  # (v, 3)
    ring_start: Ints  # (v + 1,)
    ring: Ints
    faces: Ints  # (t, 3)
    normals: Floats  # (t, 3)
    neighbours: Ints  # (t, 3)
    edge_kinds: Ints  # (t, 3)
    regions: Ints  # (t,)
    curvatures: tuple[Floats, Floats, Floats]  # facets.py
    node: Floats  # (n, 6)
    leaf: Ints


def face_normals(vertices: Floats, faces: Ints) -> Floats:
    """(t, 3) unit normals of triangles that have an area."""
    p = vertices[faces]
    n = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    return np.asarray(n / np.linalg.norm(n, axis=1)[:, None])


def vertex_normals(vertices: Floats, faces: Ints, normals: Floats) -> Floats:
    """(v, 3) sums of face normals, weighted by the angle of each face at the vertex.

    Source  Baerentzen and Aanaes 2005: only these weights separate inside and outside at a vertex.
    """
    p = vertices[faces]
    total = np.zeros_like(vertices)
    for k in range(3):
        u, v = p[:, (k + 1) % 3] - p[:, k], p[:, (k + 2) % 3] - p[:, k]
        sine = np.linalg.norm(np.cross(u, v), axis=1)
        angle = np.arctan2(sine, np.einsum("ti,ti->t", u, v))
        np.add.at(total, faces[:, k], angle[:, None] * normals)
    return total


def find_neighbours(faces: Ints, n_vertices: int) -> Ints:
    """(t, 3) triangle beyond the edge from corner k to k + 1; -1 where there is not exactly one.

    Only a triangle of equal orientation, with the edge in the opposite direction, is a neighbour.
    """
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * n_vertices + high
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]])
    uses = np.diff(np.r_[first, len(order)])
    pairs = first[uses == 2]
    a, b = order[pairs], order[pairs + 1]
    same_sense = start[a] == end[b]
    a, b = a[same_sense], b[same_sense]
    beyond = np.full(len(key), -1, np.int64)
    beyond[a], beyond[b] = b // 3, a // 3
    return beyond.reshape(-1, 3)


def find_edge_kinds(vertices: Floats, faces: Ints, normals: Floats, neighbours: Ints) -> Ints:
    """(t, 3) EDGE_...: convex where the neighbour lies below the triangle's plane.

    The angle between the two planes has the sine (n x n') . u along the edge u.
    """
    p = vertices[faces]
    kinds = np.full(faces.shape, EDGE_BORDER, np.int64)
    for k in range(3):
        other = neighbours[:, k]
        u = p[:, (k + 1) % 3] - p[:, k]
        u /= np.linalg.norm(u, axis=1)[:, None]
        n = normals[other]
        angle = np.arctan2(
            np.einsum("ti,ti->t", np.cross(normals, n), u), np.einsum("ti,ti->t", normals, n)
        )
        kind = np.where(angle > FLAT, EDGE_CONVEX, EDGE_INNER)
        kinds[:, k] = np.where(other >= 0, kind, EDGE_BORDER)
    return kinds


def find_regions(normals: Floats, neighbours: Ints) -> Ints:
    """(t,) number of the flat region of each triangle."""
    t, k = np.nonzero(neighbours >= 0)
    other = neighbours[t, k]
    apart = np.linalg.norm(normals[t] - normals[other], axis=1)
    t, other = t[apart <= FLAT], other[apart <= FLAT]
    return components(len(normals), t, other)


def find_rings(faces: Ints, n_vertices: int) -> tuple[Ints, Ints]:
    """First neighbour of each vertex (v + 1,), and the neighbours, ascending."""
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    key = np.sort(np.r_[start * n_vertices + end, end * n_vertices + start])
    key = key[np.r_[True, key[1:] != key[:-1]]]
    counts = np.bincount(key // n_vertices, minlength=n_vertices)
    return np.r_[0, np.cumsum(counts)].astype(np.int64), (key % n_vertices).astype(np.int64)


@memoised_for(MOST_MESHES, MESH_BYTES)
def build_mesh(surface: Surface, is_field: bool) -> Mesh:
    """The mesh of a surface; is_field: a heightfield, solid below.

    The solid below a heightfield ends at its larger horizontal extent below its lowest point.
    """
    used = np.zeros(len(surface.vertices), bool)
    used[surface.faces] = True
    low, high = surface.vertices[used].min(axis=0), surface.vertices[used].max(axis=0)
    if is_field:
        low = low - [0.0, 0.0, float((high - low)[:2].max())]
    middle = 0.5 * (low + high)
    vertices, faces = surface.vertices - middle, surface.faces
    normals = face_normals(vertices, faces)
    neighbours = find_neighbours(faces, len(vertices))
    inside = INSIDE_NONE
    if is_field:
        inside = INSIDE_BELOW
    elif closure_of(surface).is_closed:
        inside = INSIDE_CLOSED
    ring_start, ring = find_rings(faces, len(vertices))
    regions = find_regions(normals, neighbours)
    node, leaf = build_tree(vertices[faces])
    return Mesh(
        middle=middle,
        half=0.5 * (high - low),
        inside=inside,
        vertices=vertices,
        vertex_normals=vertex_normals(vertices, faces, normals),
        ring_start=ring_start,
        ring=ring,
        faces=faces,
        normals=normals,
        neighbours=neighbours,
        edge_kinds=find_edge_kinds(vertices, faces, normals, neighbours),
        regions=regions,
        curvatures=find_curvatures(vertices, faces, normals, neighbours, regions),
        node=node,
        leaf=leaf,
    )


def mesh_arrays(meshes: list[Mesh]) -> Meshes:
    """All meshes, concatenated."""
    vertex = offsets([len(m.vertices) for m in meshes])
    triangle = offsets([len(m.faces) for m in meshes])
    ring = offsets([len(m.ring) for m in meshes])

    def joined(parts: list[NDArray], width: int | None, kind: type) -> NDArray:
        empty: NDArray = np.zeros((0, width) if width else 0, kind)
        return np.ascontiguousarray(np.concatenate([empty, *parts]).astype(kind))

    def shifted(numbers: list[Ints], by: Ints) -> list[NDArray]:
        return [np.where(n >= 0, n + start, -1) for n, start in zip(numbers, by, strict=True)]

    ring_starts = [m.ring_start[:-1] + start for m, start in zip(meshes, ring, strict=False)]
    total = sum(len(m.ring) for m in meshes)
    return Meshes(
        inside=np.array([m.inside for m in meshes], np.int64),
        node_start=offsets([len(m.node) for m in meshes]),
        first_leaf=np.array([len(m.node) // 2 for m in meshes], np.int64),
        leaf_start=offsets([len(m.leaf) for m in meshes]),
        node=joined([m.node for m in meshes], 6, float),
        leaf=joined(shifted([m.leaf for m in meshes], triangle), None, np.int64),
        vertex=joined([m.vertices for m in meshes], 3, float),
        vertex_normal=joined([m.vertex_normals for m in meshes], 3, float),
        ring_start=joined([*ring_starts, np.array([total])], None, np.int64),
        ring=joined(shifted([m.ring for m in meshes], vertex), None, np.int64),
        corner=joined(shifted([m.faces for m in meshes], vertex), 3, np.int64),
        normal=joined([m.normals for m in meshes], 3, float),
        neighbour=joined(shifted([m.neighbours for m in meshes], triangle), 3, np.int64),
        edge_kind=joined([m.edge_kinds for m in meshes], 3, np.int64),
        region=joined([m.regions for m in meshes], None, np.int64),
        curvature=joined([m.curvatures[0] for m in meshes], 6, float),
        curvature_middle=joined([m.curvatures[1] for m in meshes], 3, float),
        curvature_rise=joined([m.curvatures[2] for m in meshes], None, float),
    )


def offsets(counts: list[int]) -> Ints:
    """The start of each of several concatenated lists."""
    return np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
