"""How fast a point of a body moves."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, add, cross, load3, sub
from engine.world.state import State


@kernel
def velocity_at(state: State, velocity: NDArray, i: int, p_W: Vec3) -> Vec3:
    """v + w x (p - p_WB) [m/s] of body i; velocity (n, 6): angular first, W."""
    w = (velocity[i, 0], velocity[i, 1], velocity[i, 2])
    v = (velocity[i, 3], velocity[i, 4], velocity[i, 5])
    return add(v, cross(w, sub(p_W, load3(state.p_WB, i))))
