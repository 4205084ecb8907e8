"""Intersection of a ray with a convex solid: entry, exit, and the normal at the entry.

All in the solid's own axes; the ray is o + t d with a unit vector d, t in m from -inf to inf. The
equations use the point of the ray nearest to the solid's origin, so that far rays lose no digits.
"""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, dot, scale
from cardan.engine.world.model import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    PLANE,
    SPHERE,
    Shapes,
)

# (entry [m], exit [m], outward unit normal at the entry); entry > exit: no hit
Span = tuple[float, float, Vec3]

NOWHERE: Span = (math.inf, -math.inf, (0.0, 0.0, 1.0))
EVERYWHERE: Span = (-math.inf, math.inf, (0.0, 0.0, 1.0))


@kernel
def both(p: Span, q: Span) -> Span:
    """The part of the ray inside both of two solids."""
    n = p[2] if p[0] >= q[0] else q[2]
    return (max(p[0], q[0]), min(p[1], q[1]), n)


@kernel
def either(p: Span, q: Span) -> Span:
    """The part of the ray inside the union of two solids, where that is convex."""
    if p[0] > p[1]:
        return q
    if q[0] > q[1]:
        return p
    n = p[2] if p[0] <= q[0] else q[2]
    return (min(p[0], q[0]), max(p[1], q[1]), n)


@kernel
def below(o: Vec3, d: Vec3, n: Vec3, offset: float) -> Span:
    """Half space n . x <= offset."""
    rate = dot(n, d)
    height = dot(n, o) - offset
    if rate == 0.0:
        return EVERYWHERE if height <= 0.0 else NOWHERE
    t = -height / rate
    if rate < 0.0:
        return (t, math.inf, n)
    return (-math.inf, t, n)


@kernel
def slab(o: float, d: float, half: float, n: Vec3) -> Span:
    """|x| <= half along an axis with unit vector n; o, d: the ray's coordinates along it."""
    if d == 0.0:
        return EVERYWHERE if abs(o) <= half else NOWHERE
    if d > 0.0:
        return ((-half - o) / d, (half - o) / d, (-n[0], -n[1], -n[2]))
    return ((half - o) / d, (-half - o) / d, n)


@kernel
def ball(o: Vec3, d: Vec3, r: float) -> Span:
    """Sphere about the origin: |o + t d| <= r."""
    middle = -dot(o, d)
    p = add_scaled(o, middle, d)
    room = r * r - dot(p, p)
    if room < 0.0:
        return NOWHERE
    half = math.sqrt(room)
    x = add_scaled(p, -half, d)
    return (middle - half, middle + half, scale(1.0 / r, x))


@kernel
def tube(o: Vec3, d: Vec3, r: float) -> Span:
    """Endless cylinder about z: x^2 + y^2 <= r^2."""
    across = d[0] * d[0] + d[1] * d[1]
    if across == 0.0:
        return EVERYWHERE if o[0] * o[0] + o[1] * o[1] <= r * r else NOWHERE
    middle = -(o[0] * d[0] + o[1] * d[1]) / across
    x, y = o[0] + middle * d[0], o[1] + middle * d[1]
    room = (r * r - x * x - y * y) / across
    if room < 0.0:
        return NOWHERE
    half = math.sqrt(room)
    n = ((x - half * d[0]) / r, (y - half * d[1]) / r, 0.0)
    return (middle - half, middle + half, n)


@kernel
def box_span(o: Vec3, d: Vec3, half: Vec3) -> Span:
    """Three slabs."""
    x = slab(o[0], d[0], half[0], (1.0, 0.0, 0.0))
    y = slab(o[1], d[1], half[1], (0.0, 1.0, 0.0))
    z = slab(o[2], d[2], half[2], (0.0, 0.0, 1.0))
    return both(both(x, y), z)


@kernel
def capsule_span(o: Vec3, d: Vec3, r: float, h: float) -> Span:
    """A cylinder and a ball at either end."""
    side = both(tube(o, d, r), slab(o[2], d[2], h, (0.0, 0.0, 1.0)))
    top = ball((o[0], o[1], o[2] - h), d, r)
    bottom = ball((o[0], o[1], o[2] + h), d, r)
    return either(either(top, bottom), side)


