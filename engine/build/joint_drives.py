"""Limits, motors and springs of joints to arrays."""

from __future__ import annotations

from typing import Any

from cardan.engine.build.targets import TargetTable
from cardan.engine.world.model import MOTOR_FORCE, MOTOR_POSITION, MOTOR_VELOCITY, Joints

MOTOR_KINDS = {"velocity": MOTOR_VELOCITY, "position": MOTOR_POSITION, "force": MOTOR_FORCE}
LIMITS = ("limits", "limits2", "limits3")
MOTORS = ("motor", "motor2", "motor3")


def stiffness_terms(stiffness: Any) -> tuple[float, float, float]:
    """k or [k1, k2, k3] as three numbers."""
    if stiffness is None:
        return (0.0, 0.0, 0.0)
    if isinstance(stiffness, tuple):
        k1, k2, k3 = stiffness
        return (k1, k2, k3)
    return (float(stiffness), 0.0, 0.0)


def write_limits(joints: Joints, j: int, axis: int, limits: Any) -> None:
    """Write the limits of one coordinate; for a ball joint 0 is the swing and 1 the twist."""
    joints.limit_on[j, axis] = 1
    if limits.lower is not None:
        joints.limit_lower[j, axis] = limits.lower
    if limits.upper is not None:
        joints.limit_upper[j, axis] = limits.upper
    write_softness(joints, j, axis, limits)


def write_softness(joints: Joints, j: int, axis: int, limits: Any) -> None:
    """Write stiffness, damping and restitution of a stop."""
    joints.limit_restitution[j, axis] = limits.restitution
    joints.limit_stiffness[j, axis] = stiffness_terms(limits.stiffness)
    joints.limit_damping[j, axis] = limits.damping or 0.0


def write_ball_limits(joints: Joints, j: int, limits: Any) -> None:
    """Write swing and twist limits of a ball joint."""
    for axis, upper in enumerate((limits.swing, limits.twist)):
        if upper is not None:
            joints.limit_on[j, axis] = 1
            joints.limit_upper[j, axis] = upper
            joints.limit_lower[j, axis] = -upper
            write_softness(joints, j, axis, limits)


def write_motor(joints: Joints, j: int, axis: int, motor: Any, table: int) -> None:
    """Write the motor of one coordinate; `table` is its target."""
    joints.motor_kind[j, axis] = MOTOR_KINDS[motor.type]
    joints.motor_table[j, axis] = table
    if motor.type != "force" and motor.max_force is not None:
        joints.motor_max_force[j, axis] = motor.max_force
    if motor.type == "position":
        joints.motor_stiffness[j, axis] = stiffness_terms(motor.stiffness)
        joints.motor_damping[j, axis] = motor.damping or 0.0
        if motor.max_speed is not None:
            joints.motor_max_speed[j, axis] = motor.max_speed


def write_drives(joints: Joints, j: int, joint: Any, targets: TargetTable) -> None:
    """Write all limits, motors and the spring of joint j."""
    if joint.type == "ball":
        if joint.limits is not None:
            write_ball_limits(joints, j, joint.limits)
        if joint.motor is not None:
            for axis in range(3):
                write_motor(joints, j, axis, joint.motor, targets.add(joint.motor.target, axis))
        return
    for axis, (name, motor_name) in enumerate(zip(LIMITS, MOTORS, strict=True)):
        limits, motor = getattr(joint, name, None), getattr(joint, motor_name, None)
        if limits is not None:
            write_limits(joints, j, axis, limits)
        if motor is not None:
            write_motor(joints, j, axis, motor, targets.add(motor.target))
    spring = getattr(joint, "spring", None)
    if spring is not None:
        joints.spring_on[j] = 1
        joints.spring_k[j] = stiffness_terms(spring.stiffness)
        joints.spring_damping[j], joints.spring_rest[j] = spring.damping, spring.rest
