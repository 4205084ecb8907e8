"""Kinematic bodies that follow poses over time.

At the end of every step such a body has the pose of its motion, and its velocity. It drifts to the
middle of the step as every body does; there, in the kick, its velocity jumps to that at the end of
the step, so that what joints and contacts hand on is of second order in the step.

At a kink that is the mean of both sides, with which joints move what they hold by the trapezoidal
rule. The drift after it has the velocity after it: in the middle the body is where it should be,
and so is what it carries. Friction cannot follow a jump, and a blow in two halves rebounds
otherwise than at once: there contacts see the velocity of one side alone (`lead`), of the piece in
the middle of the step.
"""

from __future__ import annotations

from cardan.engine.bodies.forces import BESIDE
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.prescribed_motion import (
    end_of_step,
    piece_at,
    pose_at,
    velocity_at_end,
    velocity_at_time,
    velocity_of_piece,
)
from cardan.engine.spatial.quaternion import multiply, store4, unit
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import add_scaled, scale, store3
from cardan.engine.world.world import World


@kernel
def drift_motions(world: World) -> None:
    """Poses in the middle of the step: where the velocity just after its start leads.

    Writes  state.p_WB, q_WB of the bodies that follow a motion
    Check   tests/references/test_prescribed.py
    """
    motion, state, h = world.model.prescribed, world.state, world.options.time_step
    start = end_of_step(world) - h
    for m in range(motion.body.shape[0]):
        p, q = pose_at(motion, m, start)
        v, w = velocity_at_time(motion, m, start + BESIDE * h)
        store3(state.p_WB, motion.body[m], add_scaled(p, 0.5 * h, v))
        store4(state.q_WB, motion.body[m], unit(multiply(exponential(scale(0.5 * h, w)), q)))


@kernel
def prescribe_velocities(world: World) -> None:
    """Velocities at the end of the step, after `predict_velocity` noted those before the kick.

    Writes  state.v_WB_W, w_WB_W, motion.velocity_free, lead of the bodies that follow a motion
    Check   tests/references/test_prescribed.py
    """
    motion, state = world.model.prescribed, world.state
    free, lead = world.work.motion.velocity_free, world.work.motion.lead
    end = end_of_step(world)
    middle = end - 0.5 * world.options.time_step
    for m in range(motion.body.shape[0]):
        i = motion.body[m]
        v, w = velocity_at_end(world, m)
        store3(state.v_WB_W, i, v)
        store3(state.w_WB_W, i, w)
        ahead, turning = velocity_of_piece(motion, piece_at(motion, m, middle), end)
        for k in range(3):
            free[i, k], free[i, 3 + k] = w[k], v[k]
            lead[i, k], lead[i, 3 + k] = turning[k] - w[k], ahead[k] - v[k]


@kernel
def prescribe_poses(world: World) -> None:
    """Poses at the end of the step.

    Writes  state.p_WB, q_WB, motion.lead of the bodies that follow a motion
    Check   tests/references/test_prescribed.py
    """
    motion, state, end = world.model.prescribed, world.state, end_of_step(world)
    for m in range(motion.body.shape[0]):
        p, q = pose_at(motion, m, end)
        store3(state.p_WB, motion.body[m], p)
        store4(state.q_WB, motion.body[m], q)
        world.work.motion.lead[motion.body[m], :] = 0.0
