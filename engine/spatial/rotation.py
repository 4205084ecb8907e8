"""Exponential, logarithm and matrices of rotations."""

from __future__ import annotations

import math

from engine.kernel import kernel
from engine.spatial.quaternion import Quaternion
from engine.spatial.vec3 import Vec3

Mat3 = tuple[Vec3, Vec3, Vec3]


@kernel
def exponential(phi: Vec3) -> Quaternion:
    """The quaternion of the rotation vector phi [rad]: (cos |phi|/2, sin(|phi|/2) phi/|phi|).

    Below 1e-4 rad the series of sin(x/2)/x is exact to rounding (next term 1e-19).
    """
    angle2 = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if angle2 < 1e-8:
        s = 0.5 - angle2 / 48.0
        return (1.0 - angle2 / 8.0 + angle2 * angle2 / 384.0, s * phi[0], s * phi[1], s * phi[2])
    angle = math.sqrt(angle2)
    s = math.sin(0.5 * angle) / angle
    return (math.cos(0.5 * angle), s * phi[0], s * phi[1], s * phi[2])


@kernel
def logarithm(q: Quaternion) -> Vec3:
    """The rotation vector [rad] of a unit quaternion, angle in [0, pi]."""
    w, x, y, z = q
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 if s < 1e-12 else 2.0 * math.atan2(s, w) / s
    return (k * x, k * y, k * z)


@kernel
def matrix(q: Quaternion) -> Mat3:
    """R(q) as three rows: R(q) v = q v q*."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel
def nearest_turn(angle: float, last: float) -> float:
    """The angle that differs from `angle` by whole turns and is nearest to `last`."""
    turn = 2.0 * math.pi
    return angle + turn * math.floor((last - angle) / turn + 0.5)
