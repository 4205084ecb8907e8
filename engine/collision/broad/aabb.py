"""Pose every shape and bound it."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import IDENTITY, Quaternion, load4, multiply, rotate
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, load3
from cardan.engine.world.collision import (
    BOUND,
    FACE_COUNT,
    FACE_START,
    KIND,
    POINT_COUNT,
    POINT_START,
    POSITION,
    RADIUS,
    ROTATION,
    SIZE,
)
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    MESH,
    PLANE,
    RING,
    SPHERE,
    TUBE,
    Shapes,
)


@kernel
def pose_shape(
    shapes: Shapes, i: int, p_WB: Vec3, q_WB: Quaternion, solids: NDArray, points: NDArray
) -> None:
    """Write shape i, carried by a body at p_WB, q_WB, into row i of `solids` and into `points`."""
    q_BS, p_BS = load4(shapes.q_BS, i), load3(shapes.p_BS, i)
    # most shapes are centred on their bodies
    R = matrix(q_WB if q_BS == IDENTITY else multiply(q_WB, q_BS))
    p_WS = p_WB if p_BS == ZERO3 else add(p_WB, rotate(q_WB, p_BS))
    kind = shapes.kind[i]
    solids[i, KIND] = kind
    for k in range(3):
        solids[i, SIZE + k] = shapes.size[i, k]
        solids[i, POSITION + k] = p_WS[k]
        row = R[k]
        for j in range(3):
            solids[i, ROTATION + 3 * k + j] = row[j]
    solids[i, POINT_START] = shapes.mesh[i] if kind == MESH else shapes.point_start[i]
    solids[i, POINT_COUNT] = shapes.point_count[i]
    solids[i, FACE_START] = shapes.face_start[i]
    solids[i, FACE_COUNT] = shapes.face_count[i]
    solids[i, RADIUS] = shapes.size[i, 0] if kind in (SPHERE, CAPSULE) else 0.0
    if kind == RING:
        solids[i, RADIUS] = shapes.size[i, 1]
    solids[i, BOUND] = shapes.bounding_radius[i]
    if kind == CONVEX:
        for j in range(shapes.point_start[i], shapes.point_start[i] + shapes.point_count[i]):
            x = load3(shapes.points, j)
            for k in range(3):
                row = R[k]
                points[j, k] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2]


@kernel
def half_extent(solids: NDArray, i: int, k: int) -> float:
    """Half the width of a symmetric shape (of a bowl its ball) along world axis k [m].

    The width of a shape along e is the support of R^T e; row k of R is R^T e_k.
    """
    kind = int(solids[i, KIND])
    x = abs(solids[i, ROTATION + 3 * k])
    y = abs(solids[i, ROTATION + 3 * k + 1])
    z = abs(solids[i, ROTATION + 3 * k + 2])
    a, b, c = solids[i, SIZE], solids[i, SIZE + 1], solids[i, SIZE + 2]
    if kind in (SPHERE, BOWL):
        return float(a)
    if kind == RING:
        return float(a * math.sqrt(x * x + y * y) + b)
    if kind in (BOX, MESH):
        return float(a * x + b * y + c * z)
    if kind == CAPSULE:
        return float(a + b * z)
    if kind in (CYLINDER, CONE, TUBE):
        return float(a * math.sqrt(x * x + y * y) + b * z)
    return math.sqrt(a * a * x * x + b * b * y * y + c * c * z * z)


@kernel
def write_bounds(solids: NDArray, points: NDArray, i: int, lower: NDArray, upper: NDArray) -> None:
    """Smallest and largest coordinates of posed shape i [m]; planes have no bounds."""
    kind = int(solids[i, KIND])
    if kind == PLANE:
        for k in range(3):
            lower[i, k] = -math.inf
            upper[i, k] = math.inf
    elif kind == CONVEX:
        start = int(solids[i, POINT_START])
        for k in range(3):
            least = math.inf
            most = -math.inf
            for j in range(start, start + int(solids[i, POINT_COUNT])):
                least = min(least, points[j, k])
                most = max(most, points[j, k])
            lower[i, k] = solids[i, POSITION + k] + least
            upper[i, k] = solids[i, POSITION + k] + most
    else:
        for k in range(3):
            half = half_extent(solids, i, k)
            lower[i, k] = solids[i, POSITION + k] - half
            upper[i, k] = solids[i, POSITION + k] + half


@kernel
def sweep_bounds(
    i: int, p_WB: Vec3, motion: Vec3, turn: float, reach: float, lower: NDArray, upper: NDArray
) -> None:
    """Extend the bounds of shape i by the motion of its body in one step.

    Reads   p_WB   [m]    centre of mass
            motion [m]    v h of the centre of mass
            turn   [rad]  |w| h
            reach  [m]    largest distance of a point of the shape from the centre of mass
            A rotation moves a point by at most turn * reach, and within the sphere of that radius.
    """
    for k in range(3):
        lower[i, k] = max(lower[i, k] - turn * reach, min(lower[i, k], p_WB[k] - reach))
        upper[i, k] = min(upper[i, k] + turn * reach, max(upper[i, k], p_WB[k] + reach))
        lower[i, k] += min(0.0, motion[k])
        upper[i, k] += max(0.0, motion[k])
