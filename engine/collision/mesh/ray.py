"""Ray cast against a mesh: the first face hit from its outer side."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.mesh.aabb_tree import leaf_entries, next_node, open_node, start_walk
from cardan.engine.collision.mesh.inside import triangle_out
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, negate, sub
from cardan.engine.world.model import INSIDE_NONE, TREE_LEAF, Meshes

# A ray within this share of an edge beside a triangle hits it: no gaps between neighbours.
BESIDE = 1e-12


@kernel
def enters_node(node: NDArray, i: int, o: Vec3, d: Vec3, most: float) -> bool:
    """True if o + t d, 0 <= t <= most, intersects the bounds of node i."""
    first = 0.0
    last = most
    for k in range(3):
        low = node[i, k] - o[k]
        high = node[i, 3 + k] - o[k]
        if d[k] == 0.0:
            if low > 0.0 or high < 0.0:
                return False
        else:
            t0, t1 = low / d[k], high / d[k]
            first = max(first, min(t0, t1) * (1.0 - 1e-12))
            last = min(last, max(t0, t1) * (1.0 + 1e-12))
    return bool(first <= last and node[i, 0] <= node[i, 3])


@kernel
def meets_triangle(meshes: Meshes, t: int, o: Vec3, d: Vec3) -> float:
    """Distance [m] at which a ray from the front hits triangle t, or inf.

    Source  Moeller and Trumbore 1997, without division until the end
    """
    a = load3(meshes.vertex, meshes.corner[t, 0])
    u = sub(load3(meshes.vertex, meshes.corner[t, 1]), a)
    v = sub(load3(meshes.vertex, meshes.corner[t, 2]), a)
    across = negate(cross(u, v))
    rate = dot(across, d)
    if rate <= 0.0:
        return math.inf
    arm = sub(o, a)
    turned = cross(d, arm)
    y = -dot(v, turned)
    z = dot(u, turned)
    slack = BESIDE * rate
    if y < -slack or z < -slack or y + z > rate + slack:
        return math.inf
    distance = -dot(across, arm) / rate
    return distance if distance >= 0.0 else math.inf


@kernel
def ray_mesh(
    meshes: Meshes, m: int, o: Vec3, d: Vec3, most: float, stack: NDArray
) -> tuple[float, Vec3]:
    """(distance [m], normal) of the first face of mesh m that the ray hits; inf: none.

    All in the axes of the mesh. A ray that starts inside a solid has distance 0.
    Check   tests/engine/collision/mesh/test_ray.py
    """
    if meshes.inside[m] != INSIDE_NONE and triangle_out(meshes, m, o, stack) >= 0:
        return (0.0, negate(d))
    best = most
    face = -1
    start_walk(stack)
    while stack[0] > 0:
        i = next_node(stack)
        if not enters_node(meshes.node, meshes.node_start[m] + i, o, d, best):
            continue
        if i < meshes.first_leaf[m]:
            open_node(stack, i, 2 * i + 1)
            continue
        first = leaf_entries(meshes, m, i)
        for k in range(first, first + TREE_LEAF):
            t = meshes.leaf[k]
            if t >= 0:
                distance = meets_triangle(meshes, t, o, d)
                if distance < best or (distance == best and face < 0 and distance < math.inf):
                    best = distance
                    face = t
    if face < 0:
        return (math.inf, d)
    return (best, load3(meshes.normal, face))
