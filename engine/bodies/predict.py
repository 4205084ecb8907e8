"""Velocities after the kick of forces, without constraints."""

from __future__ import annotations

from cardan.engine.bodies.forces import write_forces
from cardan.engine.bodies.gyroscopic import gyroscopic_acceleration
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.vec3 import add_scaled, scale
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import Gyroscopic
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Motion
from cardan.engine.world.world import World

EXPLICIT = int(Gyroscopic.EXPLICIT)


@kernel
def hold_velocity(state: State, motion: Motion, i: int) -> None:
    """v_free = v of body i, and no jump: no force and no impact has acted on it.

    Writes  motion.velocity_old, velocity_free, jump
    """
    for k in range(3):
        motion.velocity_old[i, k] = state.w_WB_W[i, k]
        motion.velocity_old[i, 3 + k] = state.v_WB_W[i, k]
        motion.velocity_free[i, k] = state.w_WB_W[i, k]
        motion.velocity_free[i, 3 + k] = state.v_WB_W[i, k]
        motion.jump[i, k] = 0.0
        motion.jump[i, 3 + k] = 0.0


@kernel
def predict_velocity(world: World) -> None:
    """v_free = v + h (g + f/m),  w_free = w + h I^-1 torque.

    The gyroscopic term is included only with Gyroscopic.EXPLICIT: by default it is part of the
    motion between the kicks (integrators/advance_poses.py).

    Reads   poses and velocities in the middle of the step
    Writes  motion.velocity_old, velocity_free (n, 6) angular first, W; motion.wrench, jump = 0
    Source  Newton-Euler equations, Constraint Notes n.d.; decision 0003
    Check   tests/laws/test_free_body.py
    """
    state, motion, bodies, h = world.state, world.work.motion, world.model.bodies, world.clock.h[0]
    write_forces(world.model, state, state.time[0] + 0.5 * h, h, motion)
    for i in range(bodies.kind.shape[0]):
        hold_velocity(state, motion, i)
        if bodies.kind[i] != DYNAMIC:
            continue
        torque = (motion.wrench[i, 0], motion.wrench[i, 1], motion.wrench[i, 2])
        change = scale(h, times_vector(load33(motion.inverse_inertia_W, i), torque))
        if world.options.gyroscopic == EXPLICIT:
            change = add_scaled(change, h, gyroscopic_acceleration(bodies, state, i))
        for k in range(3):
            acceleration = state.gravity_W[k] + motion.wrench[i, 3 + k] * bodies.inverse_mass[i]
            motion.velocity_free[i, k] += change[k]
            motion.velocity_free[i, 3 + k] += h * acceleration
