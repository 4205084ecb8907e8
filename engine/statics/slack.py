"""Couplings that may be slack, and cords: whether they hold at one pose.

A cord is a distance joint whose limits alone say how long it is. What is taut holds, the rest does
nothing.
"""

from __future__ import annotations

import math

from cardan.engine.build.options import with_options
from cardan.engine.constraints.joint_couplings import coupled_sum
from cardan.engine.simulation import Simulation
from cardan.engine.statics.smooth_scene import is_cord
from cardan.schemas import Scene
from cardan.schemas.joint import Joint


def distances_to_taut(scene: Scene, pose: Simulation | None = None) -> dict[str, float]:
    """Way left until each coupling with slack and each cord is taut [m or rad], by name.

    pose: a simulation of the same bodies whose poses count; else those of the start.
    """
    places = [j for j, joint in enumerate(scene.joints) if may_be_slack(joint)]
    if not places:
        return {}
    simulation = Simulation(with_options(scene))
    state, joints = simulation.state, simulation.model.joints
    if pose is not None:
        for name in ("p_WB", "q_WB", "twist"):
            getattr(state, name)[:] = getattr(pose.state, name)
        for k, name in enumerate(pose.joint_names):
            state.joint_q[simulation.joint_names.index(name)] = pose.state.joint_q[k]
    motion = simulation.placement.joint_motion(state)
    return {
        scene.joints[j].name: float(joints.angle0[j] - coupled_sum(joints, state, j))
        if scene.joints[j].type == "coupling"
        else left_of_cord(scene.joints[j], float(motion[j, 0, 0]))
        for j in places
    }


def may_be_slack(joint: Joint) -> bool:
    """Whether a joint holds in one direction only."""
    return joint.slack if joint.type == "coupling" else joint.type == "distance" and is_cord(joint)


def left_of_cord(joint: Joint, length: float) -> float:
    """How far a length is from the nearer limit; negative: beyond it [m]."""
    assert joint.type == "distance"
    assert joint.limits is not None
    lower, upper = joint.limits.lower, joint.limits.upper
    least = -math.inf if lower is None else lower
    return min(length - least, (math.inf if upper is None else upper) - length)


def loose_joints(scene: Scene) -> list[str]:
    """Names of joints that are not taut at the start."""
    most = scene.simulation.anchor_tolerance
    return [name for name, left in distances_to_taut(scene).items() if left > most]


def stretched_joints(scene: Scene, pose: Simulation) -> list[str]:
    """Names of joints that are stretched beyond what they allow."""
    most = scene.simulation.anchor_tolerance
    return [name for name, left in distances_to_taut(scene, pose).items() if left < -most]
