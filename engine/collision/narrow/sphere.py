"""A sphere against solids whose nearest point has a closed form. The sphere is side 0."""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.closest_feature import Hit, hit_of_points
from cardan.engine.collision.narrow.solid import position_of, radius_of, size_of, to_shape, to_world
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, negate, scale, sub
from cardan.engine.world.collision import Pair


@kernel
def hit_inside(pair: Pair, c: Vec3, depth: float, out: Vec3) -> Hit:
    """The centre c is `depth` below side 1's surface, whose outward normal there is `out`.

    gap = -depth - r;  surface point of the solid c + depth out, of the sphere c - r out
    """
    r = radius_of(pair, 0)
    return (-depth - r, negate(out), add_scaled(c, 0.5 * (depth - r), out))


@kernel
def sphere_box(pair: Pair) -> Hit:
    """Nearest point by clamping; from inside, the nearest face (the first of equals)."""
    c = position_of(pair, 0)
    h = size_of(pair, 1)
    x = to_shape(pair, 1, sub(c, position_of(pair, 1)))
    y = (
        min(max(x[0], -h[0]), h[0]),
        min(max(x[1], -h[1]), h[1]),
        min(max(x[2], -h[2]), h[2]),
    )
    if x != y:
        b = add(position_of(pair, 1), to_world(pair, 1, y))
        return hit_of_points(c, b, radius_of(pair, 0), 0.0, (0.0, 0.0, 1.0))
    depth = h[2] - abs(x[2])
    out = (0.0, 0.0, 1.0 if x[2] >= 0.0 else -1.0)
    if h[1] - abs(x[1]) < depth:
        depth = h[1] - abs(x[1])
        out = (0.0, 1.0 if x[1] >= 0.0 else -1.0, 0.0)
    if h[0] - abs(x[0]) < depth:
        depth = h[0] - abs(x[0])
        out = (1.0 if x[0] >= 0.0 else -1.0, 0.0, 0.0)
    return hit_inside(pair, c, depth, to_world(pair, 1, out))


@kernel
def sphere_cylinder(pair: Pair) -> Hit:
    """Nearest point in the half plane through the axis: a rectangle r by h."""
    c = position_of(pair, 0)
    size = size_of(pair, 1)
    x = to_shape(pair, 1, sub(c, position_of(pair, 1)))
    rho = math.sqrt(x[0] * x[0] + x[1] * x[1])
    # on the axis every radial direction is as good: the shape's own x
    e = scale(1.0 / rho, (x[0], x[1], 0.0)) if rho > 0.0 else (1.0, 0.0, 0.0)
    if rho > size[0] or abs(x[2]) > size[1]:
        z = min(max(x[2], -size[1]), size[1])
        k = min(rho, size[0])
        b = add(position_of(pair, 1), to_world(pair, 1, (k * e[0], k * e[1], z)))
        return hit_of_points(c, b, radius_of(pair, 0), 0.0, (0.0, 0.0, 1.0))
    depth = size[1] - abs(x[2])
    out = (0.0, 0.0, 1.0 if x[2] >= 0.0 else -1.0)
    if size[0] - rho < depth:
        depth = size[0] - rho
        out = e
    return hit_inside(pair, c, depth, to_world(pair, 1, out))
