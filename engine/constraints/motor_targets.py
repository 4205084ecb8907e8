"""Targets of motors: value and rate at a given time, and the servo's position error."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import mean_about, mean_of_series, slope_at, value_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import along_ball_axis, turned_in_A
from cardan.engine.spatial.quaternion import Quaternion, conjugate, multiply
from cardan.engine.spatial.rotation import exponential, logarithm
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, scale
from cardan.engine.world.model import BALL, Joints, Model
from cardan.engine.world.state import State
from cardan.engine.world.world import World


@kernel
def is_moving(state: State, model: Model, j: int, axis: int) -> bool:
    """Whether the target is a series that is interpolated linearly, and not commanded."""
    targets, table = model.targets, model.joints.motor_table[j, axis]
    series = targets.count[table] > 1 and targets.is_step[table] == 0
    return bool(series and math.isnan(state.motor_target[j, axis]))


@kernel
def largest_force(state: State, model: Model, j: int, axis: int) -> float:
    """The largest force of a motor [N or N m]: commanded, or the scene's."""
    commanded = state.motor_max_force[j, axis]
    return model.joints.motor_max_force[j, axis] if math.isnan(commanded) else commanded


@kernel
def target_at(state: State, model: Model, j: int, axis: int, time: float, width: float) -> float:
    """The target of a motor: commanded, or the scene's at this time.

    Between two kicks the velocity is constant, so the position at the end of a step is the mean of
    the positions in the middle of this step and of the next. With the step as `width`, the result
    is the mid-step position for which these means equal the targets, with an error of
    (omega width)^6/64 for a target of angular frequency omega. Step functions and commands are
    returned unchanged.

    Source  decision 0128
    """
    if not is_moving(state, model, j, axis):
        commanded = state.motor_target[j, axis]
        if not math.isnan(commanded):
            return commanded
        return value_at(model.targets, model.joints.motor_table[j, axis], time)
    targets, table = model.targets, model.joints.motor_table[j, axis]
    if width == 0.0:
        return value_at(targets, table, time)
    at1, at3, at5 = 0.5 * width, 1.5 * width, 2.5 * width
    near = value_at(targets, table, time - at1) + value_at(targets, table, time + at1)
    next_ = value_at(targets, table, time - at3) + value_at(targets, table, time + at3)
    far = value_at(targets, table, time - at5) + value_at(targets, table, time + at5)
    return (22.0 * near - 7.0 * next_ + far) / 32.0


@kernel
def mean_target(state: State, model: Model, j: int, axis: int, middle: float, h: float) -> float:
    """The target of a motor that pushes: commanded, or the mean of the scene's over the step."""
    commanded = state.motor_target[j, axis]
    if not math.isnan(commanded):
        return commanded
    return mean_about(model.targets, model.joints.motor_table[j, axis], middle, h)


@kernel
def is_stepped(state: State, model: Model, j: int, axis: int) -> bool:
    """Whether the target of a motor is a step function, and no command has replaced it."""
    targets, table = model.targets, model.joints.motor_table[j, axis]
    steps = targets.count[table] > 1 and targets.is_step[table] == 1
    return bool(steps and math.isnan(state.motor_target[j, axis]))


@kernel
def speed_over(state: State, model: Model, j: int, axis: int, begin: float, end: float) -> float:
    """The speed that a velocity motor without a bound keeps over half a step.

    Of a step function that jumps within it the mean: the coordinate is then right at the end. Of
    all others the target at its end, which is the middle of what the speed is kept for.
    """
    if is_stepped(state, model, j, axis):
        return mean_of_series(model.targets, model.joints.motor_table[j, axis], begin, end)
    return target_at(state, model, j, axis, end, 0.0)


@kernel
def speed_jumps(world: World, j: int, axis: int) -> bool:
    """Whether `speed_over` the first half of a step differs from that over the half before it."""
    state, model, h = world.state, world.model, world.options.time_step
    if state.step[0] == 0 or not is_stepped(state, model, j, axis):
        return False
    now = state.time[0]
    before = speed_over(state, model, j, axis, now - 0.5 * h, now)
    return before != speed_over(state, model, j, axis, now, now + 0.5 * h)


