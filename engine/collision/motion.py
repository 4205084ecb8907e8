"""Velocities of posed shapes, from rows of `solids`."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.point import carried
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, sub
from cardan.engine.world.collision import CENTRE, TURNING, VELOCITY


@kernel
def load3_at(array: NDArray, i: int, column: int) -> Vec3:
    """Three columns of row i."""
    return (array[i, column], array[i, column + 1], array[i, column + 2])


@kernel
def store3_at(array: NDArray, i: int, column: int, a: Vec3) -> None:
    """Write three columns of row i."""
    array[i, column] = a[0]
    array[i, column + 1] = a[1]
    array[i, column + 2] = a[2]


@kernel
def point_velocity(solids: NDArray, i: int, p_W: Vec3) -> Vec3:
    """v + w x (p - p_WB) [m/s] of the point of shape i's body at p_W."""
    v = load3_at(solids, i, VELOCITY)
    return carried(v, load3_at(solids, i, TURNING), sub(p_W, load3_at(solids, i, CENTRE)))
