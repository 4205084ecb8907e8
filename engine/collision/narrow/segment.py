"""Spheres and capsules against each other: points and segments with a radius."""

from __future__ import annotations

from cardan.engine.collision.narrow.closest_feature import Hit, hit_of_points
from cardan.engine.collision.narrow.solid import axis_of, kind_of, position_of, radius_of, size_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, normalised, perpendicular, sub
from cardan.engine.world.collision import Pair
from cardan.engine.world.model import CAPSULE

# Core segments nearer than this share of their radii intersect.
NEARLY_MEET = 1e-5


@kernel
def clamp(x: float, limit: float) -> float:
    """X within -limit ... limit."""
    return min(max(x, -limit), limit)


@kernel
def nearest_on_segments(
    p: Vec3, u: Vec3, half_u: float, q: Vec3, v: Vec3, half_v: float
) -> tuple[float, float]:
    """Parameters s, t of the nearest points p + s u, q + t v; |s| <= half_u, |t| <= half_v.

    Lines:  s = (c (v.w) - u.w) / (c^2 - 1) with w = q - p, c = u.v; then clamp and project back.
    Parallel segments: the middle of the overlap, so that the result is continuous.
    Source  Ericson 2005, Real-Time Collision Detection, 5.1.9, centred form
    """
    w = sub(q, p)
    c = dot(u, v)
    uw = dot(u, w)
    vw = dot(v, w)
    sine2 = 1.0 - c * c
    if sine2 > 1e-12:
        s = clamp((uw - c * vw) / sine2, half_u)
    else:
        # segment v seen along u: centre uw, half length half_v
        low = max(-half_u, uw - half_v)
        high = min(half_u, uw + half_v)
        s = clamp(0.5 * (low + high), half_u)
    t = clamp(c * s - vw, half_v)
    s = clamp(uw + c * t, half_u)
    return (s, t)


@kernel
def half_length(pair: Pair, side: int) -> float:
    """Half length of the core segment [m]; a sphere's is zero."""
    return size_of(pair, side)[1] if kind_of(pair, side) == CAPSULE else 0.0


@kernel
def segment_segment(pair: Pair) -> Hit:
    """Sphere or capsule against sphere or capsule."""
    u = axis_of(pair, 0, 2)
    v = axis_of(pair, 1, 2)
    p = position_of(pair, 0)
    q = position_of(pair, 1)
    half_u = half_length(pair, 0)
    half_v = half_length(pair, 1)
    s, t = nearest_on_segments(p, u, half_u, q, v, half_v)
    radius_u, radius_v = radius_of(pair, 0), radius_of(pair, 1)
    a = add_scaled(p, s, u)
    b = add_scaled(q, t, v)
    # intersecting cores separate perpendicular to both; a sphere on a core, perpendicular to it
    n0 = (0.0, 0.0, 1.0)
    if half_u > 0.0 or half_v > 0.0:
        n0 = perpendicular(u if half_u > 0.0 else v)
    across = cross(u, v)
    if half_u > 0.0 and half_v > 0.0 and dot(across, across) > 1e-12:
        n0 = normalised(across)
        d = sub(b, a)
        is_crossing = abs(s) < half_u and abs(t) < half_v
        if is_crossing and dot(d, d) < (NEARLY_MEET * (radius_u + radius_v)) ** 2:
            # the direction of so short a distance is rounding: only its perpendicular part is used
            b = add_scaled(a, dot(n0, d), n0)
    return hit_of_points(a, b, radius_u, radius_v, n0)
