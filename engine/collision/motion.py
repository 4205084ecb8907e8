"""Velocities of posed shapes, from rows of `solids`."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.point import carried
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, load3_from, sub
from cardan.engine.world.collision import CENTRE, TURNING, VELOCITY


@kernel
def point_velocity(solids: NDArray, i: int, p_W: Vec3) -> Vec3:
    """v + w x (p - p_WB) [m/s] of the point of shape i's body at p_W."""
    v = load3_from(solids, i, VELOCITY)
    return carried(v, load3_from(solids, i, TURNING), sub(p_W, load3_from(solids, i, CENTRE)))
