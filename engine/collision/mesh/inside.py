"""Contacts of a solid that intersects no triangle and may lie entirely inside a mesh."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.manifold.contact_points import feature_number
from cardan.engine.collision.mesh.aabb_tree import (
    nearest_on_triangle,
    nearest_triangle,
    pseudo_normal,
    triangle_above,
)
from cardan.engine.collision.mesh.swept_bounds import ImpactWindow, take
from cardan.engine.collision.mesh.triangle import MESH_ROW, triangle_of, world_normal
from cardan.engine.collision.narrow.solid import axis_of, position_of, radius_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, dot, load3, negate, sub
from cardan.engine.world.collision import NEAREST, CollisionScratch, Pair
from cardan.engine.world.model import INSIDE_BELOW, Meshes


@kernel
def middle_in_mesh(pair: Pair) -> Vec3:
    """Centre of the solid's bounds along the mesh's axes, from the mesh's origin [m], mesh axes."""
    x = (0.0, 0.0, 0.0)
    for k in range(3):
        e = axis_of(pair, MESH_ROW, k)
        most = dot(e, support(pair, 0, e))
        least = dot(e, support(pair, 0, negate(e)))
        value = 0.5 * (most + least) - dot(e, position_of(pair, MESH_ROW))
        x = (value if k == 0 else x[0], value if k == 1 else x[1], value if k == 2 else x[2])
    return x


@kernel
def triangle_out(meshes: Meshes, m: int, x: Vec3, stack: NDArray) -> int:
    """The triangle through which an inner point x leaves the mesh, or -1 if x is outside.

    For a closed surface the nearest triangle; for a heightfield the one above x.
    """
    root = meshes.node_start[m]
    is_field = meshes.inside[m] == INSIDE_BELOW
    for k in range(3):
        low = x[k] < meshes.node[root, k] and (k < 2 or not is_field)
        if low or x[k] > meshes.node[root, 3 + k]:
            return -1
    if is_field:
        t = triangle_above(meshes, m, x, stack)
        if t < 0:
            return -1
        out = load3(meshes.normal, t)
        q = load3(meshes.vertex, meshes.corner[t, 0])
    else:
        t = nearest_triangle(meshes, m, x, stack)
        if t < 0:
            return -1
        q, weights = nearest_on_triangle(meshes, t, x)
        out = pseudo_normal(meshes, t, weights)
    return t if dot(out, sub(x, q)) < 0.0 else -1


@kernel
def take_inside(
    scratch: CollisionScratch, meshes: Meshes, m: int, sides: tuple[int, int], reach: ImpactWindow
) -> None:
    """Take the contact of a solid whose middle is inside the mesh, along the normal of a face."""
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    t = triangle_out(meshes, m, middle_in_mesh(pair), scratch.reduction.stack)
    if t < 0:
        return
    n = world_normal(pair, meshes, t)
    corners = triangle_of(pair, meshes, t)
    x = support(pair, 0, negate(n))
    r = radius_of(pair, 0)
    gap = dot(n, sub(x, corners[0])) - r
    # half way between the surfaces: r and half the gap below the core's lowest point
    p = add_scaled(x, -(r + 0.5 * gap), n)
    feature = feature_number(0, 0, NEAREST, NEAREST) + (meshes.region[t] << 26)
    take(scratch, sides, (p, n, gap), (feature, t), reach)
