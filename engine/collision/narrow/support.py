"""Farthest point of a shape in a direction."""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.solid import kind_of, position_of, size_of, to_shape, to_world
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add
from cardan.engine.world.collision import POINT_COUNT, POINT_START, Pair
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    RING,
    TUBE,
)


@kernel
def hull_support(pair: Pair, s: int, d: Vec3) -> Vec3:
    """Vertex of a hull with the largest d . x, relative to its origin, W; the first of equals."""
    start = int(pair.solids[s, POINT_START])
    count = int(pair.solids[s, POINT_COUNT])
    best = start
    reach = -math.inf
    for i in range(start, start + count):
        along = d[0] * pair.points[i, 0] + d[1] * pair.points[i, 1] + d[2] * pair.points[i, 2]
        if along > reach:
            reach = along
            best = i
    return (pair.points[best, 0], pair.points[best, 1], pair.points[best, 2])


@kernel
def round_support(kind: int, size: Vec3, d: Vec3) -> Vec3:
    """Farthest point of a cylinder, cone (apex up, base at z = -h) or ellipsoid, own axes."""
    if kind == ELLIPSOID:
        e = (size[0] * d[0], size[1] * d[1], size[2] * d[2])
        length = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        k = 1.0 / length if length > 0.0 else 0.0
        return (k * size[0] * e[0], k * size[1] * e[1], k * size[2] * e[2])
    r, h = size[0], size[1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    # along the axis all rim points are equally far: the centre of the cap represents them
    k = r / rho if rho > 1e-14 * abs(d[2]) else 0.0
    if kind == CONE:
        if 2.0 * h * d[2] >= r * rho:
            return (0.0, 0.0, h)
        return (k * d[0], k * d[1], -h)
    return (k * d[0], k * d[1], h if d[2] >= 0.0 else -h)


@kernel
def bowl_support(size: Vec3, d: Vec3) -> Vec3:
    """Farthest point of the hull of a bowl: on its outer ball or on its rim's outer circle."""
    r, angle = size[0], size[1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    tilt = math.atan2(rho, -d[2])
    if tilt <= angle:
        k = r / math.sqrt(rho * rho + d[2] * d[2])
        return (k * d[0], k * d[1], k * d[2])
    k = r * math.sin(angle) / rho if rho > 1e-14 * abs(d[2]) else 0.0
    return (k * d[0], k * d[1], -r * math.cos(angle))


@kernel
def support(pair: Pair, s: int, d: Vec3) -> Vec3:
    """Point x of side s's core with the largest d . x [m]; d need not be a unit vector."""
    kind = kind_of(pair, s)
    p = position_of(pair, s)
    if kind == CONVEX:
        return add(p, hull_support(pair, s, d))
    size = size_of(pair, s)
    e = to_shape(pair, s, d)
    if kind == BOX:
        x = (
            size[0] if e[0] >= 0.0 else -size[0],
            size[1] if e[1] >= 0.0 else -size[1],
            size[2] if e[2] >= 0.0 else -size[2],
        )
    elif kind == CAPSULE:
        x = (0.0, 0.0, size[1] if e[2] >= 0.0 else -size[1])
    elif kind in (CYLINDER, CONE, ELLIPSOID, TUBE):
        x = round_support(kind, size, e)
    elif kind == RING:
        x = round_support(CYLINDER, (size[0], 0.0, 0.0), e)
    elif kind == BOWL:
        x = bowl_support(size, e)
    else:
        x = (0.0, 0.0, 0.0)
    return add(p, to_world(pair, s, x))
