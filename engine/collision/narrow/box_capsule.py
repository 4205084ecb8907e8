"""A box and a capsule: the point of the core segment nearest to the box. The box is side 0."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.narrow.closest_feature import Hit, hit_of_points
from cardan.engine.collision.narrow.convex import convex_convex
from cardan.engine.collision.narrow.gjk import TOUCHING
from cardan.engine.collision.narrow.solid import (
    axis_of,
    position_of,
    radius_of,
    scale_of,
    size_of,
    to_shape,
    to_world,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, dot, sub
from cardan.engine.world.collision import Pair, Polytope


@kernel
def into_box(h: Vec3, x: Vec3) -> Vec3:
    """The point of the box that is nearest to x."""
    return (
        min(max(x[0], -h[0]), h[0]),
        min(max(x[1], -h[1]), h[1]),
        min(max(x[2], -h[2]), h[2]),
    )


@kernel
def slope_at(h: Vec3, c: Vec3, u: Vec3, s: float) -> float:
    """u . (x - nearest point of the box), x = c + s u: half the derivative of |.|^2 by s [m]."""
    x = add_scaled(c, s, u)
    return dot(u, sub(x, into_box(h, x)))


@kernel
def nearest_on_core(h: Vec3, c: Vec3, u: Vec3, half: float) -> float:
    """The s in [-half, half] for which c + s u is nearest to the box; of equals the middle [m].

    The squared distance is convex in s, and its slope is linear between the crossings of the line
    with the planes of faces: the crossings bracket the minimum until one such interval is left.
    """
    low, high = -half, half
    slope_low, slope_high = slope_at(h, c, u, low), slope_at(h, c, u, high)
    if slope_low > 0.0:
        return low
    if slope_high < 0.0:
        return high
    # bracket of the zero of the slope
    flat_low = low if slope_low == 0.0 else half
    flat_high = high if slope_high == 0.0 else -half
    for k in range(3):
        for sign in (-1.0, 1.0):
            if u[k] == 0.0:
                continue
            s = (sign * h[k] - c[k]) / u[k]
            if low < s < high:
                slope = slope_at(h, c, u, s)
                if slope < 0.0:
                    low, slope_low = s, slope
                elif slope > 0.0:
                    high, slope_high = s, slope
                else:
                    flat_low, flat_high = min(flat_low, s), max(flat_high, s)
    if flat_low <= flat_high:
        return 0.5 * (flat_low + flat_high)
    return low + (high - low) * (slope_low / (slope_low - slope_high))


@kernel
def box_capsule(pair: Pair, limit: float, simplex: NDArray, polytope: Polytope) -> Hit:
    """Nearest points of box and core; if these intersect, the depth by the expanding polytope.

    Source  Eberly 2003, 3D Game Engine Design, distance of a line segment and a box
    Check   tests/engine/collision/narrow/test_gap.py
    """
    h = size_of(pair, 0)
    axis = axis_of(pair, 1, 2)
    c = to_shape(pair, 0, sub(position_of(pair, 1), position_of(pair, 0)))
    s = nearest_on_core(h, c, to_shape(pair, 0, axis), size_of(pair, 1)[1])
    b = add_scaled(position_of(pair, 1), s, axis)
    x = to_shape(pair, 0, sub(b, position_of(pair, 0)))
    y = into_box(h, x)
    d = sub(x, y)
    if dot(d, d) <= (TOUCHING * scale_of(pair)) ** 2:
        return convex_convex(pair, limit, simplex, polytope)
    a = add(position_of(pair, 0), to_world(pair, 0, y))
    return hit_of_points(a, b, 0.0, radius_of(pair, 1), (0.0, 0.0, 1.0))
