"""Inertia of every body in world axes."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.mat3 import load33, store_congruent
from engine.spatial.quaternion import load4
from engine.spatial.rotation import matrix
from engine.world.model import DYNAMIC, Bodies
from engine.world.state import State
from engine.world.workspace import Motion


@kernel
def write_world_inertia(bodies: Bodies, state: State, motion: Motion) -> None:
    """I_W = R I_B R^T and its inverse; bodies that cannot move have zero inverse.

    Writes  motion.inertia_W, motion.inverse_inertia_W
    Check   tests/engine/bodies/test_inertia.py
    """
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            R = matrix(load4(state.q_WB, i))
            store_congruent(R, load33(bodies.inertia_B, i), motion.inertia_W, i)
            store_congruent(R, load33(bodies.inverse_inertia_B, i), motion.inverse_inertia_W, i)
        else:
            for j in range(3):
                for k in range(3):
                    motion.inertia_W[i, j, k] = 0.0
                    motion.inverse_inertia_W[i, j, k] = 0.0
