"""Signed distance from a hollow shape: that from a profile in the half plane through its axis."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.world.model import BOWL, RING, TUBE

# (signed distance [m], radial and axial part of the outward normal, whether an edge is nearest)
Profile = tuple[float, float, float, bool]


@kernel
def is_hollow(kind: int) -> bool:
    """Whether a shape is a tube, a ring or a bowl."""
    return kind in (TUBE, RING, BOWL)


@kernel
def ring_profile(size: Vec3, rho: float, z: float) -> Profile:
    """A circle of radius r about (R, 0)."""
    d = math.hypot(rho - size[0], z)
    if d == 0.0:
        return (-size[1], 0.0, 1.0, False)
    return (d - size[1], (rho - size[0]) / d, z / d, True)


@kernel
def tube_profile(size: Vec3, rho: float, z: float) -> Profile:
    """A rectangle from the inner to the outer radius, |z| <= half length."""
    outer, half, inner = size
    out = 1.0 if rho >= 0.5 * (inner + outer) else -1.0
    up = 1.0 if z >= 0.0 else -1.0
    across, along = max(inner - rho, rho - outer), abs(z) - half
    if across > 0.0 and along > 0.0:
        d = math.hypot(across, along)
        return (d, out * across / d, up * along / d, True)
    if across >= along:
        return (across, out, 0.0, False)
    return (along, 0.0, up, False)


@kernel
def bowl_profile(size: Vec3, rho: float, z: float) -> Profile:
    """A sector of an annulus, from the axis -z to the angle of the rim."""
    outer, angle, inner = size
    s = math.hypot(rho, z)
    tilt = math.atan2(rho, -z)
    c, e = math.cos(angle), math.sin(angle)
    if tilt <= angle:
        out = 1.0 if s >= 0.5 * (inner + outer) else -1.0
        wall = max(inner - s, s - outer)
        # depth below the rim
        rim = s * math.sin(angle - tilt)
        if wall < -rim:
            return (-rim, c, e, False)
        if s == 0.0:
            return (inner, 0.0, 1.0, False)
        return (wall, out * rho / s, out * z / s, False)
    k = min(max(rho * e - z * c, inner), outer)
    x, y = rho - k * e, z + k * c
    d = math.hypot(x, y)
    if d == 0.0:
        return (0.0, c, e, False)
    return (d, x / d, y / d, k in (inner, outer))


@kernel
def profile_of(kind: int, size: Vec3, rho: float, z: float) -> Profile:
    """Profile of a tube, ring or bowl at the distance rho from its axis and the height z [m]."""
    if kind == RING:
        return ring_profile(size, rho, z)
    if kind == TUBE:
        return tube_profile(size, rho, z)
    return bowl_profile(size, rho, z)


@kernel
def hollow_distance(kind: int, size: Vec3, x: Vec3) -> tuple[float, Vec3, bool]:
    """Signed distance of x, its gradient (the outward normal), whether an edge or ring is nearest.

    All in the axes of the shape; on the axis every radial direction is as good: the own x.

    Check   tests/engine/collision/hollow/test_distance.py
    """
    rho = math.hypot(x[0], x[1])
    gap, out, up, edge = profile_of(kind, size, rho, x[2])
    if rho == 0.0:
        return (gap, (out, 0.0, up), edge)
    return (gap, (out * x[0] / rho, out * x[1] / rho, up), edge)
