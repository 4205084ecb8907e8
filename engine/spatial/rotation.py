"""Exponential, logarithm and matrices of rotations."""

from __future__ import annotations

import math

from engine.kernel import kernel
from engine.spatial.quaternion import Quaternion
from engine.spatial.vec3 import Vec3

Mat3 = tuple[Vec3, Vec3, Vec3]

# [rad] angles whose sine and cosine are short series
SMALL = 0.5


@kernel
def exponential(phi: Vec3) -> Quaternion:
    """The quaternion of the rotation vector phi [rad]: (cos |phi|/2, sin(|phi|/2) phi/|phi|).

    Below half a radian by series in z = (|phi|/2)^2, a third of the time (next terms < 1e-16):

        sin(x)/x = 1 - z/6 (1 - z/20 (1 - z/42 (1 - z/72 (1 - z/110))))
        cos(x)   = 1 - z/2 (1 - z/12 (1 - z/30 (1 - z/56 (1 - z/90 (1 - z/132)))))
    """
    angle2 = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if angle2 < SMALL * SMALL:
        z = 0.25 * angle2
        s = 1.0 - z * (1.0 / 42.0) * (1.0 - z * (1.0 / 72.0) * (1.0 - z * (1.0 / 110.0)))
        s = 0.5 - z * (1.0 / 12.0) * (1.0 - z * (1.0 / 20.0) * s)
        c = 1.0 - z * (1.0 / 56.0) * (1.0 - z * (1.0 / 90.0) * (1.0 - z * (1.0 / 132.0)))
        c = 1.0 - z * 0.5 * (1.0 - z * (1.0 / 12.0) * (1.0 - z * (1.0 / 30.0) * c))
        return (c, s * phi[0], s * phi[1], s * phi[2])
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
