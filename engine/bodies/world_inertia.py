"""Inverse inertia of every body in world axes, and its gyroscopic acceleration."""

from __future__ import annotations

from cardan.engine.bodies.gyroscopic import gyroscopic_acceleration_in, is_round
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import load33, store33, store_congruent
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import ZERO3, load3, store3
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import Gyroscopic
from cardan.engine.world.world import World

IMPLICIT = int(Gyroscopic.IMPLICIT)


@kernel
def write_world_inertia(world: World) -> None:
    """I^-1 in W, R I_B^-1 R^T (zero unless dynamic), and the gyroscopic acceleration of every body.

    Writes  motion.inverse_inertia_W (n, 3, 3); motion.bias_acceleration (n, 6): accelerations
            between kicks, of bodies outside trees (see trees/impulses.py for trees)
    Check   tests/engine/bodies/test_inertia.py
    """
    bodies, state, motion = world.model.bodies, world.state, world.work.motion
    for i in range(bodies.kind.shape[0]):
        for k in range(6):
            motion.bias_acceleration[i, k] = 0.0
        inertia, inverse = load33(bodies.inertia_B, i), load33(bodies.inverse_inertia_B, i)
        if bodies.kind[i] != DYNAMIC or bodies.node[i] >= 0:
            store33(motion.inverse_inertia_W, i, (ZERO3, ZERO3, ZERO3))
        elif is_round(inertia):
            store33(motion.inverse_inertia_W, i, inverse)
        else:
            R = matrix(load4(state.q_WB, i))
            if world.options.gyroscopic == IMPLICIT:
                turning = gyroscopic_acceleration_in(R, inertia, inverse, load3(state.w_WB_W, i))
                store3(motion.bias_acceleration, i, turning)
            store_congruent(R, inverse, motion.inverse_inertia_W, i)
