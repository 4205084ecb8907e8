"""Joints that are beyond their limits at a pose."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.placement import exponential
from cardan.engine.build.rotations import turn
from cardan.engine.simulation import Simulation
from cardan.engine.statics.slack import stretched_joints
from cardan.engine.statics.smooth_scene import ENDINGS
from cardan.schemas import Scene
from cardan.schemas.joint import Ball, Joint

Array = NDArray[np.float64]


def beyond_limits(scene: Scene, pose: Simulation) -> list[str]:
    """Joints of which a coordinate, or a cord or coupling with slack, is beyond what is allowed.

    Reads   the poses and coordinates of `pose`, a simulation of the same joints
    """
    most = scene.simulation.anchor_tolerance
    motion = pose.placement.joint_motion(pose.state)
    numbers = {name: j for j, name in enumerate(pose.joint_names)}
    found = stretched_joints(scene, pose)
    for joint in scene.joints:
        if joint.name in numbers and joint.name not in found:
            by = excesses(joint, motion[numbers[joint.name], :, 0])
            if max(by, default=0.0) > most:
                found.append(joint.name)
    return found


def excesses(joint: Joint, values: Array) -> Iterator[float]:
    """Distances of coordinates beyond their limits [m or rad]; negative: within them."""
    if isinstance(joint, Ball):
        yield from excesses_of_ball(joint, values)
        return
    for axis, ending in enumerate(ENDINGS):
        limits = getattr(joint, f"limits{ending}", None)
        if limits is not None:
            lower = -math.inf if limits.lower is None else limits.lower
            upper = math.inf if limits.upper is None else limits.upper
            yield max(lower - float(values[axis]), float(values[axis]) - upper)


def excesses_of_ball(joint: Ball, values: Array) -> Iterator[float]:
    """Excess of swing and of twist, from the rotation vector of a child [rad]."""
    if joint.limits is None or joint.axis is None:
        return
    axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
    turned = exponential(values)
    swing = math.acos(float(np.clip(axis @ turn(turned, axis), -1.0, 1.0)))
    if joint.limits.swing is not None:
        yield swing - joint.limits.swing
    if joint.limits.twist is not None:
        twist = 2.0 * math.atan2(float(turned[1:] @ axis), float(turned[0]))
        yield abs(math.remainder(twist, 2.0 * math.pi)) - joint.limits.twist
