"""Vectors of three floats as tuples (x, y, z)."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import lane_of

Vec3 = tuple[float, float, float]
ZERO3: Vec3 = (0.0, 0.0, 0.0)


@kernel
def add(a: Vec3, b: Vec3) -> Vec3:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a: Vec3, b: Vec3) -> Vec3:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def lane3(x: Vec3, lane: int) -> Vec3:
    """The vector in one lane."""
    return lane_of(x[0], lane), lane_of(x[1], lane), lane_of(x[2], lane)


@kernel
def scale(s: float, a: Vec3) -> Vec3:
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def add_scaled(a: Vec3, s: float, b: Vec3) -> Vec3:
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@kernel
def negate(a: Vec3) -> Vec3:
    """-a."""
    return (-a[0], -a[1], -a[2])


@kernel
def dot(a: Vec3, b: Vec3) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vec3, b: Vec3) -> Vec3:
    """a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def norm(a: Vec3) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def normalised(a: Vec3) -> Vec3:
    """a / |a|; the zero vector stays zero."""
    length = norm(a)
    if length > 0.0:
        return (a[0] / length, a[1] / length, a[2] / length)
    return a


@kernel
def perpendicular(n: Vec3) -> Vec3:
    """A unit vector perpendicular to the unit vector n, a function of n alone."""
    if abs(n[0]) < 0.57735026918962573:
        return normalised((0.0, n[2], -n[1]))
    return normalised((n[1], -n[0], 0.0))


@kernel
def tangents_of(n: Vec3) -> tuple[Vec3, Vec3]:
    """Unit t1, t2 perpendicular to the unit vector n, with t1 x t2 = n; a function of n alone."""
    t1 = perpendicular(n)
    return t1, cross(n, t1)


@kernel
def load3(array: NDArray, i: int) -> Vec3:
    """Row i of an (n, 3) array as a tuple."""
    return (array[i, 0], array[i, 1], array[i, 2])


@kernel
def load3_from(array: NDArray, i: int, column: int) -> Vec3:
    """Three numbers of row i, from a column on, as a tuple."""
    return (array[i, column], array[i, column + 1], array[i, column + 2])


@kernel
def slice3(array: NDArray, k: int) -> Vec3:
    """Three numbers of a vector, from k on, as a tuple."""
    return (array[k], array[k + 1], array[k + 2])


@kernel
def store3(array: NDArray, i: int, a: Vec3) -> None:
    """Write a tuple into row i of an (n, 3) array."""
    array[i, 0] = a[0]
    array[i, 1] = a[1]
    array[i, 2] = a[2]


@kernel
def store3_from(array: NDArray, i: int, column: int, a: Vec3) -> None:
    """Write a tuple into row i, from a column on."""
    array[i, column] = a[0]
    array[i, column + 1] = a[1]
    array[i, column + 2] = a[2]
