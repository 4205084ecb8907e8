"""Nearest point to the origin on a point, line, triangle or tetrahedron, as weights of corners."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, cross, dot, load3, sub

Weights = tuple[float, float, float, float]


@kernel
def line_weights(a: Vec3, b: Vec3) -> tuple[float, float]:
    """Weights of a and b: t = -a . (b - a) / |b - a|^2, clamped."""
    d = sub(b, a)
    length2 = dot(d, d)
    t = -dot(a, d)
    if t <= 0.0 or length2 <= 0.0:
        return (1.0, 0.0)
    if t >= length2:
        return (0.0, 1.0)
    return (1.0 - t / length2, t / length2)


@kernel
def triangle_weights(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Weights of a, b, c, zero for corners that do not carry the nearest point.

    Source  Ericson 2005, Real-Time Collision Detection, 5.1.5, with the point at the origin
    """
    ab, ac = sub(b, a), sub(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0)
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3) if d1 > d3 else 0.0
        return (1.0 - t, t, 0.0)
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6) if d2 > d6 else 0.0
        return (1.0 - t, 0.0, t)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        whole = (d4 - d3) + (d5 - d6)
        t = (d4 - d3) / whole if whole > 0.0 else 0.0
        return (0.0, 1.0 - t, t)
    whole = 1.0 / (va + vb + vc)
    return (va * whole, vb * whole, vc * whole)


@kernel
def is_outside(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> bool:
    """True unless the origin and d are strictly on the same side of triangle a, b, c."""
    n = cross(sub(b, a), sub(c, a))
    return -dot(a, n) * dot(sub(d, a), n) <= 0.0


@kernel
def blend(weights: Weights, a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Vec3:
    """The weighted sum of four points."""
    w, x, y, z = weights
    return (
        w * a[0] + x * b[0] + y * c[0] + z * d[0],
        w * a[1] + x * b[1] + y * c[1] + z * d[1],
        w * a[2] + x * b[2] + y * c[2] + z * d[2],
    )


@kernel
def tetrahedron_weights(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Weights:
    """The nearest of the faces that have the origin outside; all four positive if it is inside."""
    best = (0.25, 0.25, 0.25, 0.25)
    least = -1.0
    for f in range(4):
        if f == 0:
            p, q, r, s = a, b, c, d
        elif f == 1:
            p, q, r, s = a, c, d, b
        elif f == 2:
            p, q, r, s = a, d, b, c
        else:
            p, q, r, s = b, d, c, a
        if is_outside(p, q, r, s):
            w = triangle_weights(p, q, r)
            if f == 0:
                weights = (w[0], w[1], w[2], 0.0)
            elif f == 1:
                weights = (w[0], 0.0, w[1], w[2])
            elif f == 2:
                weights = (w[0], w[2], 0.0, w[1])
            else:
                weights = (0.0, w[0], w[2], w[1])
            v = blend(weights, a, b, c, d)
            if least < 0.0 or dot(v, v) < least:
                least = dot(v, v)
                best = weights
    return best


@kernel
def simplex_weights(simplex: NDArray, count: int) -> Weights:
    """Weights of the first `count` corners (columns 0:3 of each row); the rest are zero."""
    a = load3(simplex, 0)
    if count == 1:
        return (1.0, 0.0, 0.0, 0.0)
    b = load3(simplex, 1)
    if count == 2:
        s, t = line_weights(a, b)
        return (s, t, 0.0, 0.0)
    c = load3(simplex, 2)
    if count == 3:
        x, y, z = triangle_weights(a, b, c)
        return (x, y, z, 0.0)
    return tetrahedron_weights(a, b, c, load3(simplex, 3))
