"""Poses and velocities over time that kinematic bodies follow."""

from __future__ import annotations

from cardan.engine.bodies.forces import BESIDE, first_after
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.motor_targets import turning_of
from cardan.engine.spatial.quaternion import Quaternion, load4, multiply, rotate, unit
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, load3, scale
from cardan.engine.world.model import PrescribedMotion
from cardan.engine.world.world import World


@kernel
def piece_at(motion: PrescribedMotion, m: int, time: float) -> int:
    """The piece of motion m at a time; before its first sample -1."""
    start = motion.start[m]
    after = first_after(motion.time, start, motion.start[m + 1], time)
    return after - 1 if after > start else -1


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
def velocity_at_time(motion: PrescribedMotion, m: int, time: float) -> tuple[Vec3, Vec3]:
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
    """Velocities of motion m at the end of the step: the mean of those just before and after."""
    motion, end = world.model.prescribed, end_of_step(world)
    beside = BESIDE * world.options.time_step
    v, w = velocity_at_time(motion, m, end - beside)
    v_after, w_after = velocity_at_time(motion, m, end + beside)
    return scale(0.5, add(v, v_after)), scale(0.5, add(w, w_after))
