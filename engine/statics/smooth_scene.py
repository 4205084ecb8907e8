"""The scene of smooth motion: without contacts, stops, dry friction and motions from outside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan.schemas import Scene
from cardan.schemas.body import Body
from cardan.schemas.drive import BallVelocityMotor, JointSpring, PositionDrive, VelocityMotor
from cardan.schemas.joint import Distance, Joint
from cardan.schemas.options import SimulationOptions
from cardan.schemas.series import NumberSeries

ENDINGS = ("", "2", "3")
STILL = (0.0, 0.0, 0.0)


class Held(NamedTuple):
    """A coordinate that is held at a value, by a rigid drive or by equal limits."""

    joint: str
    axis: int
    value: float | None  # m or rad; None: where it is
    field: str  # of the joint in the scene
    speed: float | None = None  # m/s or rad/s  what its drive is to have; None: no drive of a speed


def held_and_left_out(scene: Scene) -> tuple[list[Held], list[str]]:
    """Coordinates that are held rigidly, and what smooth motion leaves out."""
    held: list[Held] = []
    left_out = [f"motion of body '{body.name}'" for body in scene.bodies if is_moved(body)]
    for joint in scene.joints:
        for axis, ending in enumerate(ENDINGS):
            limits, motor = (getattr(joint, f + ending, None) for f in ("limits", "motor"))
            if limits is not None and not locks(limits):
                left_out.append(f"limits of joint '{joint.name}'")
            if joint.type == "distance" and is_cord(joint):
                continue
            if limits is not None and locks(limits):
                held.append(Held(joint.name, axis, limits.lower, f"limits{ending}"))
            elif isinstance(motor, VelocityMotor | BallVelocityMotor):
                speed = first_value(motor.target)
                held.append(Held(joint.name, axis, None, f"motor{ending}", speed))
            elif isinstance(motor, PositionDrive) and not is_soft(motor):
                target = first_value(getattr(motor, "target", 0.0))
                held.append(Held(joint.name, axis, target, f"motor{ending}"))
        if joint.type == "coupling" and joint.slack:
            left_out.append(f"slack of coupling '{joint.name}'")
        if joint.friction > 0.0:
            left_out.append(f"dry friction of joint '{joint.name}'")
    return held, left_out


def is_moved(body: Body) -> bool:
    """Whether a kinematic body moves."""
    moving = any((*body.linear_velocity, *body.angular_velocity)) or body.motion is not None
    return body.type == "kinematic" and moving


def locks(limits: Any) -> bool:
    """Whether limits are equal."""
    lower = getattr(limits, "lower", None)
    return lower is not None and bool(lower == limits.upper)


def is_yielding(limits: Any) -> bool:
    """Whether stops are soft: springs, dampers."""
    return limits.stiffness is not None or limits.damping is not None


def yields(joint: Joint) -> bool:
    """Whether a joint has soft stops only."""
    given = [getattr(joint, f"limits{ending}", None) for ending in ENDINGS]
    limits = [one for one in given if one is not None]
    return bool(limits) and all(map(is_yielding, limits))


def is_cord(joint: Distance) -> bool:
    """Whether limits alone say how long a distance is: a rope, a strut with a stroke."""
    return joint.limits is not None and joint.spring is None and joint.motor is None


def is_soft(motor: Any) -> bool:
    """Whether a position drive is a spring."""
    return motor.stiffness is not None and bool(np.any(motor.stiffness))


def first_value(target: Any) -> float:
    """A target at the start."""
    if isinstance(target, NumberSeries):
        if target.interpolation == "step":
            last = int(np.searchsorted(target.times, 0.0, side="right")) - 1
            return target.values[max(0, last)]
        return float(np.interp(0.0, target.times, target.values))
    return float(target) if isinstance(target, int | float) else 0.0


def smooth_scene(scene: Scene, held: list[Held], loose: list[str]) -> Scene:
    """The scene in joint coordinates, without what smooth motion does not have.

    loose: couplings and cords that are left out; others that may be slack are taut, and hold.
    Joints with held coordinates come first, so that trees go through them.
    """
    rigid = {(one.joint, one.field) for one in held}
    joints = []
    for joint in scene.joints:
        if joint.name in loose and joint.type == "coupling":
            continue
        known = type(joint).model_fields
        changes: dict[str, Any] = {"friction": 0.0, "cfm": 0.0, "breaking_force": None}
        if joint.type == "coupling":
            changes["slack"] = False
        undriven = joint.type == "distance" and joint.spring is None
        if joint.name in loose or (undriven and (joint.name, "motor") in rigid):
            # what does not hold a distance may damp it
            changes["spring"] = JointSpring(stiffness=0.0)
        for ending in ENDINGS:
            if f"limits{ending}" in known:
                changes[f"limits{ending}"] = None
            if (joint.name, f"motor{ending}") in rigid:
                changes[f"motor{ending}"] = None
        joints.append(joint.model_copy(update=changes))
    first = {one.joint for one in held}
    joints.sort(key=lambda joint: joint.name not in first)
    bodies = []
    for body in scene.bodies:
        shapes = tuple(shape.model_copy(update={"collision_mask": 0}) for shape in body.shapes)
        changes = {"shapes": shapes, "vanishes": None}
        if body.type == "kinematic":
            changes |= {"type": "static", "motion": None}
            changes |= {"linear_velocity": STILL, "angular_velocity": STILL}
        bodies.append(body.model_copy(update=changes))
    options = SimulationOptions(
        dt=scene.simulation.dt,
        duration=scene.simulation.duration,
        formulation="reduced",
        integrator="rk4",
        anchor_tolerance=scene.simulation.anchor_tolerance,
    )
    changed = {"joints": tuple(joints), "bodies": tuple(bodies), "simulation": options}
    changed |= {"triggers": ()}
    return scene.model_copy(update=changed)
