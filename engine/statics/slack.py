"""Couplings that may be slack, at one pose: those that are taut hold, others do nothing."""

from __future__ import annotations

from cardan.engine.build.options import with_options
from cardan.engine.constraints.joint_couplings import coupled_sum
from cardan.engine.simulation import Simulation
from cardan.schemas import Scene


def distances_to_taut(scene: Scene, pose: Simulation | None = None) -> dict[str, float]:
    """`offset` minus the sum of each coupling that may be slack [m or rad], by name.

    pose: a simulation of the same bodies whose poses count; else those of the start.
    """
    places = [j for j, joint in enumerate(scene.joints) if joint.type == "coupling" and joint.slack]
    if not places:
        return {}
    simulation = Simulation(with_options(scene))
    state, joints = simulation.state, simulation.model.joints
    if pose is not None:
        for name in ("p_WB", "q_WB", "twist"):
            getattr(state, name)[:] = getattr(pose.state, name)
        for k, name in enumerate(pose.joint_names):
            state.joint_q[simulation.joint_names.index(name)] = pose.state.joint_q[k]
    return {
        scene.joints[j].name: float(joints.angle0[j] - coupled_sum(joints, state, j))
        for j in places
    }


def loose_couplings(scene: Scene) -> list[str]:
    """Those that are not taut at the start."""
    most = scene.simulation.anchor_tolerance
    return [name for name, left in distances_to_taut(scene).items() if left > most]


def stretched_couplings(scene: Scene, pose: Simulation) -> list[str]:
    """Those whose sum is beyond their `offset`."""
    most = scene.simulation.anchor_tolerance
    return [name for name, left in distances_to_taut(scene, pose).items() if left < -most]
