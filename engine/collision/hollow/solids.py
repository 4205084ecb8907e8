"""A box, cylinder or convex solid (side 0) against a hollow shape (side 1): all places of contact.

Shapes touch where an edge or rim of the solid is nearest to the hollow shape; where a circle of the
hollow shape (an edge of a tube or bowl, the core of a ring) is nearest to a face or side of the
solid; and where two smooth outsides are: a bowl's with a face, any with the side of a cylinder.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.hollow.contacts import hollow_at, put_place
from cardan.engine.collision.hollow.curves import (
    FROM_HOLLOW,
    FROM_SOLID,
    Curve,
    circle_places,
    find_minima,
    is_on_solid,
    point_on,
    solid_at,
)
from cardan.engine.collision.narrow.closest_feature import MISS, Hit
from cardan.engine.collision.narrow.solid import (
    axis_of,
    kind_of,
    position_of,
    scale_of,
    size_of,
    to_world,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    scale,
    store3,
    sub,
)
from cardan.engine.world.collision import (
    BOUND,
    FACE_COUNT,
    FACE_START,
    NEAREST_FEATURE,
    POINT_START,
    CollisionScratch,
    Faces,
    Pair,
    Reduction,
)
from cardan.engine.world.model import BOWL, BOX, CYLINDER, RING, TUBE

# a step away from a surface, as a share of its size; how much of it is distance from a solid, at
# least, and from a hollow shape, at least and at most
STEP = 1e-4
LEAVES, RISES, TOUCHES = 0.1, 0.5, 1.01
# sine of the angle between a contact of a circle and the plane across it
SLANT = 0.14
# nearer than this share of the size, with normals of this cosine: one place
SAME_PLACE, SAME_NORMAL = 0.02, 0.99
# contacts of one pair
MOST_CONTACTS = 8
# places of a curve that have numbers of their own
NUMBERS = 32


@kernel
def thickness(pair: Pair) -> float:
    """Thickness of the wall of the hollow shape [m]."""
    size = size_of(pair, 1)
    return 2.0 * size[1] if kind_of(pair, 1) == RING else size[0] - size[2]


@kernel
def hit_of_solid(pair: Pair, faces: Faces, x: Vec3) -> Hit:
    """The hit of a point x of an edge of the solid with the nearest point of the hollow surface.

    Missed where the direction of the contact leads into the solid: its face is flush with the wall.
    """
    gap, n, _ = hollow_at(pair, x)
    m = negate(n)
    t = STEP * pair.solids[0, BOUND]
    if solid_at(pair, faces, add_scaled(x, t, m))[0] < LEAVES * t:
        return MISS
    return (gap, m, add_scaled(x, -0.5 * gap, n))


@kernel
def faces_along(pair: Pair, y: Vec3, m: Vec3, gap: float) -> bool:
    """Whether y is on the hollow surface and m leads into it, not deeper than half its wall.

    Around the axis it must do so squarely; along it another place may be nearer.
    """
    around = cross(axis_of(pair, 1, 2), sub(y, position_of(pair, 1)))
    if gap < -0.5 * thickness(pair) or abs(dot(m, around)) > SLANT * math.sqrt(dot(around, around)):
        return False
    t = STEP * size_of(pair, 1)[0]
    gained = hollow_at(pair, add_scaled(y, -t, m))[0]
    return bool(RISES * t <= gained <= TOUCHES * t)


@kernel
def hit_of_hollow(pair: Pair, faces: Faces, x: Vec3, radius: float) -> Hit:
    """The hit of a ball about x, a part of the hollow shape, with a face or side of the solid."""
    gap, m = solid_at(pair, faces, x)
    foot = add_scaled(x, -gap, m)
    gap -= radius
    if not is_on_solid(pair, faces, foot, pair.solids[0, BOUND]):
        return MISS
    if not faces_along(pair, add_scaled(x, -radius, m), m, gap):
        return MISS
    return (gap, m, add_scaled(foot, 0.5 * gap, m))


@kernel
def hit_of_side(pair: Pair, x: Vec3) -> Hit:
    """The hit of the side of a cylinder, x the point of its axis that is nearest to an outside.

    On a hollow side what is nearest to the axis is not nearest to the cylinder.
    """
    gap, n, _ = hollow_at(pair, x)
    d = sub(x, position_of(pair, 1))
    axis = axis_of(pair, 1, 2)
    outwards = dot(n, d)
    if kind_of(pair, 1) != BOWL:
        outwards -= dot(n, axis) * dot(d, axis)
    if gap <= 0.0 or outwards <= 0.0:
        return MISS
    gap -= size_of(pair, 0)[0]
    return (gap, negate(n), add_scaled(x, -(size_of(pair, 0)[0] + 0.5 * gap), n))


@kernel
def put_hit(kept: Reduction, count: int, hit: Hit, feature: int, limit: float, size: float) -> int:
    """Append a hit within the limit, or let the nearer one of the same place stand.

    Writes  rows of kept.gap, normal, point, feature
    Returns how many there are
    """
    gap, n, p = hit
    if not gap <= limit:
        return count
    row = count
    for i in range(count):
        d = sub(load3(kept.point, i), p)
        near = dot(d, d) <= (SAME_PLACE * size) ** 2
        if near and dot(load3(kept.normal, i), n) > SAME_NORMAL:
            if kept.gap[i] <= gap:
                return count
            row = i
            break
    if row == len(kept.gap):
        return count
    kept.gap[row] = gap
    kept.feature[row] = feature
    store3(kept.normal, row, n)
    store3(kept.point, row, p)
    return max(count, row + 1)


@kernel
def number_of(curve: int, place: int) -> int:
    """Feature of a place: it moves along its curve, so that its label is that of nearest points."""
    return NEAREST_FEATURE + ((1 + curve * NUMBERS + place) << 26)


@kernel
def along_line(pair: Pair, faces: Faces, line: Curve, half: float, places: NDArray) -> int:
    """Places on a segment nearest to the hollow shape, apart from its ends; how many."""
    middle, reach = dot(sub(position_of(pair, 1), line[0]), line[1]), 1.1 * pair.solids[1, BOUND]
    low, high = max(-half, middle - reach), min(half, middle + reach)
    if low >= high:
        return 0
    return find_minima(pair, faces, line, FROM_HOLLOW, (low, high), places)[0]


@kernel
def take_edge(
    scratch: CollisionScratch,
    faces: Faces,
    edge: tuple[Vec3, Vec3],
    number: int,
    count: int,
    limit: float,
) -> int:
    """Hits of a straight edge of the solid: its ends, where it is nearest, where a tube ends."""
    pair, places = Pair(scratch.pair, scratch.points, scratch.cosine), scratch.simplex
    a, b = edge
    c, d = scale(0.5, add(a, b)), sub(b, a)
    half = 0.5 * math.sqrt(dot(d, d))
    if hollow_at(pair, c)[0] - half > limit:
        return count
    curve = (c, scale(0.5 / half, d), ZERO3)
    found = along_line(pair, faces, curve, half, places)
    found = put_place(places, put_place(places, found, -half), half)
    if kind_of(pair, 1) == TUBE:
        axis, u = axis_of(pair, 1, 2), curve[1]
        lean, height = dot(u, axis), dot(sub(c, position_of(pair, 1)), axis)
        for k in range(2):
            end = size_of(pair, 1)[1] if k == 1 else -size_of(pair, 1)[1]
            if abs(end - height) < 0.999999 * half * abs(lean):
                found = put_place(places, found, (end - height) / lean)
    size = scale_of(pair)
    for k in range(found):
        hit = hit_of_solid(pair, faces, point_on(curve, places[k // 9, k % 9]))
        count = put_hit(scratch.reduction, count, hit, number_of(number, k), limit, size)
    return count


@kernel
def corner_of_box(pair: Pair, k: int, signs: int) -> Vec3:
    """One of four corners of the box at the low end of its axis k."""
    h = size_of(pair, 0)
    y = h[(k + 1) % 3] if signs & 1 else -h[(k + 1) % 3]
    z = h[(k + 2) % 3] if signs & 2 else -h[(k + 2) % 3]
    x = (-h[0], y, z) if k == 0 else ((z, -h[1], y) if k == 1 else (y, z, -h[2]))
    return add(position_of(pair, 0), to_world(pair, 0, x))


@kernel
def take_edges(scratch: CollisionScratch, faces: Faces, limit: float) -> int:
    """Hits of all edges and rims of the solid; how many."""
    pair, places = Pair(scratch.pair, scratch.points, scratch.cosine), scratch.simplex
    kind, size, p = kind_of(pair, 0), size_of(pair, 0), position_of(pair, 0)
    count = 0
    if kind == BOX:
        for e in range(12):
            a = corner_of_box(pair, e // 4, e % 4)
            b = add_scaled(a, 2.0 * size[e // 4], axis_of(pair, 0, e // 4))
            count = take_edge(scratch, faces, (a, b), e, count, limit)
        return count
    if kind == CYLINDER:
        near = (position_of(pair, 1), pair.solids[1, BOUND])
        u, v = scale(size[0], axis_of(pair, 0, 0)), scale(size[0], axis_of(pair, 0, 1))
        for e in range(2):
            end = size[1] if e == 1 else -size[1]
            rim = (add_scaled(p, end, axis_of(pair, 0, 2)), u, v)
            found = circle_places(pair, faces, rim, FROM_HOLLOW, near, places)
            for k in range(found):
                hit = hit_of_solid(pair, faces, point_on(rim, places[k // 9, k % 9]))
                feature = number_of(e, k)
                count = put_hit(scratch.reduction, count, hit, feature, limit, scale_of(pair))
        return count
    start, first, e = int(pair.solids[0, FACE_START]), int(pair.solids[0, POINT_START]), 0
    for f in range(start, start + int(pair.solids[0, FACE_COUNT])):
        for k in range(faces.loop_count[f]):
            i = faces.loop[faces.loop_start[f] + k]
            j = faces.loop[faces.loop_start[f] + (k + 1) % faces.loop_count[f]]
            # two faces have each edge
            if i < j:
                ends = (
                    add(p, load3(pair.points, first + i)),
                    add(p, load3(pair.points, first + j)),
                )
                count = take_edge(scratch, faces, ends, e, count, limit)
                e += 1
    return count


@kernel
def circle_of(pair: Pair, k: int) -> tuple[float, float, float]:
    """Circle k of the hollow shape: its radius and height, and its own thickness."""
    kind, size = kind_of(pair, 1), size_of(pair, 1)
    if kind == RING:
        return (size[0], 0.0, size[1])
    r = size[0] if k % 2 == 0 else size[2]
    if kind == BOWL:
        return (r * math.sin(size[1]), -r * math.cos(size[1]), 0.0)
    return (r, size[1] if k < 2 else -size[1], 0.0)


@kernel
def take_circles(scratch: CollisionScratch, faces: Faces, count: int, limit: float) -> int:
    """Hits of the circles and smooth outsides of the hollow shape; how many there are then."""
    pair, places = Pair(scratch.pair, scratch.points, scratch.cosine), scratch.simplex
    kind, p, size = kind_of(pair, 1), position_of(pair, 1), scale_of(pair)
    near = (position_of(pair, 0), pair.solids[0, BOUND])
    n_circles = 1 if kind == RING else (2 if kind == BOWL else 4)
    for e in range(n_circles):
        r, z, thick = circle_of(pair, e)
        u, v = scale(r, axis_of(pair, 1, 0)), scale(r, axis_of(pair, 1, 1))
        circle: Curve = (add_scaled(p, z, axis_of(pair, 1, 2)), u, v)
        found = circle_places(pair, faces, circle, FROM_SOLID, near, places)
        for k in range(found):
            x = point_on(circle, places[k // 9, k % 9])
            hit = hit_of_hollow(pair, faces, x, thick)
            # beyond the numbers of all edges
            feature = number_of((1 << 20) + e, k)
            count = put_hit(scratch.reduction, count, hit, feature, limit, size)
    if kind == BOWL:
        hit = hit_of_hollow(pair, faces, p, size_of(pair, 1)[0])
        count = put_hit(scratch.reduction, count, hit, number_of((1 << 20) + 4, 0), limit, size)
    return count


@kernel
def take_side(scratch: CollisionScratch, faces: Faces, count: int, limit: float) -> int:
    """Hits of the side of a cylinder with smooth outsides it crosses; how many there are then."""
    pair, places = Pair(scratch.pair, scratch.points, scratch.cosine), scratch.simplex
    axis: Curve = (position_of(pair, 0), axis_of(pair, 0, 2), ZERO3)
    found = along_line(pair, faces, axis, size_of(pair, 0)[1], places)
    for k in range(found):
        hit = hit_of_side(pair, point_on(axis, places[k // 9, k % 9]))
        feature = number_of((1 << 20) + 5, k)
        count = put_hit(scratch.reduction, count, hit, feature, limit, scale_of(pair))
    return count


@kernel
def solid_hollow(
    pair: Pair, faces: Faces, limit: float, scratch: CollisionScratch
) -> tuple[Hit, int]:
    """The nearest hit, and the number of all within the limit.

    Writes  scratch.reduction: gap, normal, point, feature of each
    Check   tests/engine/collision/hollow/test_solids.py
    """
    kept = scratch.reduction
    count = take_circles(scratch, faces, take_edges(scratch, faces, limit), limit)
    if kind_of(pair, 0) == CYLINDER and kind_of(pair, 1) != RING:
        count = take_side(scratch, faces, count, limit)
    best = MISS
    for i in range(count):
        if kept.gap[i] < best[0]:
            best = (float(kept.gap[i]), load3(kept.normal, i), load3(kept.point, i))
    return (best, count)


@kernel
def distinctness(kept: Reduction, i: int, count: int, size: float) -> float:
    """How far hit i is from the nearest chosen one, by place and normal [m]; inf: none chosen."""
    least = math.inf
    for j in range(count):
        if kept.triangle[j] == 1:
            d = sub(load3(kept.point, i), load3(kept.point, j))
            turned = sub(load3(kept.normal, i), load3(kept.normal, j))
            least = min(least, math.sqrt(dot(d, d)) + size * math.sqrt(dot(turned, turned)))
    return least


@kernel
def choose_hits(kept: Reduction, count: int, size: float) -> None:
    """Choose the deepest of many hits, then those farthest from all chosen ones.

    Reads   kept.triangle: -1 for hits that are out
    Writes  kept.triangle: 1 for those that stay
    """
    for n in range(MOST_CONTACTS):
        best, most = -1, -math.inf
        for i in range(count):
            if kept.triangle[i] == 0:
                far = -kept.gap[i] if n == 0 else distinctness(kept, i, count, size)
                if far > most:
                    best, most = i, far
        if best < 0:
            return
        kept.triangle[best] = 1
