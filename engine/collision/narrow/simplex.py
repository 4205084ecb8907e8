"""Nearest point to the origin on a point, line, triangle or tetrahedron, as weights of corners."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, norm, scale, sub

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
def share_of(x: float, y: float, dx: float, dy: float) -> float:
    """Parameter 0 ... 1 of the point nearest to (x, y) on the segment from 0 to (dx, dy)."""
    length2 = dx * dx + dy * dy
    t = x * dx + y * dy
    if t <= 0.0 or length2 <= 0.0:
        return 0.0
    return 1.0 if t >= length2 else t / length2


@kernel
def nearest_edge(x: float, y: float, b: float, c: float, d: float) -> Vec3:
    """Weights on the outline of the plane triangle (0, 0), (b, 0), (c, d) nearest to (x, y)."""
    s = share_of(x, y, b, 0.0)
    t = share_of(x, y, c, d)
    u = share_of(x - b, y, c - b, d)
    ab = (x - s * b) ** 2 + y * y
    ac = (x - t * c) ** 2 + (y - t * d) ** 2
    bc = (x - b - u * (c - b)) ** 2 + (y - u * d) ** 2
    if ab <= ac and ab <= bc:
        return (1.0 - s, s, 0.0)
    if ac <= bc:
        return (1.0 - t, 0.0, t)
    return (0.0, 1.0 - u, u)


@kernel
def triangle_weights(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Weights of a, b, c, zero for corners that do not support the nearest point.

    Computed in the plane of the triangle, with a as origin and x along a -> b: coordinates are
    accurate to the rounding of |a| for any size of the triangle. Products of 3D lengths, as in the
    usual region tests, lose the small triangles at the end of the search on round shapes.
    """
    ab, ac = sub(b, a), sub(c, a)
    b_x = norm(ab)
    if b_x <= 0.0:
        s, t = line_weights(a, c)
        return (s, 0.0, t)
    e1 = scale(1.0 / b_x, ab)
    c_x = dot(ac, e1)
    across = add_scaled(ac, -c_x, e1)
    c_y = norm(across)
    x = -dot(a, e1)
    if c_y <= 1e-14 * b_x:
        return nearest_edge(x, 0.0, b_x, c_x, 0.0)
    y = -dot(a, across) / c_y
    w = y / c_y
    v = (x - w * c_x) / b_x
    u = 1.0 - v - w
    if u > 0.0 and v > 0.0 and w > 0.0:
        return (u, v, w)
    return nearest_edge(x, y, b_x, c_x, c_y)


@kernel
def is_outside(a: Vec3, b: Vec3, c: Vec3, d: Vec3, thin: float) -> bool:
    """True unless the origin and d are on the same side of triangle a, b, c.

    A tetrahedron no higher than `thin` [m] has no interior: its signs would be rounding.
    """
    n = cross(sub(b, a), sub(c, a))
    height = dot(sub(d, a), n)
    return -dot(a, n) * height <= 0.0 or height * height <= thin * thin * dot(n, n)


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
def tetrahedron_weights(a: Vec3, b: Vec3, c: Vec3, d: Vec3, thin: float) -> Weights:
    """Weights on the nearest face with the origin outside; all four positive if it is inside."""
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
        if is_outside(p, q, r, s, thin):
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
def simplex_weights(simplex: NDArray, count: int, thin: float) -> Weights:
    """Weights of the first `count` corners (columns 0:3 of each row); the rest are zero.

    All four are positive only if the origin is inside a tetrahedron higher than `thin` [m].
    """
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
    return tetrahedron_weights(a, b, c, load3(simplex, 3), thin)
