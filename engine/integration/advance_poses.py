"""Poses follow velocities."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.quaternion import load4, multiply, store4, unit
from engine.spatial.rotation import exponential
from engine.spatial.vec3 import load3, scale
from engine.world.model import STATIC, Bodies
from engine.world.options import StepOptions
from engine.world.state import State

INFINITESIMAL = 1


@kernel
def advance_poses(bodies: Bodies, state: State, h: float, options: StepOptions) -> None:
    """p += h v;  q <- exp(h w) q (finite) or normalise(q + h/2 w q) (infinitesimal).

    The finite update is exact for a constant angular velocity. The infinitesimal one turns by
    2 atan(h |w|/2) instead of h |w|: too little by (h |w|)^3/12.

    Source  000, orientation update
    Check   tests/engine/test_orientation.py
    """
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == STATIC:
            continue
        for k in range(3):
            state.p_WB[i, k] += h * state.v_WB_W[i, k]
        q = load4(state.q_WB, i)
        phi = scale(h, load3(state.w_WB_W, i))
        if options.orientation_update == INFINITESIMAL:
            turn = (1.0, 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2])
        else:
            turn = exponential(phi)
        # exp is exact, so |q| drifts by rounding only; once per update is enough
        store4(state.q_WB, i, unit(multiply(turn, q)))
