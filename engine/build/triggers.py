"""Triggers of a scene: arrays of their conditions, and checks of their commands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.presence import responses
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.world.model import DYNAMIC, KINEMATIC, MOTOR_NONE, Joints, Model
from cardan.engine.world.triggers import (
    FIRED_COUNT,
    FIRED_LATE,
    FIRED_RANGE,
    N_FIRED,
    TRIGGER_CONTACT,
    TRIGGER_CONTACT_FORCE,
    TRIGGER_COORDINATE,
    TRIGGER_FORCE,
    TRIGGER_TIME,
    TRIGGER_VELOCITY,
    Triggers,
)
from cardan.schemas import Scene
from cardan.schemas.action import (
    Action,
    AppearAction,
    BreakJointAction,
    GravityAction,
    SetMotorAction,
    SetVelocityAction,
    VanishAction,
)
from cardan.schemas.trigger import CoordinateCondition, VelocityCondition, When

KINDS = {
    "time": TRIGGER_TIME,
    "coordinate": TRIGGER_COORDINATE,
    "velocity": TRIGGER_VELOCITY,
    "force": TRIGGER_FORCE,
    "contact": TRIGGER_CONTACT,
    "contact_force": TRIGGER_CONTACT_FORCE,
}
WAYS = {"rising": 1, "falling": -1, "either": 0}
# of the quantity "touches", which is 0 or 1
HALF = 0.5


def row_of(
    when: When, bodies: Mapping[str, int], joints: Mapping[str, int]
) -> tuple[int, int, float, int]:
    """Joint or body of a condition, coordinate or other body, value, and the way it is crossed."""
    if when.type == "time":
        return -1, -1, when.at, 1
    way = WAYS[when.crossing]
    if when.type == "force":
        return joints[when.joint], -1, when.value, way
    if when.type == "coordinate" or when.type == "velocity":
        return joints[when.joint], when.axis, when.value, way
    other = -1 if when.other is None else bodies[when.other]
    return bodies[when.body], other, HALF if when.type == "contact" else when.value, way


def build_triggers(scene: Scene, bodies: Mapping[str, int]) -> Triggers:
    """The conditions of all triggers, in the order of the scene, and those of `responses`."""
    joints = {joint.name: j for j, joint in enumerate(scene.joints)}
    asked = responses(scene)
    rows = [row_of(one.when, bodies, joints) for one in asked]
    return Triggers(
        kind=np.array([KINDS[one.when.type] for one in asked], np.int64),
        what=np.array([row[0] for row in rows], np.int64),
        part=np.array([row[1] for row in rows], np.int64),
        value=np.array([row[2] for row in rows], float),
        way=np.array([row[3] for row in rows], np.int64),
        repeat=np.array([one.repeat for one in asked], np.int64),
    )


def released_joints(scene: Scene) -> set[str]:
    """Names of the joints that a trigger breaks."""
    return {
        action.joint
        for trigger in scene.triggers
        for action in trigger.do
        if isinstance(action, BreakJointAction)
    }


def release(joints: Joints, scene: Scene) -> None:
    """Give joints that a trigger breaks a breaking force that nothing exceeds.

    A joint that can break is no coordinate of a tree.
    """
    released = released_joints(scene)
    for j, joint in enumerate(scene.joints):
        if joint.name in released and np.isinf(joints.breaking_force[j]):
            joints.breaking_force[j] = np.finfo(float).max


def first_sides(n: int) -> NDArray[np.float64]:
    """State of n triggers that were not looked at and did not fire."""
    found = np.full((n, N_FIRED), np.nan)
    found[:, [FIRED_COUNT, FIRED_RANGE, FIRED_LATE]] = 0.0
    return found


def check_triggers(scene: Scene, model: Model, bodies: Mapping[str, int], faults: Faults) -> None:
    """Add faults for coordinates and motors that a joint does not have, and commands in vain."""
    joints = {joint.name: j for j, joint in enumerate(scene.joints)}
    is_smooth = scene.simulation.integrator != "semi_implicit_euler"
    for i, trigger in enumerate(scene.triggers):
        place, when = f"/triggers/{i}", trigger.when
        if isinstance(when, CoordinateCondition | VelocityCondition):
            count = int(n_coordinates(int(model.joints.kind[joints[when.joint]])))
            if when.axis >= count:
                faults.add(
                    f"{place}/when/axis",
                    "out_of_range",
                    f"Joint '{when.joint}' has {count} coordinates, and {when.axis} was asked for; "
                    "they count from 0.",
                )
        if is_smooth and when.type in ("force", "contact", "contact_force"):
            faults.missing(
                f"{place}/when/type",
                f"the condition '{when.type}' with the integrator '{scene.simulation.integrator}'",
                "time, coordinate, velocity; or the integrator semi_implicit_euler",
            )
        for k, action in enumerate(trigger.do):
            if is_smooth and action.op == "break_joint":
                what = f"'break_joint' with the integrator '{scene.simulation.integrator}'"
                faults.missing(f"{place}/do/{k}/op", what, "semi_implicit_euler")
            check_action(f"{place}/do/{k}", action, (bodies, joints), model, faults)


def check_action(
    place: str,
    action: Action,
    names: tuple[Mapping[str, int], Mapping[str, int]],
    model: Model,
    faults: Faults,
) -> None:
    """Add faults for a command that the body or joint cannot follow."""
    bodies, joints = names
    if isinstance(action, GravityAction | BreakJointAction | AppearAction | VanishAction):
        return
    if isinstance(action, SetMotorAction):
        j = joints[action.joint]
        if model.joints.motor_kind[j, action.axis] == MOTOR_NONE:
            faults.add(
                f"{place}/axis",
                "no_motor",
                f"Joint '{action.joint}' has no motor on axis {action.axis}.",
                "Give the joint a motor; one with `max_force` 0 rests until it is set.",
            )
        return
    i = bodies[action.body]
    movable = (DYNAMIC, KINEMATIC) if isinstance(action, SetVelocityAction) else (DYNAMIC,)
    if model.bodies.kind[i] not in movable:
        faults.add(
            f"{place}/body",
            "not_movable",
            f"'{action.op}' needs a dynamic body; '{action.body}' is none.",
        )
    elif i in model.prescribed.body:
        faults.add(
            f"{place}/body",
            "not_movable",
            f"Body '{action.body}' follows its `motion`: '{action.op}' cannot change it.",
        )
