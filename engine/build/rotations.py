"""Rotations of the build, on NumPy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spatial.quaternion import conjugate, multiply, rotate
from engine.spatial.rotation import matrix

Array = NDArray[np.float64]


def rotation_matrix(q: Array) -> Array:
    """R(q) (3, 3) of a quaternion [w, x, y, z]."""
    return np.array(matrix(tuple(float(x) for x in q)))


def product(a: Array, b: Array) -> Array:
    """Quaternion product."""
    return np.array(multiply(tuple(map(float, a)), tuple(map(float, b))))


def inverse(q: Array) -> Array:
    """Inverse of a unit quaternion."""
    return np.array(conjugate(tuple(map(float, q))))


def turn(q: Array, v: Array) -> Array:
    """q v q*."""
    return np.array(rotate(tuple(map(float, q)), tuple(map(float, v))))


def unit(v: Array) -> Array:
    """v/|v|; components at the ends of the range of numbers are scaled first."""
    largest = np.abs(v).max()
    scaled = np.asarray(v, dtype=float) / largest
    return scaled / np.linalg.norm(scaled)


def tangents(s: Array) -> tuple[Array, Array]:
    """t1, t2 with (t1, t2, s) right-handed."""
    helper = np.eye(3)[int(np.argmin(np.abs(s)))]
    t1 = unit(np.cross(helper, s))
    return t1, np.cross(s, t1)


def z_to(n: Array) -> Array:
    """A quaternion that turns z into the unit vector n."""
    if n[2] < -1.0 + 1e-15:
        return np.array([0.0, 1.0, 0.0, 0.0])
    q = np.array([1.0 + n[2], -n[1], n[0], 0.0])
    return q / np.linalg.norm(q)
