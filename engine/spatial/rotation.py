"""Exponential, logarithm and matrices of rotations."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import any_of, lane_form_of, lanes_in
from cardan.engine.spatial.quaternion import Quaternion, with_lane4
from cardan.engine.spatial.vec3 import Vec3, cross, dot, lane3

Mat3 = tuple[Vec3, Vec3, Vec3]

# [rad] angles of rotation below which sine and cosine are computed by series
SMALL = 0.5


# 2/pi, and pi/2 as the sum of a number of 33 bits, whose products with small whole numbers are
# exact, and the rest; [-]
PER_QUARTER, QUARTER, QUARTER_REST = 0.6366197723675814, 1.5707963267341256, 6.077100506506192e-11
# beyond this the reduction to a quarter turn would lose digits [rad]
MANY_TURNS = 1e5


@kernel
def sine_cosine_of_part(r: float) -> tuple[float, float]:
    """sin r and cos r for |r| <= pi/4.

    Source  Sun Microsystems 1993, k_sin.c and k_cos.c, for the coefficients
    """
    z = r * r
    zz = z * z
    low = -1.66666666666666324348e-01 + z * 8.33333333332248946124e-03
    middle = -1.98412698298579493134e-04 + z * 2.75573137070700676789e-06
    high = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s = r + r * z * (low + zz * (middle + zz * high))
    low = 4.16666666666666019037e-02 - z * 1.38888888888741095749e-03
    middle = 2.48015872894767294178e-05 - z * 2.75573143513906633035e-07
    high = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11
    return s, 1.0 - (0.5 * z - zz * (low + zz * (middle + zz * high)))


@kernel
def sine_cosine(x: float) -> tuple[float, float]:
    """sin x and cos x together, within 2e-16, without a library call.

    x = k pi/2 + r, |r| <= pi/4, then the minimax polynomials of both for r.

    Check   tests/engine/spatial/test_angles.py
    """
    if not abs(x) < MANY_TURNS:
        return math.sin(x), math.cos(x)
    k = math.floor(x * PER_QUARTER + 0.5)
    s, c = sine_cosine_of_part((x - k * QUARTER) - k * QUARTER_REST)
    quarter = int(k) & 3
    if quarter & 1:
        s, c = c, -s
    if quarter & 2:
        s, c = -s, -c
    return s, c


@kernel
def small_exponential(phi: Vec3, angle2: float) -> Quaternion:
    """The quaternion of a rotation vector phi below half a radian; angle2 is its square.

    By series in z = (|phi|/2)^2 (next terms < 1e-16):

        sin(x)/x = 1 - z/6 (1 - z/20 (1 - z/42 (1 - z/72 (1 - z/110))))
        cos(x)   = 1 - z/2 (1 - z/12 (1 - z/30 (1 - z/56 (1 - z/90 (1 - z/132)))))
    """
    z = 0.25 * angle2
    s = 1.0 - z * (1.0 / 42.0) * (1.0 - z * (1.0 / 72.0) * (1.0 - z * (1.0 / 110.0)))
    s = 0.5 - z * (1.0 / 12.0) * (1.0 - z * (1.0 / 20.0) * s)
    c = 1.0 - z * (1.0 / 56.0) * (1.0 - z * (1.0 / 90.0) * (1.0 - z * (1.0 / 132.0)))
    c = 1.0 - z * 0.5 * (1.0 - z * (1.0 / 12.0) * (1.0 - z * (1.0 / 30.0) * c))
    return (c, s * phi[0], s * phi[1], s * phi[2])


@kernel
def exponential(phi: Vec3) -> Quaternion:
    """The quaternion of the rotation vector phi [rad]: (cos |phi|/2, sin(|phi|/2) phi/|phi|).

    Below half a radian by series, three times as fast.
    """
    angle2 = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if angle2 < SMALL * SMALL:
        return small_exponential(phi, angle2)
    angle = math.sqrt(angle2)
    s = math.sin(0.5 * angle) / angle
    return (math.cos(0.5 * angle), s * phi[0], s * phi[1], s * phi[2])


@lane_form_of(exponential)
def exponential_of_lanes(phi: Vec3) -> Quaternion:
    """The series where all rotations are small, else lane by lane."""
    angle2 = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    q = small_exponential(phi, angle2)
    if any_of(~(angle2 < SMALL * SMALL)):
        for lane in range(lanes_in(angle2)):
            q = with_lane4(q, lane, exponential(lane3(phi, lane)))
    return q


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


@kernel
def angle_about(axis: Vec3, start: Vec3, end: Vec3) -> float:
    """The angle from `start` to `end` about a unit axis, in the plane normal to it [rad]."""
    return math.atan2(
        dot(axis, cross(start, end)), dot(start, end) - dot(axis, start) * dot(axis, end)
    )
