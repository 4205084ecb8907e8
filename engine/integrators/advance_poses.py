"""Integration of poses from velocities."""

from __future__ import annotations

from cardan.engine.bodies.gyroscopic import free_rotation, is_round
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import (
    load4,
    multiply,
    rotate,
    rotate_back,
    store4,
    unit,
    unit_again,
)
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import load3, scale, store3
from cardan.engine.world.model import DYNAMIC, STATIC
from cardan.engine.world.options import Gyroscopic, OrientationUpdate
from cardan.engine.world.world import World

INFINITESIMAL = int(OrientationUpdate.INFINITESIMAL)
IMPLICIT = int(Gyroscopic.IMPLICIT)

NOT_AT_ALL = (0.0, 0.0, 0.0)


@kernel
def advance_orientation(world: World, i: int, h: float) -> None:
    """Advance the orientation of one body over h, and its angular velocity in free rotation.

    A body with w = 0 keeps every bit of its orientation.

        implicit gyroscopic term   free flight: L is constant, w = I^-1 L
        else, finite               q <- exp(h w) q, exact for a constant angular velocity
        infinitesimal              q <- normalise(q + h/2 w q): turns by 2 atan(h |w|/2) instead of
                                   h |w|, too little by (h |w|)^3/12; L is kept likewise

    Source  Constraint Notes n.d., orientation update; decision 0003
    Check   tests/laws/test_free_body.py, tests/references/test_wheels.py
    """
    bodies, state, options = world.model.bodies, world.state, world.options
    q, w = load4(state.q_WB, i), load3(state.w_WB_W, i)
    if w == NOT_AT_ALL:
        return
    inertia = load33(bodies.inertia_B, i)
    keeps_L = options.gyroscopic == IMPLICIT and bodies.kind[i] == DYNAMIC and not is_round(inertia)
    if options.orientation_update == INFINITESIMAL:
        q_new = unit(multiply((1.0, 0.5 * h * w[0], 0.5 * h * w[1], 0.5 * h * w[2]), q))
        if keeps_L:
            L = rotate(q, times_vector(inertia, rotate_back(q, w)))
            inverse = load33(bodies.inverse_inertia_B, i)
            store3(state.w_WB_W, i, rotate(q_new, times_vector(inverse, rotate_back(q_new, L))))
    elif keeps_L:
        q_new, w_new, L = free_rotation(bodies, state, i, h)
        store3(state.w_WB_W, i, w_new)
        store3(state.w_drifted, i, w_new)
        store3(state.L_conserved, i, L)
    else:
        # products of unit quaternions drift by rounding only, about 1e-16 a step
        q_new = unit_again(multiply(exponential(scale(h, w)), q))
    store4(state.q_WB, i, q_new)


@kernel
def advance_poses(world: World, h: float) -> None:
    """p += h v, and orientations likewise, over a time without forces; not for bodies of trees."""
    bodies, state = world.model.bodies, world.state
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != STATIC and bodies.node[i] < 0:
            for k in range(3):
                state.p_WB[i, k] += h * state.v_WB_W[i, k]
            advance_orientation(world, i, h)
