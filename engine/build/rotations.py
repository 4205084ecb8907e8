"""Rotations on NumPy arrays, for uncompiled code: the build and commands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rotation_matrix(q: Array) -> Array:
    """R(q) (3, 3) of a unit quaternion [w, x, y, z]."""
    w, v = q[0], q[1:]
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    result: Array = np.eye(3) + 2.0 * w * skew + 2.0 * (skew @ skew)
    return result


def rotation_matrices(q: Array) -> Array:
    """(m, 3, 3) of unit quaternions (m, 4)."""
    w, x, y, z = q.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def quaternion_of(R: Array) -> Array:
    """The unit quaternion (4,) of a rotation matrix (3, 3); of both the one with w >= 0.

    q q^T is linear in R: its longest row is taken, which is never short.
    """
    xx, yy, zz = R.diagonal()
    K = np.array(
        [
            [1.0 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1.0 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 - xx + yy - zz, R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 - xx - yy + zz],
        ]
    )
    row: Array = K[int(np.argmax(K.diagonal()))]
    return row / np.copysign(np.linalg.norm(row), row[0])


def product(a: Array, b: Array) -> Array:
    """Quaternion product."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([scalar, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def turned(q: Array, by: Array) -> Array:
    """A unit quaternion turned by a rotation vector of W (3,) [rad]."""
    angle = float(np.linalg.norm(by))
    return product(np.array([np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * by)]), q)


def inverse(q: Array) -> Array:
    """Inverse of a unit quaternion."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def turn(q: Array, v: Array) -> Array:
    """q v q*."""
    result: Array = rotation_matrix(q) @ v
    return result


def turn_all(q: Array, v: Array) -> Array:
    """q v q* of quaternions (..., 4), to the bit as `turn` does it."""
    skew = np.zeros((*q.shape[:-1], 3, 3))
    x, y, z = q[..., 1], q[..., 2], q[..., 3]
    skew[..., 0, 1], skew[..., 0, 2], skew[..., 1, 2] = -z, y, -x
    skew[..., 1, 0], skew[..., 2, 0], skew[..., 2, 1] = z, -y, x
    R = np.eye(3) + 2.0 * q[..., :1, None] * skew + 2.0 * (skew @ skew)
    result: Array = R @ v
    return result


def turned_apart(p: Array, q: Array) -> Array:
    """(...) rad: by what angle orientations (..., 4) are turned against each other."""
    half = np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    found: Array = 4.0 * np.arcsin(np.clip(0.5 * half, 0.0, 1.0))
    return found


def unit(v: Array) -> Array:
    """v/|v|; components are scaled first, against overflow and underflow."""
    largest = np.abs(v).max()
    scaled = np.asarray(v, dtype=float) / largest
    return scaled / np.linalg.norm(scaled)


def tangents(s: Array) -> tuple[Array, Array]:
    """t1, t2 with (t1, t2, s) right-handed."""
    helper = np.eye(3)[int(np.argmin(np.abs(s)))]
    t1 = unit(np.cross(helper, s))
    return t1, np.cross(s, t1)


def z_to(n: Array) -> Array:
    """A quaternion that rotates z to the unit vector n."""
    if n[2] < -1.0 + 1e-15:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + n[2], -n[1], n[0], 0.0])
    return q / np.linalg.norm(q)
