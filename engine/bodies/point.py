"""Velocities of body-fixed points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, cross, load3, sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.state import State


@kernel
def carried(v: Vec3, w: Vec3, arm: Vec3) -> Vec3:
    """v + w x arm [m/s] of the point at `arm` [m] from the centre of mass."""
    return add(v, cross(w, arm))


@kernel
def point_velocity(state: State, i: int, p_W: Vec3) -> Vec3:
    """Velocity [m/s] of the point of body i at p_W, W."""
    arm = sub(p_W, load3(state.p_WB, i))
    return carried(load3(state.v_WB_W, i), load3(state.w_WB_W, i), arm)


@kernel
def velocity_at(state: State, velocity: NDArray, i: int, p_W: Vec3) -> Vec3:
    """The same for given velocities of the bodies (n, 6), angular first, W."""
    w = (velocity[i, 0], velocity[i, 1], velocity[i, 2])
    v = (velocity[i, 3], velocity[i, 4], velocity[i, 5])
    return carried(v, w, sub(p_W, load3(state.p_WB, i)))
