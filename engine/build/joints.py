"""Joints to arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.couplings import with_couplings
from cardan.engine.build.joint_drives import write_drives
from cardan.engine.build.joint_frames import Frames, write_frames
from cardan.engine.build.memoised import memoised
from cardan.engine.build.poses import Poses
from cardan.engine.build.targets import TargetTable
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    GEAR,
    HINGE,
    HINGE2,
    PLANAR,
    RACK,
    SCREW,
    SLIDER,
    UNIVERSAL,
    Joints,
)

Array = NDArray[np.float64]

JOINT_KINDS = {
    "ball": BALL,
    "hinge": HINGE,
    "slider": SLIDER,
    "hinge2": HINGE2,
    "universal": UNIVERSAL,
    "fixed": FIXED,
    "cylindrical": CYLINDRICAL,
    "planar": PLANAR,
    "distance": DISTANCE,
    "screw": SCREW,
    "gear": GEAR,
    "rack": RACK,
    "coupling": COUPLING,
}

# default share of the position error that joints remove per step
DEFAULT_ERP = 0.2


def empty_joints(n: int) -> Joints:
    """Arrays for n joints: no limits, motors, springs."""
    vector, cubic, one = (n, 3), (n, 3, 3), (n,)
    return Joints(
        kind=np.zeros(n, np.int64),
        body_a=np.zeros(n, np.int64),
        body_b=np.zeros(n, np.int64),
        anchor_A=np.zeros(vector),
        anchor_B=np.zeros(vector),
        axis_A=np.zeros(vector),
        tangent1_A=np.zeros(vector),
        tangent2_A=np.zeros(vector),
        axis_B=np.zeros(vector),
        q_AB0=np.zeros((n, 4)),
        q_WA0=np.zeros((n, 4)),
        q_WB0=np.zeros((n, 4)),
        angle0=np.zeros(one),
        wheel=np.zeros((n, 2)),
        ratio=np.zeros(one),
        zero2_A=np.zeros(vector),
        zero1_B=np.zeros(vector),
        loop=np.full(n, -1, np.int64),
        strung=np.zeros(n, np.int64),
        reaction_length=np.ones(one),
        excluded=np.full(n, -1, np.int64),
        erp=np.full(one, DEFAULT_ERP),
        cfm=np.zeros(one),
        inverse_mass=np.zeros((n, 2)),
        limit_on=np.zeros(vector, np.int64),
        limit_lower=np.full(vector, -math.inf),
        limit_upper=np.full(vector, math.inf),
        limit_restitution=np.zeros(vector),
        limit_stiffness=np.zeros(cubic),
        limit_damping=np.zeros(vector),
        motor_kind=np.zeros(vector, np.int64),
        motor_table=np.zeros(vector, np.int64),
        motor_max_force=np.full(vector, math.inf),
        motor_max_speed=np.full(vector, math.inf),
        motor_stiffness=np.zeros(cubic),
        motor_damping=np.zeros(vector),
        motor_inverse_mass=np.zeros(vector),
        friction=np.zeros(one),
        damping=np.zeros(one),
        armature=np.zeros(one),
        spring_on=np.zeros(one, np.int64),
        spring_k=np.zeros(vector),
        spring_damping=np.zeros(one),
        spring_rest=np.zeros(one),
        term_start=np.zeros(n + 1, np.int64),
        term_joint=np.zeros(0, np.int64),
        term_axis=np.zeros(0, np.int64),
        term_factor=np.zeros(0),
        term_piece=np.zeros(1, np.int64),
        term_period=np.zeros(0),
        piece=np.zeros((0, 5)),
        breaking_force=np.full(one, math.inf),
    )


def build_joints(
    scene_joints: Any, index: dict[str, int], poses: Poses, frames: Frames, targets: TargetTable
) -> Joints:
    """All joints as arrays; arguments as in `framed_joints`, and the targets of motors."""
    framed = framed_joints(scene_joints, index, poses, frames)
    joints = Joints(*(array.copy() for array in framed))
    for j, joint in enumerate(scene_joints):
        if joint.type != "coupling":
            write_drives(joints, j, joint, targets)
    return with_couplings(joints, scene_joints)


@memoised
def framed_joints(scene_joints: Any, index: dict[str, int], poses: Poses, frames: Frames) -> Joints:
    """Joints without their drives and terms.

    index    body name to number; `world` has the last one
    poses    of bodies at the start
    """
    joints = empty_joints(len(scene_joints))
    for j, joint in enumerate(scene_joints):
        joints.kind[j] = JOINT_KINDS[joint.type]
        joints.body_a[j], joints.body_b[j] = index[joint.parent], index[joint.child]
        if not joint.collide_connected and joint.parent != "world":
            first, second = sorted((index[joint.parent], index[joint.child]))
            joints.excluded[j] = first * index["world"] + second
        if joint.type != "coupling":
            write_frames(joints, j, joint, poses, frames)
        if joint.erp is not None:
            joints.erp[j] = joint.erp
        joints.cfm[j] = joint.cfm
        joints.friction[j], joints.damping[j] = joint.friction, joint.damping
        joints.armature[j] = joint.armature
        if joint.breaking_force is not None:
            joints.breaking_force[j] = joint.breaking_force
    return joints