@kernel
def rate_at(state: State, model: Model, j: int, axis: int, time: float, width: float) -> float:
    """The rate of target_at [m/s or rad/s]: over the step that begins, or at this time (width 0).

    0 for step functions and commands.
    """
    if not is_moving(state, model, j, axis):
        return 0.0
    if width == 0.0:
        return slope_at(model.targets, model.joints.motor_table[j, axis], time)
    now = target_at(state, model, j, axis, time, width)
    return (target_at(state, model, j, axis, time + width, width) - now) / width


@kernel
def along_axes(joints: Joints, j: int, components: Vec3) -> Vec3:
    """A vector in A's axes, from its components along the three axes of a ball joint."""
    t1, t2 = load3(joints.tangent1_A, j), load3(joints.tangent2_A, j)
    vector = add_scaled(scale(components[0], t1), components[1], t2)
    return add_scaled(vector, components[2], cross(t1, t2))


@kernel
def aim_at(state: State, model: Model, j: int, time: float, width: float) -> Vec3:
    """Rotation vector of the target of a ball joint, in A's axes [rad]."""
    x = target_at(state, model, j, 0, time, width)
    y = target_at(state, model, j, 1, time, width)
    z = target_at(state, model, j, 2, time, width)
    return along_axes(model.joints, j, (x, y, z))


@kernel
def turning_of(phi: Vec3, rate: Vec3) -> Vec3:
    """Angular velocity of the rotation exp(phi) for a given rate of phi, in the fixed axes [rad/s].

    phi' + (1 - cos a)/a^2 phi x phi' + (a - sin a)/a^3 phi x (phi x phi'),  a = |phi|

    Source  Bullo and Murray 1995, the left Jacobian of SO(3)
    """
    square = dot(phi, phi)
    first, second = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    if square > 1e-6:
        angle = math.sqrt(square)
        first = (1.0 - math.cos(angle)) / square
        second = (angle - math.sin(angle)) / (square * angle)
    once = cross(phi, rate)
    return add_scaled(add_scaled(rate, first, once), second, cross(phi, once))


@kernel
def turn_between(to: Quaternion, start: Quaternion) -> Vec3:
    """Rotation vector from one orientation to another, in the fixed axes [rad]."""
    return logarithm(multiply(to, conjugate(start)))


@kernel
def position_error(
    state: State, model: Model, j: int, axis: int, time: float, width: float
) -> float:
    """How far a coordinate is from the target of its position motor [m or rad].

    The three targets of a ball joint form one rotation vector: the error is the rotation vector
    from the target orientation of B to its present one, along the axes of the joint.
    """
    joints = model.joints
    if joints.kind[j] != BALL:
        return state.joint_q[j, axis] - target_at(state, model, j, axis, time, width)
    aim = exponential(aim_at(state, model, j, time, width))
    return along_ball_axis(joints, j, axis, turn_between(turned_in_A(joints, state, j), aim))


@kernel
def soft_error(state: State, model: Model, j: int, axis: int, middle: float, h: float) -> float:
    """Error of a drive with a stiffness in the middle of a step [m or rad], as `position_error`.

    The target is its mean over the step where it jumps within it.
    """
    mean = mean_target(state, model, j, axis, middle, h)
    if model.joints.kind[j] != BALL:
        return state.joint_q[j, axis] - mean
    error = position_error(state, model, j, axis, middle, 0.0)
    return error + (target_at(state, model, j, axis, middle, 0.0) - mean)


@kernel
def position_rate(
    state: State, model: Model, j: int, axis: int, time: float, width: float
) -> float:
    """Speed of a coordinate that follows the target of its position motor [m/s or rad/s]."""
    joints = model.joints
    if joints.kind[j] != BALL:
        return rate_at(state, model, j, axis, time, width)
    if not is_moving(state, model, j, axis):
        return 0.0
    aim = aim_at(state, model, j, time, width)
    if width > 0.0:
        next_aim = exponential(aim_at(state, model, j, time + width, width))
        turned = scale(1.0 / width, turn_between(next_aim, exponential(aim)))
        return along_ball_axis(joints, j, axis, turned)
    x = rate_at(state, model, j, 0, time, 0.0)
    y = rate_at(state, model, j, 1, time, 0.0)
    z = rate_at(state, model, j, 2, time, 0.0)
    turning = turning_of(aim, along_axes(joints, j, (x, y, z)))
    return along_ball_axis(joints, j, axis, turning)
