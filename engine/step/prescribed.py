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

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.motor_targets import turning_of
from cardan.engine.spatial.quaternion import Quaternion, load4, multiply, rotate, store4, unit
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, load3, scale, store3
from cardan.engine.world.model import PrescribedMotion
from cardan.engine.world.world import World

# share of a step before and after its end where velocities are read: their mean at a kink
BESIDE = 1e-6


@kernel
def piece_at(motion: PrescribedMotion, m: int, time: float) -> int:
    """The piece of motion m at a time; before its first sample -1."""
    low, high = motion.start[m], motion.start[m + 1]
    while low < high:
        middle = (low + high) // 2
        if time < motion.time[middle]:
            high = middle
        else:
            low = middle + 1
    return low - 1 if low > motion.start[m] else -1


@kernel
def turn_at(motion: PrescribedMotion, k: int, s: float) -> tuple[Vec3, Vec3]:
    """Rotation vector s after the start of piece k [rad], and its rate, in the axes of q0."""
    d1 = load3(motion.turning[k], 0)
    d2 = load3(motion.turning[k], 1)
    d3 = load3(motion.turning[k], 2)
    phi = scale(s, add_scaled(d1, s, add_scaled(d2, s, d3)))
    return phi, add_scaled(d1, s, add_scaled(scale(2.0, d2), 3.0 * s, d3))


@kernel
def pose_at(motion: PrescribedMotion, m: int, time: float) -> tuple[Vec3, Quaternion]:
    """Position [m] and orientation of motion m at a time."""
    k, s = piece_at(motion, m, time), 0.0
    if k < 0:
        k = motion.start[m]
    else:
        s = time - motion.time[k]
    p0, p1 = load3(motion.position[k], 0), load3(motion.position[k], 1)
    p2, p3 = load3(motion.position[k], 2), load3(motion.position[k], 3)
    p = add_scaled(p0, s, add_scaled(p1, s, add_scaled(p2, s, p3)))
    turned = multiply(load4(motion.orientation, k), exponential(turn_at(motion, k, s)[0]))
    return p, unit(turned)


@kernel
def velocity_at(motion: PrescribedMotion, m: int, time: float) -> tuple[Vec3, Vec3]:
    """Velocity [m/s] and angular velocity [rad/s] of motion m at a time, W."""
    return velocity_of_piece(motion, piece_at(motion, m, time), time)


@kernel
def velocity_of_piece(motion: PrescribedMotion, k: int, time: float) -> tuple[Vec3, Vec3]:
    """Velocity [m/s] and angular velocity [rad/s] of piece k at a time, also beside it, W."""
    if k < 0:
        return ZERO3, ZERO3
    s = time - motion.time[k]
    p1, p2 = load3(motion.position[k], 1), load3(motion.position[k], 2)
    v = add_scaled(p1, s, add_scaled(scale(2.0, p2), 3.0 * s, load3(motion.position[k], 3)))
    phi, rate = turn_at(motion, k, s)
    return v, rotate(load4(motion.orientation, k), turning_of(phi, rate))


@kernel
def end_of_step(world: World) -> float:
    """Time at the end of this step [s]."""
    return float(world.state.step[0] + 1) * world.options.time_step


@kernel
def velocity_at_end(world: World, m: int) -> tuple[Vec3, Vec3]:
    """`velocity_at` of motion m at the end of the step: the mean of just before and just after."""
    motion, end = world.model.prescribed, end_of_step(world)
    beside = BESIDE * world.options.time_step
    v, w = velocity_at(motion, m, end - beside)
    v_after, w_after = velocity_at(motion, m, end + beside)
    return scale(0.5, add(v, v_after)), scale(0.5, add(w, w_after))


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
        v, w = velocity_at(motion, m, start + BESIDE * h)
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
