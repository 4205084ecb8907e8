"""Edges of solids and circles of hollow shapes: where along them the other shape is nearest.

A pair of a solid (side 0: box, cylinder, convex) and a hollow shape (side 1). Edges and rims of the
solid run through the signed distance of the hollow shape, circles of the hollow shape through that
of the solid.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.hollow.contacts import hollow_at, put_place
from cardan.engine.collision.narrow.solid import (
    axis_of,
    kind_of,
    position_of,
    size_of,
    to_shape,
    to_world,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, dot, load3, norm, scale, sub
from cardan.engine.world.collision import FACE_COUNT, FACE_START, POINT_START, Faces, Pair
from cardan.engine.world.model import BOX, CYLINDER

# centre, and the unit vector of a segment (third: zero), or two radii of a circle
Curve = tuple[Vec3, Vec3, Vec3]

# the distance that is followed along a curve
FROM_HOLLOW, FROM_SOLID = 0, 1
# intervals of a curve in which a nearest point is looked for, and halvings of one of them
PARTS, HALVINGS = 32, 52
# slopes (sines) of a distance along a curve: rounding; a curve that lies on the other surface
LEVEL, FLAT = 1e-9, 1e-3
# share of the size within which a point is on a solid
ON_SOLID = 1e-9
THIRD = 2.0 * math.pi / 3.0


@kernel
def solid_at(pair: Pair, faces: Faces, x: Vec3) -> tuple[float, Vec3]:
    """Signed distance of x from the box, cylinder or hull of side 0 and its gradient, W.

    It is the largest distance beyond any face, the side of a cylinder among them: exact inside and
    where a face is nearest, less where an edge is.
    """
    kind, size = kind_of(pair, 0), size_of(pair, 0)
    d = sub(x, position_of(pair, 0))
    if kind == BOX:
        e = to_shape(pair, 0, d)
        k = 0
        for i in range(1, 3):
            if abs(e[i]) - size[i] > abs(e[k]) - size[k]:
                k = i
        n = axis_of(pair, 0, k)
        return (abs(e[k]) - size[k], n if e[k] >= 0.0 else scale(-1.0, n))
    if kind == CYLINDER:
        e = to_shape(pair, 0, d)
        rho = math.hypot(e[0], e[1])
        if rho - size[0] >= abs(e[2]) - size[1]:
            out = (e[0] / rho, e[1] / rho, 0.0) if rho > 0.0 else (1.0, 0.0, 0.0)
            return (rho - size[0], to_world(pair, 0, out))
        return (abs(e[2]) - size[1], to_world(pair, 0, (0.0, 0.0, 1.0 if e[2] >= 0.0 else -1.0)))
    best, out = -math.inf, d
    start, first = int(pair.solids[0, FACE_START]), int(pair.solids[0, POINT_START])
    for f in range(start, start + int(pair.solids[0, FACE_COUNT])):
        n = to_world(pair, 0, load3(faces.normal, f))
        corner = load3(pair.points, first + faces.loop[faces.loop_start[f]])
        beyond = dot(n, sub(d, corner))
        if beyond > best:
            best, out = beyond, n
    return (best, out)


@kernel
def is_on_solid(pair: Pair, faces: Faces, x: Vec3, size: float) -> bool:
    """Whether x, which lies on the plane of a face or on the side, is a point of it."""
    return solid_at(pair, faces, x)[0] <= ON_SOLID * size


@kernel
def is_round(curve: Curve) -> bool:
    """A circle."""
    return curve[2] != ZERO3


@kernel
def point_on(curve: Curve, s: float) -> Vec3:
    """Point of a segment at s [m] from its middle, of a circle at the angle s [rad]."""
    c, u, v = curve
    if not is_round(curve):
        return add_scaled(c, s, u)
    return add(c, add_scaled(scale(math.cos(s), u), math.sin(s), v))


@kernel
def slope(pair: Pair, faces: Faces, curve: Curve, field: int, s: float) -> tuple[float, bool]:
    """Derivative of the distance by the length of the curve, and whether it is FLAT there.

    Where only an edge of the solid is near nothing is flat.
    """
    _, u, v = curve
    x = point_on(curve, s)
    if is_round(curve):
        u = scale(1.0 / norm(u), add_scaled(scale(-math.sin(s), u), math.cos(s), v))
    if field == FROM_HOLLOW:
        rise = dot(u, hollow_at(pair, x)[1])
        return (rise, abs(rise) <= FLAT)
    gap, n = solid_at(pair, faces, x)
    rise = dot(u, n)
    if abs(rise) > FLAT:
        return (rise, False)
    return (rise, is_on_solid(pair, faces, add_scaled(x, -gap, n), norm(size_of(pair, 0))))


@kernel
def lowest(pair: Pair, faces: Faces, curve: Curve, field: int, ends: tuple[float, float]) -> float:
    """Where the derivative rises through zero between two ends, by bisection."""
    low, high = ends
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        if slope(pair, faces, curve, field, s)[0] < 0.0:
            low = s
        else:
            high = s
    return 0.5 * (low + high)


@kernel
def border(pair: Pair, faces: Faces, curve: Curve, field: int, ends: tuple[float, float]) -> float:
    """Where a flat part begins or ends between a place on it and one beside it; on it."""
    on, off = ends
    for _ in range(HALVINGS):
        s = 0.5 * (on + off)
        if slope(pair, faces, curve, field, s)[1]:
            on = s
        else:
            off = s
    return on


@kernel
def highest(pair: Pair, faces: Faces, curve: Curve, field: int, low: float) -> float:
    """The farthest sample of a whole circle: the search does not start at a nearest point."""
    best, most = low, -math.inf
    for k in range(PARTS):
        s = low + k * 2.0 * math.pi / PARTS
        x = point_on(curve, s)
        gap = hollow_at(pair, x)[0] if field == FROM_HOLLOW else solid_at(pair, faces, x)[0]
        if gap > most:
            best, most = s, gap
    return best


@kernel
def find_minima(
    pair: Pair,
    faces: Faces,
    curve: Curve,
    field: int,
    ends: tuple[float, float],
    places: NDArray,
) -> tuple[int, int]:
    """Places of least distance along a curve, and both ends of its flat parts.

    Writes  places (4, 9): s
    Returns their number, and that of flat samples
    """
    low, high = ends
    step = (high - low) / PARTS
    rise, was_flat = slope(pair, faces, curve, field, low)
    count, flat = 0, 0
    # the last sample from which the distance falls
    falling, fell = rise < -LEVEL, low
    for k in range(1, PARTS + 1):
        s = low + k * step
        rise, is_flat = slope(pair, faces, curve, field, s)
        if is_flat != was_flat:
            part = (s, s - step) if is_flat else (s - step, s)
            count = put_place(places, count, border(pair, faces, curve, field, part))
        if rise > LEVEL and falling:
            place = lowest(pair, faces, curve, field, (fell, s))
            count = put_place(places, count, place)
        if abs(rise) > LEVEL:
            falling, fell = rise < 0.0, s
        was_flat = is_flat
        flat += 1 if is_flat else 0
    return (count, flat)


@kernel
def span_towards(curve: Curve, other: Vec3, reach: float) -> tuple[float, float]:
    """Part of a circle that may be nearest to something within `reach` of a point.

    Each point of it is nearest to the one of the circle in its own direction from the axis.
    """
    c, u, v = curve
    r = norm(u)
    d = sub(other, c)
    x, y = dot(d, u) / r, dot(d, v) / r
    rho = math.hypot(x, y)
    if rho <= 1.001 * reach:
        return (-math.pi, math.pi)
    middle, half = math.atan2(y, x), 1.001 * math.asin(reach / rho)
    return (middle - half, middle + half)


@kernel
def circle_places(
    pair: Pair, faces: Faces, curve: Curve, field: int, near: tuple[Vec3, float], places: NDArray
) -> int:
    """Places on a circle: nearest ones, and of a whole circle those a third of it farther.

    A circle that lies on the other surface all around has them at fixed angles, besides.
    near = (centre, radius) of a ball around the other shape
    """
    low, high = span_towards(curve, near[0], near[1])
    if high - low < 2.0 * math.pi:
        return find_minima(pair, faces, curve, field, (low, high), places)[0]
    low = highest(pair, faces, curve, field, low)
    count, flat = find_minima(pair, faces, curve, field, (low, low + 2.0 * math.pi), places)
    if flat == PARTS:
        for k in range(3):
            count = put_place(places, count, k * THIRD)
        return count
    best, least = low, math.inf
    for k in range(count):
        s = places[k // 9, k % 9]
        x = point_on(curve, s)
        gap = hollow_at(pair, x)[0] if field == FROM_HOLLOW else solid_at(pair, faces, x)[0]
        if gap < least:
            best, least = s, gap
    for k in range(1, 3):
        count = put_place(places, count, best + k * THIRD)
    return count
