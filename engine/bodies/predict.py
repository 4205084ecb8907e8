"""Where would forces alone lead."""

from __future__ import annotations

from engine.bodies.forces import write_forces
from engine.bodies.gyroscopic import explicit_spin, free_spin
from engine.kernel import kernel
from engine.spatial.mat3 import load33, times_vector
from engine.spatial.vec3 import Vec3, add, load3, norm, scale, sub
from engine.world.model import DYNAMIC, Model
from engine.world.options import StepOptions
from engine.world.state import State
from engine.world.workspace import Motion

# Gyroscopic.IMPLICIT and EXPLICIT as plain numbers for compiled code
EXPLICIT, IMPLICIT = 1, 2


@kernel
def expected_impulse(state: State, motion: Motion, i: int) -> Vec3:
    """The constraint torque impulse to expect: the last step's, unless it was a blow.

    A blow (one that changed the angular velocity by more than a quarter) is not repeated.
    """
    last = load3(state.angular_impulse_W, i)
    change = times_vector(load33(motion.inverse_inertia_W, i), last)
    if norm(change) > 0.25 * norm(load3(state.w_WB_W, i)):
        return (0.0, 0.0, 0.0)
    return last


@kernel
def predict_velocity(model: Model, state: State, motion: Motion, options: StepOptions) -> None:
    """v_free = v + h (g + f/m);  w_free from the balance of angular momentum.

    The implicit gyroscopic term depends on the velocity after the step, constraint torques
    included. Those of the last step stand in for them: the balance is solved with their impulse P
    and I^-1 P is taken off again, which leaves an error of second order only.

    Reads   poses at the middle of the step, velocities before it
    Writes  motion.velocity_old, velocity_free (n, 6) angular first, W; motion.wrench, gyroscopic
    Source  physics.md "One step"; decision 0003
    Check   tests/laws/test_free_body.py, tests/references/test_heavy_top.py
    """
    h = options.time_step
    bodies = model.bodies
    write_forces(model, state, state.time[0] + 0.5 * h, motion)
    for i in range(bodies.kind.shape[0]):
        for k in range(3):
            motion.velocity_old[i, k] = state.w_WB_W[i, k]
            motion.velocity_old[i, 3 + k] = state.v_WB_W[i, k]
            motion.velocity_free[i, k] = state.w_WB_W[i, k]
            motion.velocity_free[i, 3 + k] = state.v_WB_W[i, k]
            motion.gyroscopic[i, k] = 0.0
        if bodies.kind[i] != DYNAMIC:
            continue
        for k in range(3):
            acceleration = state.gravity_W[k] + motion.wrench[i, 3 + k] * bodies.inverse_mass[i]
            motion.velocity_free[i, 3 + k] += h * acceleration
        torque = scale(h, (motion.wrench[i, 0], motion.wrench[i, 1], motion.wrench[i, 2]))
        inverse_inertia = load33(motion.inverse_inertia_W, i)
        if options.gyroscopic == IMPLICIT:
            P = expected_impulse(state, motion, i)
            w = free_spin(bodies, state, i, add(torque, P), h)
            w = sub(w, times_vector(inverse_inertia, P))
        else:
            w = explicit_spin(bodies, state, i, torque, h, options.gyroscopic == EXPLICIT)
        change = sub(w, load3(state.w_WB_W, i))
        gyroscopic = sub(times_vector(load33(motion.inertia_W, i), change), torque)
        for k in range(3):
            motion.velocity_free[i, k] = w[k]
            motion.gyroscopic[i, k] = gyroscopic[k]
