"""A ball or capsule (side 0) against a hollow shape (side 1): places of its core, and their gaps.

On a hollow side the ends of a capsule are nearest, on the outside and at edges points between them:
where the derivative of the distance along the core rises through zero.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.hollow.distance import hollow_distance
from cardan.engine.collision.narrow.closest_feature import MISS, Hit
from cardan.engine.collision.narrow.segment import half_length
from cardan.engine.collision.narrow.solid import (
    axis_of,
    kind_of,
    position_of,
    radius_of,
    size_of,
    to_shape,
    to_world,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, dot, negate, scale, sub
from cardan.engine.world.collision import BOUND, NEAREST_FEATURE, Pair
from cardan.engine.world.model import SPHERE, TUBE

# intervals of a core in which a nearest point is looked for, and halvings of one of them
PARTS, HALVINGS = 16, 52
# room for the places of a core or curve
MOST_PLACES = 30
# numbers of the two further contacts of a ball on an edge
BESIDE = 64


@kernel
def hollow_at(pair: Pair, x: Vec3) -> tuple[float, Vec3, bool]:
    """Signed distance of x from the hollow side, its gradient, whether an edge is nearest; W."""
    local = to_shape(pair, 1, sub(x, position_of(pair, 1)))
    gap, n, edge = hollow_distance(kind_of(pair, 1), size_of(pair, 1), local)
    return (gap, to_world(pair, 1, n), edge)


@kernel
def rise(pair: Pair, s: float) -> float:
    """Derivative of the distance along the core at s."""
    u = axis_of(pair, 0, 2)
    return dot(hollow_at(pair, add_scaled(position_of(pair, 0), s, u))[1], u)


@kernel
def lowest(pair: Pair, low: float, high: float) -> float:
    """Where the derivative rises through zero between low and high, by bisection."""
    for _ in range(HALVINGS):
        s = 0.5 * (low + high)
        if rise(pair, s) < 0.0:
            low = s
        else:
            high = s
    return 0.5 * (low + high)


@kernel
def put_place(places: NDArray, count: int, s: float) -> int:
    """Append a place, if there is room; returns how many there are."""
    if count >= MOST_PLACES:
        return count
    places[count // 9, count % 9] = s
    return count + 1


@kernel
def place_of(pair: Pair, places: NDArray, k: int) -> Vec3:
    """Core point of place k."""
    s = places[k // 9, k % 9]
    return add_scaled(position_of(pair, 0), s, axis_of(pair, 0, 2))


@kernel
def find_places(pair: Pair, places: NDArray) -> int:
    """Core points nearest to the hollow side, along the axis from its middle; returns how many.

    Reads   a ball or capsule as side 0
    Writes  places (4, 9) m: both ends first
    """
    half = half_length(pair, 0)
    if half == 0.0:
        return put_place(places, 0, 0.0)
    count = put_place(places, put_place(places, 0, -half), half)
    d = sub(position_of(pair, 1), position_of(pair, 0))
    u = axis_of(pair, 0, 2)
    middle, reach = dot(d, u), 1.1 * pair.solids[1, BOUND] + radius_of(pair, 0)
    low, high = max(-half, middle - reach), min(half, middle + reach)
    if low >= high:
        return count
    step = (high - low) / PARTS
    before = rise(pair, low)
    for k in range(PARTS):
        after = rise(pair, low + (k + 1) * step)
        if before < 0.0 and after > 0.0:
            count = put_place(places, count, lowest(pair, low + k * step, low + (k + 1) * step))
        before = after
    if kind_of(pair, 1) == TUBE:
        # on a straight wall, where it ends
        axis = axis_of(pair, 1, 2)
        lean, height = dot(u, axis), -dot(d, axis)
        for k in range(2):
            end = size_of(pair, 1)[1] if k == 1 else -size_of(pair, 1)[1]
            if abs(end - height) < 0.999999 * half * abs(lean):
                count = put_place(places, count, (end - height) / lean)
    return count


@kernel
def hit_at(pair: Pair, x: Vec3) -> Hit:
    """The hit of a core point with the nearest point of the hollow surface."""
    gap, n, _ = hollow_at(pair, x)
    r = radius_of(pair, 0)
    return (gap - r, negate(n), add_scaled(x, -0.5 * (r + gap), n))


@kernel
def round_hollow(pair: Pair, places: NDArray) -> Hit:
    """The nearest of all places."""
    best = MISS
    for k in range(find_places(pair, places)):
        hit = hit_at(pair, place_of(pair, places, k))
        if hit[0] < best[0]:
            best = hit
    return best


@kernel
def hit_beside(pair: Pair, k: int) -> Hit:
    """Contact of a ball on an edge or ring, a third of a circle farther along (k = 1, 2).

    The circle leads through the nearest point of an edge, or the middle of the ring's section.
    """
    x = to_shape(pair, 1, sub(position_of(pair, 0), position_of(pair, 1)))
    gap, n, edge = hollow_distance(kind_of(pair, 1), size_of(pair, 1), x)
    if not edge or kind_of(pair, 0) != SPHERE:
        return MISS
    thick = radius_of(pair, 1)
    y = add_scaled(x, -(gap + thick), n)
    c, s = -0.5, math.sqrt(0.75) if k == 1 else -math.sqrt(0.75)
    q = (c * y[0] - s * y[1], s * y[0] + c * y[1], y[2])
    d = sub(q, x)
    length = math.sqrt(dot(d, d))
    if length == 0.0:
        return MISS
    m = to_world(pair, 1, scale(1.0 / length, d))
    r = radius_of(pair, 0)
    gap = length - r - thick
    return (gap, m, add_scaled(position_of(pair, 0), r + 0.5 * gap, m))


@kernel
def hollow_hit(pair: Pair, places: NDArray, k: int) -> tuple[Hit, int]:
    """Hit number k with its feature: the places, then those beside the nearest one of a ball."""
    if kind_of(pair, 0) == SPHERE and k > 0:
        return (hit_beside(pair, k), BESIDE + k)
    return (hit_at(pair, place_of(pair, places, k)), NEAREST_FEATURE + (k << 26))
