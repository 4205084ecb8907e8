"""Anchors and axes of joints from the world into their bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import cross, inverse, product, tangents, turn, unit
from cardan.engine.world.model import Joints

Array = NDArray[np.float64]
Frames = dict[int, tuple[Array, Array]]
"""Origin and orientation in W of the frame of each body of the scene."""


def to_world(
    joint: Any, value: Any, scene_pose: tuple[Array, Array], is_point: bool
) -> Array | None:
    """A point or direction of the scene in W: it may be given in the parent's frame."""
    if value is None:
        return None
    vector = np.array(value, dtype=float)
    if joint.frame == "parent":
        origin, q = scene_pose
        vector = turn(q, vector)
        if is_point:
            vector = vector + origin
    return vector


def across(joint: Any, s: Array, parent: tuple[Array, Array]) -> tuple[Array, Array]:
    """The directions t1, t2 of a joint in W: x and y of the scene for a ball, else normal to s."""
    if joint.type == "ball":
        x, y = (to_world(joint, e, parent, False) for e in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
        assert x is not None
        assert y is not None
        return x, y
    direction = to_world(joint, getattr(joint, "direction", None), parent, False)
    if direction is None:
        return tangents(s)
    t1 = unit(direction)
    t1 = unit(t1 - (t1 @ s) * s)
    return t1, cross(s, t1)


def write_second_axis(joints: Joints, j: int, poses: Poses, s: Array, s2: Array) -> None:
    """The second axis of a hinge2 or universal joint, and where the angles are zero."""
    a, b = int(joints.body_a[j]), int(joints.body_b[j])
    joints.axis_B[j] = poses.direction(b, s2)
    joints.zero2_A[j] = poses.direction(a, s2)
    joints.zero1_B[j] = poses.direction(b, s)
    joints.angle0[j] = math.atan2(float(np.linalg.norm(cross(s, s2))), float(s @ s2))


def write_frames(joints: Joints, j: int, joint: Any, poses: Poses, frames: Frames) -> None:
    """Anchors, axes and zero orientations of joint j into its bodies."""
    a, b = int(joints.body_a[j]), int(joints.body_b[j])
    parent = frames[a]
    anchor = to_world(joint, getattr(joint, "anchor", None), parent, True)
    if anchor is None:
        anchor = frames[b][0]
    end = to_world(joint, getattr(joint, "anchor2", None), parent, True)
    axis = to_world(joint, getattr(joint, "axis", None), parent, False)
    if end is not None:
        axis = end - anchor
    s = unit(axis) if axis is not None else np.array([0.0, 0.0, 1.0])
    t1, t2 = across(joint, s, parent)
    joints.anchor_A[j] = poses.point(a, anchor)
    joints.anchor_B[j] = poses.point(b, anchor if end is None else end)
    joints.axis_A[j] = poses.direction(a, s)
    joints.tangent1_A[j] = poses.direction(a, t1)
    joints.tangent2_A[j] = poses.direction(a, t2)
    joints.axis_B[j] = poses.direction(b, s)
    joints.q_AB0[j] = product(inverse(poses.q[a]), poses.q[b])
    joints.q_WA0[j], joints.q_WB0[j] = poses.q[a], poses.q[b]
    second = to_world(joint, getattr(joint, "axis2", None), parent, False)
    if end is not None:
        joints.angle0[j] = float(np.linalg.norm(end - anchor))
        write_wheels(joints, j, joint, poses, parent, end - anchor)
    elif joint.type in ("gear", "rack"):
        write_coupling(joints, j, joint, poses, s if second is None else unit(second))
    elif second is not None:
        write_second_axis(joints, j, poses, s, unit(second))
        if joint.type == "universal":
            joints.angle0[j] = 0.5 * math.pi
    elif joint.type == "screw":
        joints.ratio[j] = joint.pitch / (2.0 * math.pi)


def write_wheels(
    joints: Joints, j: int, joint: Any, poses: Poses, parent: tuple[Array, Array], d: Array
) -> None:
    """Wheels of a distance joint, where the cable touches them, and its straight length.

    Reads   d: from the first anchor to the second, in W; see `constraints/parts/wound.py`
    """
    a, b, axes = int(joints.body_a[j]), int(joints.body_b[j]), []
    for k, wheel in enumerate((joint.wheel, joint.wheel2)):
        if wheel is not None:
            axis = to_world(joint, wheel.axis, parent, False)
            assert axis is not None
            axes.append(unit(axis))
            joints.wheel[j, k] = wheel.radius
    if not axes:
        return
    joints.tangent1_A[j] = poses.direction(a, axes[0])
    joints.axis_B[j] = poses.direction(b, axes[-1])
    sense = math.copysign(1.0, float(axes[0] @ axes[-1]))
    rho = sense * joints.wheel[j, 1] - joints.wheel[j, 0]
    flat = d - (d @ axes[0]) * axes[0]
    run = math.sqrt(flat @ flat - rho * rho)
    u = (run * flat + rho * cross(flat, axes[0])) / (flat @ flat)
    e = cross(u, axes[0])
    joints.angle0[j] = math.hypot(run, float(d @ axes[0]))
    joints.tangent2_A[j] = poses.direction(a, e)
    joints.zero1_B[j] = poses.direction(b, sense * e)


def write_coupling(joints: Joints, j: int, joint: Any, poses: Poses, s2: Array) -> None:
    """Ratio and second axis of a gear (fixed in the child) or rack (fixed in W)."""
    b = int(joints.body_b[j])
    joints.ratio[j] = joint.ratio
    # no anchors: the row applies a torque, and a force on the centre of mass
    joints.anchor_A[j], joints.anchor_B[j] = 0.0, 0.0
    if joint.type == "gear":
        joints.axis_B[j] = poses.direction(b, s2)
    else:
        joints.axis_B[j] = s2
        joints.angle0[j] = float(s2 @ poses.p[b])
