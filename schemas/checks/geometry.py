"""Vectors, and sizes of shapes, as far as validation needs them."""

import math
from typing import Any

import numpy as np

from cardan.schemas.shape import (
    Bowl,
    Box,
    Capsule,
    Cone,
    Convex,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    Plane,
    Ring,
    Shape,
    Sphere,
    Tube,
)

# share of the extent: of points in single precision, those of one plane lie beside it by less
FLAT = 1e-5
Vector = tuple[float, float, float]


def rotate(orientation: tuple[float, float, float, float], vector: Vector) -> Vector:
    """Return R(q) v: body coordinates to world, q = [w, x, y, z] of unit length."""
    w, *axis = orientation
    twice = [2.0 * value for value in cross(axis, vector)]
    turned = cross(axis, twice)
    x, y, z = (vector[k] + w * twice[k] + turned[k] for k in range(3))
    return (x, y, z)


def unit(vector: Vector) -> Vector:
    """Return a vector of length 1 in the same direction; the vector must not be zero."""
    length = math.hypot(*vector)
    return (vector[0] / length, vector[1] / length, vector[2] / length)


def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Any, b: Any) -> list[float]:
    """Return the vector product."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def bounding_radius(shape: Shape) -> float:
    """Return the radius of a ball about the body origin that holds the shape; 0 of a plane [m]."""
    return math.hypot(*shape.position) + _own_radius(shape)


def _own_radius(shape: Shape) -> float:
    match shape:
        case Sphere():
            return shape.radius
        case Box():
            return 0.5 * math.hypot(*shape.size)
        case Capsule():
            return shape.radius + 0.5 * shape.length
        case Cylinder() | Cone():
            return math.hypot(shape.radius, 0.5 * shape.length)
        case Ellipsoid():
            return max(shape.radii)
        case Tube() | Ring() | Bowl():
            return _hollow_radius(shape)
        case Convex():
            return _farthest(shape.points)
        case Mesh():
            return _farthest(shape.vertices)
        case Heightfield():
            highest = max((abs(h) for row in shape.heights for h in row), default=0.0)
            return math.hypot(0.5 * shape.size[0], 0.5 * shape.size[1], highest)
        case Plane():
            return 0.0


def _hollow_radius(shape: Tube | Ring | Bowl) -> float:
    match shape:
        case Tube():
            return math.hypot(shape.outer_radius, 0.5 * shape.length)
        case Ring():
            return shape.major_radius + shape.minor_radius
        case Bowl():
            return shape.outer_radius


def _farthest(points: tuple[Vector, ...]) -> float:
    return float(np.linalg.norm(np.asarray(points), axis=1).max())


def is_flat(points: tuple[Vector, ...]) -> bool:
    """Return whether all points lie in one plane, within FLAT of their extent."""
    centred = np.asarray(points, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    extents = np.ptp(centred @ axes.T, axis=0)
    return len(extents) < 3 or bool(extents[2] <= FLAT * extents[0])
