"""Check that poses and velocities are finite and within the range of the computation."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import Bodies
from cardan.engine.world.state import State

# [m, m/s, rad/s] beyond this value squares and rotations have no significant digits
LARGEST = 1e30


@kernel
def first_bad_body(bodies: Bodies, state: State) -> int:
    """The first body whose pose or velocity is not finite or beyond LARGEST, or -1."""
    for i in range(bodies.kind.shape[0]):
        total = 0.0
        for k in range(3):
            total += abs(state.p_WB[i, k]) + abs(state.v_WB_W[i, k]) + abs(state.w_WB_W[i, k])
            total += abs(state.q_WB[i, k])
        # also false for nan
        if not total < LARGEST:
            return i
    return -1
