"""Rotations as the scene writes them, and the pose of a part in the frame of its body."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def product(a: Any, b: Any) -> Floats:
    """Hamilton product of quaternions [w, x, y, z]."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def conjugate(q: Any) -> Floats:
    """The reverse rotation."""
    return np.array([q[0], -q[1], -q[2], -q[3]])


def rotate(q: Any, vector: Any) -> Floats:
    """R(q) v."""
    turned = product(product(q, np.array([0.0, *vector])), conjugate(q))
    return turned[1:]


def rotation_vector(q: Any) -> Floats:
    """Angle times axis of the shorter turn [rad]."""
    w, axis = q[0], np.asarray(q[1:], dtype=np.float64)
    if w < 0.0:
        w, axis = -w, -axis
    sine = float(np.linalg.norm(axis))
    # 2 asin(s) / s -> 2 for small turns
    return axis * (2.0 if sine < 1e-12 else 2.0 * np.arctan2(sine, w) / sine)
