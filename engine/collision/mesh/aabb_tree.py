"""Traversals of a mesh's tree of bounds: triangles near a box, nearest triangle, triangle below."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.narrow.simplex import triangle_weights
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, dot, load3, scale, sub
from cardan.engine.world.model import TREE_LEAF, Meshes

# (least corner, largest corner) [m]
Box = tuple[Vec3, Vec3]


@kernel
def start_walk(stack: NDArray) -> None:
    """Start a traversal at the root; stack[0] is the number of pending nodes in stack[1:]."""
    stack[0] = 1
    stack[1] = 0


@kernel
def next_node(stack: NDArray) -> int:
    """Take the next pending node off the stack, which has one."""
    i = stack[stack[0]]
    stack[0] -= 1
    return int(i)


@kernel
def open_node(stack: NDArray, i: int, first: int) -> None:
    """Put both children of node i on the stack, `first` as the next one."""
    stack[stack[0] + 1] = 4 * i + 3 - first
    stack[stack[0] + 2] = first
    stack[0] += 2


@kernel
def leaf_entries(meshes: Meshes, m: int, i: int) -> int:
    """First of the TREE_LEAF entries in meshes.leaf of node i of mesh m, a leaf."""
    return int(meshes.leaf_start[m] + (i - meshes.first_leaf[m]) * TREE_LEAF)


@kernel
def meets(node: NDArray, i: int, box: Box) -> bool:
    """True if node i's bounds intersect the box; an empty node (inf, -inf) does not."""
    low, high = box
    found = True
    for k in range(3):
        found = found and node[i, k] <= high[k] and low[k] <= node[i, 3 + k]
    return found


@kernel
def next_leaf(meshes: Meshes, m: int, box: Box, stack: NDArray) -> int:
    """First entry in meshes.leaf of the next leaf of mesh m that meets the box, or -1.

    At most one node per level is pending: the stack needs the depth of the tree.
    Check   tests/engine/collision/mesh/test_aabb_tree.py: exactly the leaves that meet the box
    """
    while stack[0] > 0:
        i = next_node(stack)
        if meets(meshes.node, meshes.node_start[m] + i, box):
            if i >= meshes.first_leaf[m]:
                return leaf_entries(meshes, m, i)
            open_node(stack, i, 2 * i + 1)
    return -1


@kernel
def triangle_meets(meshes: Meshes, t: int, box: Box) -> bool:
    """True if the bounds of triangle t intersect the box."""
    low, high = box
    a = load3(meshes.vertex, meshes.corner[t, 0])
    b = load3(meshes.vertex, meshes.corner[t, 1])
    c = load3(meshes.vertex, meshes.corner[t, 2])
    for k in range(3):
        if min(a[k], b[k], c[k]) > high[k] or low[k] > max(a[k], b[k], c[k]):
            return False
    return True


@kernel
def distance2_to_node(node: NDArray, i: int, p: Vec3) -> float:
    """Squared distance of a point from node i's bounds [m^2]; inf from an empty one."""
    if node[i, 0] > node[i, 3]:
        return math.inf
    total = 0.0
    for k in range(3):
        d = max(node[i, k] - p[k], p[k] - node[i, 3 + k], 0.0)
        total += d * d
    return total


@kernel
def nearest_on_triangle(meshes: Meshes, t: int, p: Vec3) -> tuple[Vec3, Vec3]:
    """(point of triangle t nearest to p, its weights of the corners)."""
    a = load3(meshes.vertex, meshes.corner[t, 0])
    b = load3(meshes.vertex, meshes.corner[t, 1])
    c = load3(meshes.vertex, meshes.corner[t, 2])
    w = triangle_weights(sub(a, p), sub(b, p), sub(c, p))
    return (add(add(scale(w[0], a), scale(w[1], b)), scale(w[2], c)), w)


@kernel
def nearest_triangle(meshes: Meshes, m: int, p: Vec3, stack: NDArray) -> int:
    """The triangle of mesh m nearest to p (in S); of equals the first one visited."""
    start = meshes.node_start[m]
    start_walk(stack)
    best = -1
    least = math.inf
    while stack[0] > 0:
        i = next_node(stack)
        if not distance2_to_node(meshes.node, start + i, p) < least:
            continue
        if i < meshes.first_leaf[m]:
            left = distance2_to_node(meshes.node, start + 2 * i + 1, p)
            right = distance2_to_node(meshes.node, start + 2 * i + 2, p)
            open_node(stack, i, 2 * i + 1 if left <= right else 2 * i + 2)
            continue
        first = leaf_entries(meshes, m, i)
        for k in range(first, first + TREE_LEAF):
            t = meshes.leaf[k]
            if t < 0:
                continue
            d = sub(nearest_on_triangle(meshes, t, p)[0], p)
            if dot(d, d) < least:
                least = dot(d, d)
                best = t
    return best


@kernel
def pseudo_normal(meshes: Meshes, t: int, weights: Vec3) -> Vec3:
    """Pseudonormal at a point of triangle t, which distinguishes outside from inside; not unit.

    On the face its normal, on an edge the sum of both normals, at a vertex the angle-weighted sum.
    Source  Baerentzen and Aanaes 2005, Signed distance computation using the angle weighted
            pseudonormal
    """
    zeros = 0
    for k in range(3):
        if weights[k] <= 0.0:
            zeros += 1
    n = load3(meshes.normal, t)
    if zeros == 0:
        return n
    for k in range(3):
        # weights lie on the edge k -> k + 1 when the third corner has none
        if zeros == 1 and weights[(k + 2) % 3] <= 0.0:
            other = meshes.neighbour[t, k]
            return add(n, load3(meshes.normal, other)) if other >= 0 else n
        if zeros == 2 and weights[k] > 0.0:
            return load3(meshes.vertex_normal, meshes.corner[t, k])
    return n


@kernel
def triangle_above(meshes: Meshes, m: int, p: Vec3, stack: NDArray) -> int:
    """The triangle of a heightfield above or below p along z of S, or -1 beside it.

    Projected along z a triangle contains (x, y) if no edge has the point on its outer side.
    """
    start_walk(stack)
    column = ((p[0], p[1], -math.inf), (p[0], p[1], math.inf))
    leaf = next_leaf(meshes, m, column, stack)
    while leaf >= 0:
        for k in range(leaf, leaf + TREE_LEAF):
            t = meshes.leaf[k]
            if t >= 0 and triangle_meets(meshes, t, column):
                inside = True
                for c in range(3):
                    a = load3(meshes.vertex, meshes.corner[t, c])
                    b = load3(meshes.vertex, meshes.corner[t, (c + 1) % 3])
                    turn = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
                    inside = inside and turn >= 0.0
                if inside:
                    return int(t)
        leaf = next_leaf(meshes, m, column, stack)
    return -1
