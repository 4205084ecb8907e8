"""Curvature of hollow shapes, negative where they are concave."""

from __future__ import annotations

from math import sqrt

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, cross, dot
from cardan.engine.world.model import BOWL, RING

# of a unit normal: the face, side, wall, cap or end of a shape that it belongs to
ALIGNED = 1e-6
# [1/m] curvature of an edge across it and of a vertex
SHARP = 1e6


@kernel
def hollow_curvature(kind: int, size: Vec3, p: Vec3, m: Vec3) -> tuple[float, float]:
    """Curvatures at p, outward normal m: around the axis z, and perpendicular to that [1/m].

    Torus: cos/(R + r cos) and 1/r, with the cosine of the normal to its radial direction. Plane
    ends and the rim have none, edges are sharp.
    """
    rho = sqrt(p[0] * p[0] + p[1] * p[1])
    outwards = (p[0] * m[0] + p[1] * m[1]) / rho if rho > 0.0 else 0.0
    if kind == RING:
        return (outwards / (size[0] + size[1] * outwards), 1.0 / size[1])
    if kind == BOWL:
        s = sqrt(dot(p, p))
        radial = dot(p, m) / s if s > 0.0 else 0.0
        if abs(radial) < ALIGNED:
            return (0.0, 0.0)
        if abs(radial) < 1.0 - ALIGNED:
            return (outwards / rho, SHARP)
        k = 1.0 / size[0] if radial > 0.0 else -1.0 / size[2]
        return (k, k)
    if abs(m[2]) > 1.0 - ALIGNED:
        return (0.0, 0.0)
    if abs(m[2]) > ALIGNED:
        return (outwards / rho, SHARP)
    return (1.0 / size[0] if outwards > 0.0 else -1.0 / size[2], 0.0)


@kernel
def around(p: Vec3, m: Vec3) -> Vec3:
    """Unit tangent around the axis z at p; where there is none, any across m."""
    rho = sqrt(p[0] * p[0] + p[1] * p[1])
    if rho > 0.0:
        return (-p[1] / rho, p[0] / rho, 0.0)
    t = cross(m, (1.0, 0.0, 0.0))
    k = 1.0 / sqrt(dot(t, t))
    return (k * t[0], k * t[1], k * t[2])
