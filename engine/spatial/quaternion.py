"""Unit quaternions as tuples (w, x, y, z): Hamilton product, active, q_WB maps B to W."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import any_of, lane_form_of, lane_of, lanes_in, with_lane
from cardan.engine.spatial.vec3 import Vec3

Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)

# quaternions are normalised to first order where | |q|^2 - 1 | is below this: the relative error,
# 3/8 of its square, is below rounding
NEARLY = 1e-8


@kernel
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product a b."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def conjugate(q: Quaternion) -> Quaternion:
    """The inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def rotate(q: Quaternion, v: Vec3) -> Vec3:
    """q v q*: components of v in W when v is given in B and q is q_WB."""
    tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
    ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
    tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
    return (
        v[0] + q[0] * tx + q[2] * tz - q[3] * ty,
        v[1] + q[0] * ty + q[3] * tx - q[1] * tz,
        v[2] + q[0] * tz + q[1] * ty - q[2] * tx,
    )


@kernel
def rotate_back(q: Quaternion, v: Vec3) -> Vec3:
    """q* v q: components of v in B when v is given in W and q is q_WB."""
    return rotate((q[0], -q[1], -q[2], -q[3]), v)


@kernel
def unit(q: Quaternion) -> Quaternion:
    """q / |q|; the zero quaternion becomes the identity."""
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n > 0.0:
        return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)
    return (1.0, 0.0, 0.0, 0.0)


@kernel
def nearly_unit(q: Quaternion) -> Quaternion:
    """q / |q| where |q| is 1 but for rounding: 1/sqrt(x) = (3 - x)/2 to first order in x - 1.

    The relative error, 3/8 (x - 1)^2, is below rounding for |x - 1| < NEARLY. It avoids the
    latency of a root and a division.
    """
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3]))
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@kernel
def lane4(q: Quaternion, lane: int) -> Quaternion:
    """The quaternion in one lane."""
    return lane_of(q[0], lane), lane_of(q[1], lane), lane_of(q[2], lane), lane_of(q[3], lane)


@kernel
def with_lane4(q: Quaternion, lane: int, one: Quaternion) -> Quaternion:
    """Quaternions with another one in one lane."""
    return (
        with_lane(q[0], lane, one[0]),
        with_lane(q[1], lane, one[1]),
        with_lane(q[2], lane, one[2]),
        with_lane(q[3], lane, one[3]),
    )


@kernel
def unit_again(q: Quaternion) -> Quaternion:
    """The unit quaternion along q; without a root or a division where q nearly is one."""
    n = q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3])
    return nearly_unit(q) if abs(n - 1.0) < NEARLY else unit(q)


@lane_form_of(unit_again)
def unit_again_of_lanes(q: Quaternion) -> Quaternion:
    """The unit quaternion: to first order where all are nearly of length 1, else lane by lane."""
    n = q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3])
    found = nearly_unit(q)
    if any_of(~(abs(n - 1.0) < NEARLY)):
        for lane in range(lanes_in(n)):
            found = with_lane4(found, lane, unit_again(lane4(q, lane)))
    return found


@kernel
def load4(array: NDArray, i: int) -> Quaternion:
    """Row i of an (n, 4) array as a tuple."""
    return (array[i, 0], array[i, 1], array[i, 2], array[i, 3])


@kernel
def store4(array: NDArray, i: int, q: Quaternion) -> None:
    """Write a tuple into row i of an (n, 4) array."""
    array[i, 0] = q[0]
    array[i, 1] = q[1]
    array[i, 2] = q[2]
    array[i, 3] = q[3]
