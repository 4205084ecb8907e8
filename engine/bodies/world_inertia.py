"""Inertia of every body in world axes, and how its free spin turns."""

from __future__ import annotations

from engine.bodies.gyroscopic import free_turning
from engine.kernel import kernel
from engine.spatial.mat3 import load33, store_congruent
from engine.spatial.quaternion import load4
from engine.spatial.rotation import matrix
from engine.spatial.vec3 import store3
from engine.world.model import DYNAMIC, Bodies
from engine.world.options import StepOptions
from engine.world.state import State
from engine.world.workspace import Motion

IMPLICIT = 2  # Gyroscopic.IMPLICIT for compiled code


@kernel
def write_world_inertia(bodies: Bodies, state: State, motion: Motion, options: StepOptions) -> None:
    """I^-1 in W, R I_B^-1 R^T (zero for what does not move by itself), and how free spin turns.

    Writes  motion.inverse_inertia_W (n, 3, 3); motion.turning (n, 6): how velocities change
            between kicks (of bodies by themselves; see articulated/kick.py for trees)
    Check   tests/engine/bodies/test_inertia.py
    """
    for i in range(bodies.kind.shape[0]):
        for k in range(6):
            motion.turning[i, k] = 0.0
        if bodies.kind[i] == DYNAMIC and bodies.node[i] < 0:
            if options.gyroscopic == IMPLICIT:
                store3(motion.turning, i, free_turning(bodies, state, i))
            R = matrix(load4(state.q_WB, i))
            store_congruent(R, load33(bodies.inverse_inertia_B, i), motion.inverse_inertia_W, i)
        else:
            for j in range(3):
                for k in range(3):
                    motion.inverse_inertia_W[i, j, k] = 0.0
