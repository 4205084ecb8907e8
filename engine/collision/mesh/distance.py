"""Distance of a convex solid from a mesh, by branch and bound over the mesh's tree."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.mesh.aabb_tree import leaf_entries, next_node, open_node, start_walk
from cardan.engine.collision.mesh.edges import nearest_to_triangle
from cardan.engine.collision.mesh.swept_bounds import write_rows
from cardan.engine.collision.mesh.triangle import (
    MESH_ROW,
    bottom_of,
    clear_triangle,
    triangle_of,
    write_triangle,
)
from cardan.engine.collision.narrow.closest_feature import MISS, Hit
from cardan.engine.collision.narrow.solid import axis_of, position_of, radius_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import dot
from cardan.engine.world.collision import CollisionScratch, Pair
from cardan.engine.world.model import TREE_LEAF, Meshes


@kernel
def distance_to_node(pair: Pair, node: NDArray, i: int) -> float:
    """Lower bound of the solid's distance from node i, along the mesh's axes [m]."""
    if node[i, 0] > node[i, 3]:
        return math.inf
    total = 0.0
    r = radius_of(pair, 0)
    for k in range(3):
        e = axis_of(pair, MESH_ROW, k)
        origin = dot(e, position_of(pair, MESH_ROW))
        low = bottom_of(pair, e, r) - origin
        high = dot(e, support(pair, 0, e)) + r - origin
        d = max(node[i, k] - high, low - node[i, 3 + k], 0.0)
        total += d * d
    return math.sqrt(total)


@kernel
def solid_mesh(scratch: CollisionScratch, meshes: Meshes, m: int, solid: int, mesh: int) -> Hit:
    """Gap, normal from the solid to the mesh, midpoint relative to the solid's origin, W.

    Without penetration the gap is the distance. In penetration it is negative, but the separating
    motion depends on all triangles: use the contacts.
    """
    write_rows(scratch, solid, mesh)
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    clear_triangle(pair)
    stack = scratch.reduction.stack
    best = MISS
    start_walk(stack)
    start = meshes.node_start[m]
    while stack[0] > 0:
        i = next_node(stack)
        if distance_to_node(pair, meshes.node, start + i) > best[0]:
            continue
        if i < meshes.first_leaf[m]:
            left = distance_to_node(pair, meshes.node, start + 2 * i + 1)
            right = distance_to_node(pair, meshes.node, start + 2 * i + 2)
            open_node(stack, i, 2 * i + 1 if left <= right else 2 * i + 2)
            continue
        first = leaf_entries(meshes, m, i)
        for k in range(first, first + TREE_LEAF):
            t = meshes.leaf[k]
            if t >= 0:
                corners = triangle_of(pair, meshes, t)
                write_triangle(pair, corners)
                hit = nearest_to_triangle(scratch, pair, corners, max(best[0], 0.0))
                if hit[0] < best[0]:
                    best = hit
    return best