@kernel
def cone_sides(a: float, b: float, c: float, rises: bool) -> tuple[float, float]:
    """The interval of a t^2 + 2 b t + c <= 0 in a cone that opens downwards, or inf, -inf.

    The inequality holds in a double cone: between the roots if a > 0, else outside of them. A
    rising ray is in the lower cone first. Roots as -q/a and -c/q: no cancellation.
    """
    if a == 0.0 and b == 0.0:
        return (-math.inf, math.inf) if c <= 0.0 else (math.inf, -math.inf)
    room = b * b - a * c
    if room < 0.0:
        # a ray steeper than the sides does not leave the double cone
        return (math.inf, -math.inf) if a > 0.0 else (-math.inf, math.inf)
    q = -(b + math.copysign(math.sqrt(room), b))
    s = c / q if q != 0.0 else 0.0
    if a == 0.0:
        return (-math.inf, s) if b > 0.0 else (s, math.inf)
    low, high = min(s, q / a), max(s, q / a)
    if a > 0.0:
        return (low, high)
    return (-math.inf, low) if rises else (high, math.inf)


@kernel
def cone_span(o: Vec3, d: Vec3, r: float, h: float) -> Span:
    """Apex at z = h, base at z = -h:  x^2 + y^2 <= k^2 (h - z)^2, |z| <= h, k = r / 2 h."""
    k2 = (0.5 * r / h) ** 2
    middle = -dot(o, d)
    p = add_scaled(o, middle, d)
    down = p[2] - h
    first, last = cone_sides(
        d[0] * d[0] + d[1] * d[1] - k2 * d[2] * d[2],
        p[0] * d[0] + p[1] * d[1] - k2 * down * d[2],
        p[0] * p[0] + p[1] * p[1] - k2 * down * down,
        d[2] > 0.0,
    )
    n = (0.0, 0.0, 1.0)
    if abs(first) < math.inf:
        slant = math.sqrt(4.0 * h * h + r * r)
        x, y = p[0] + first * d[0], p[1] + first * d[1]
        rho = math.sqrt(x * x + y * y)
        if rho > 0.0:
            n = (2.0 * h * x / (rho * slant), 2.0 * h * y / (rho * slant), r / slant)
    span = both((first, last, n), slab(p[2], d[2], h, (0.0, 0.0, 1.0)))
    return (span[0] + middle, span[1] + middle, span[2])


@kernel
def ellipsoid_span(o: Vec3, d: Vec3, radii: Vec3) -> Span:
    """The unit ball in coordinates divided by the radii; normal along x / radii^2."""
    p = (o[0] / radii[0], o[1] / radii[1], o[2] / radii[2])
    e = (d[0] / radii[0], d[1] / radii[1], d[2] / radii[2])
    rate = dot(e, e)
    middle = -dot(p, e) / rate
    q = add_scaled(p, middle, e)
    room = (1.0 - dot(q, q)) / rate
    if room < 0.0:
        return NOWHERE
    half = math.sqrt(room)
    x = add_scaled(q, -half, e)
    n = (x[0] / radii[0], x[1] / radii[1], x[2] / radii[2])
    return (middle - half, middle + half, scale(1.0 / math.sqrt(dot(n, n)), n))


@kernel
def hull_span(shapes: Shapes, i: int, o: Vec3, d: Vec3) -> Span:
    """All half spaces of the hull's faces."""
    span = EVERYWHERE
    for f in range(shapes.face_start[i], shapes.face_start[i] + shapes.face_count[i]):
        n = (shapes.face_normal[f, 0], shapes.face_normal[f, 1], shapes.face_normal[f, 2])
        span = both(span, below(o, d, n, shapes.face_offset[f]))
    return span


@kernel
def span_of(shapes: Shapes, i: int, o: Vec3, d: Vec3) -> Span:
    """Shape i, ray in its own axes.

    Check   tests/engine/collision/queries/test_raycast.py
    """
    kind = shapes.kind[i]
    size = (shapes.size[i, 0], shapes.size[i, 1], shapes.size[i, 2])
    if kind == SPHERE:
        return ball(o, d, size[0])
    if kind == BOX:
        return box_span(o, d, size)
    if kind == CAPSULE:
        return capsule_span(o, d, size[0], size[1])
    if kind == CYLINDER:
        return both(tube(o, d, size[0]), slab(o[2], d[2], size[1], (0.0, 0.0, 1.0)))
    if kind == CONE:
        return cone_span(o, d, size[0], size[1])
    if kind == ELLIPSOID:
        return ellipsoid_span(o, d, size)
    if kind == CONVEX:
        return hull_span(shapes, i, o, d)
    if kind == PLANE:
        return below(o, d, (0.0, 0.0, 1.0), 0.0)
    return NOWHERE
