"""The normal of a deep overlap when the surface of A - B is nearly equidistant from the origin.

For such a pair (a ball in a tube, a box in a barrel) the expanding polytope finds one of many local
minima. The overlap h(n) = n . w(n), w the support of A - B, is usually least where h has a
kink: along an axis of a shape, or perpendicular to the axis of a round one. These directions are
tried first, then h is minimised by descent.
"""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.gjk import write_support
from cardan.engine.collision.narrow.solid import axis_of, kind_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    Vec3,
    add_scaled,
    dot,
    negate,
    norm,
    normalised,
    scale,
    sub,
    tangents_of,
)
from cardan.engine.world.collision import BOUND, Pair, Polytope
from cardan.engine.world.model import CAPSULE, CYLINDER

# (overlap, normal from A to B, point on A, point on B)
Overlap = tuple[float, Vec3, Vec3, Vec3]

# descent steps at most
STEPS = 100
# directions around an axis that are sampled first; golden-section steps after them
AROUND, NARROWINGS = 48, 60
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@kernel
def lifted(p: Vec3, n: Vec3, polytope: Polytope, i: int, column: int) -> Vec3:
    """The point p moved along n to the height of the point in columns `column` of vertex i."""
    v = polytope.vertex
    x = (v[i, column], v[i, column + 1], v[i, column + 2])
    return add_scaled(p, dot(n, sub(x, p)), n)


@kernel
def overlap_along(pair: Pair, n: Vec3, polytope: Polytope) -> float:
    """h(n) [m].

    Writes  vertex 0 of the polytope
    """
    return dot(n, write_support(pair, n, polytope.vertex, 0))


@kernel
def try_normal(pair: Pair, n: Vec3, polytope: Polytope, found: Overlap) -> Overlap:
    """The smaller overlap: `found`, or that along n.

    The points of the overlap along n are the deepest point of the smaller solid, and its
    projection along n onto the surface of the other.

    Writes  vertex 0 of the polytope
    """
    overlap = overlap_along(pair, n, polytope)
    if overlap >= found[0]:
        return found
    v = polytope.vertex
    a = (v[0, 3], v[0, 4], v[0, 5])
    b = (v[0, 6], v[0, 7], v[0, 8])
    if pair.solids[0, BOUND] <= pair.solids[1, BOUND]:
        return (overlap, n, a, add_scaled(a, -overlap, n))
    return (overlap, n, add_scaled(b, overlap, n), b)


@kernel
def try_axes(pair: Pair, polytope: Polytope, found: Overlap) -> Overlap:
    """The smallest of `found` and the overlaps along the axes of both shapes, either way."""
    for side in range(2):
        for k in range(3):
            n = axis_of(pair, side, k)
            found = try_normal(pair, n, polytope, found)
            found = try_normal(pair, negate(n), polytope, found)
    return found


@kernel
def direction_around(u: Vec3, v: Vec3, angle: float) -> Vec3:
    """The unit vector at an angle [rad] from u towards v, both perpendicular and unit."""
    return add_scaled(scale(math.cos(angle), u), math.sin(angle), v)


@kernel
def try_around(pair: Pair, axis: Vec3, polytope: Polytope, found: Overlap) -> Overlap:
    """The smaller of `found` and the least overlap perpendicular to an axis, by golden section."""
    u, v = tangents_of(axis)
    step = 2.0 * math.pi / AROUND
    least, middle = math.inf, 0.0
    for k in range(AROUND):
        overlap = overlap_along(pair, direction_around(u, v, k * step), polytope)
        if overlap < least:
            least, middle = overlap, k * step
    low, high = middle - step, middle + step
    for _ in range(NARROWINGS):
        lower = high - GOLDEN * (high - low)
        upper = low + GOLDEN * (high - low)
        first = overlap_along(pair, direction_around(u, v, lower), polytope)
        second = overlap_along(pair, direction_around(u, v, upper), polytope)
        if first < second:
            high = upper
        else:
            low = lower
    return try_normal(pair, direction_around(u, v, 0.5 * (low + high)), polytope, found)


@kernel
def refined_normal(pair: Pair, polytope: Polytope, found: Overlap) -> Overlap:
    """The least overlap: along axes, around axes, then by descent on the unit sphere.

    The gradient of h is the component of w perpendicular to n, and a step is pace / |w| times it.
    The pace grows after a descent and shrinks otherwise, so that steps converge at a kink.

    Writes  vertex 0 of the polytope
    Check   tests/engine/collision/narrow/test_gap.py
    """
    found = try_axes(pair, polytope, found)
    for side in range(2):
        if kind_of(pair, side) == CYLINDER or kind_of(pair, side) == CAPSULE:
            found = try_around(pair, axis_of(pair, side, 2), polytope, found)
    least, n, a, b = found
    w = write_support(pair, n, polytope.vertex, 0)
    pace = 0.25
    for _ in range(STEPS):
        across = add_scaled(w, -dot(n, w), n)
        trial = normalised(add_scaled(n, -pace / (norm(w) + 1e-300), across))
        x = write_support(pair, trial, polytope.vertex, 0)
        if dot(trial, x) < least:
            least = dot(trial, x)
            n = trial
            w = x
            a = lifted(a, n, polytope, 0, 3)
            b = lifted(b, n, polytope, 0, 6)
            pace *= 1.5
        else:
            pace *= 0.4
    return (least, n, a, b)
