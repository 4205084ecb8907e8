"""Rotations on NumPy arrays, for uncompiled code: the build and commands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rotation_matrix(q: Array) -> Array:
    """R(q) (3, 3) of a unit quaternion [w, x, y, z]."""
    return np.array(_rows(*q.tolist()))


def rotation_matrices(q: Array) -> Array:
    """(m, 3, 3) of unit quaternions (m, 4)."""
    return np.moveaxis(np.array(_rows(*q.T)), 2, 0)


def _rows(w: Any, x: Any, y: Any, z: Any) -> list[list[Any]]:
    """The rows of R(q), of numbers or of arrays."""
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]


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


def cross(a: Array, b: Array) -> Array:
    """a x b of two vectors (3,); `np.cross` costs ten times as much."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def product(a: Array, b: Array) -> Array:
    """Quaternion product."""
    (w, x, y, z), (e, f, g, h) = a.tolist(), b.tolist()
    return np.array(
        [
            w * e - (x * f + y * g + z * h),
            w * f + e * x + (y * h - z * g),
            w * g + e * y + (z * f - x * h),
            w * h + e * z + (x * g - y * f),
        ]
    )


def turned(q: Array, by: Array) -> Array:
    """A unit quaternion turned by a rotation vector of W (3,) [rad]."""
    angle = float(np.linalg.norm(by))
    return product(np.array([np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * by)]), q)


def inverse(q: Array) -> Array:
    """Inverse of a unit quaternion."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def turn(q: Array, v: Array) -> Array:
    """q v q* of one vector (3,)."""
    w, *u = q.tolist()
    return np.array(_turned(w, u, v.tolist()))


def turn_all(q: Array, v: Array) -> Array:
    """q v q* of quaternions (..., 4) and vectors (..., 3), to the bit as `turn` does it."""
    u, of = np.moveaxis(q[..., 1:], -1, 0), np.moveaxis(v, -1, 0)
    return np.stack(_turned(q[..., 0], u, of), axis=-1)


def _turned(w: Any, u: Any, v: Any) -> tuple[Any, Any, Any]:
    """v + w t + u x t with t = 2 u x v, by components."""
    (x, y, z), (a, b, c) = u, v
    r, s, t = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * r + (y * t - z * s), b + w * s + (z * r - x * t), c + w * t + (x * s - y * r)


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
    t1 = unit(cross(helper, s))
    return t1, cross(s, t1)


def z_to(n: Array) -> Array:
    """A quaternion that rotates z to the unit vector n."""
    if n[2] < -1.0 + 1e-15:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + n[2], -n[1], n[0], 0.0])
    return q / np.linalg.norm(q)
