"""Joints to arrays: anchors and axes from the world into the bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.build.faults import Faults
from engine.build.rotations import inverse, product, tangents, turn, unit
from engine.build.targets import TargetTable
from engine.world.model import (
    BALL,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    HINGE,
    HINGE2,
    MOTOR_FORCE,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    PLANAR,
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
}
MOTOR_KINDS = {"velocity": MOTOR_VELOCITY, "position": MOTOR_POSITION, "force": MOTOR_FORCE}

# share of the position error that joints remove per step when the scene does not say
DEFAULT_ERP = 0.2


def empty_joints(n: int) -> Joints:
    """Arrays for n joints: no limits, motors, springs."""
    vector, pair, one = (n, 3), (n, 2), (n,)
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
        angle0=np.zeros(one),
        zero2_A=np.zeros(vector),
        zero1_B=np.zeros(vector),
        erp=np.full(one, DEFAULT_ERP),
        cfm=np.zeros(one),
        inverse_mass=np.zeros(pair),
        limit_on=np.zeros(pair, np.int64),
        limit_lower=np.full(pair, -math.inf),
        limit_upper=np.full(pair, math.inf),
        limit_restitution=np.zeros(pair),
        limit_stiffness=np.zeros(pair),
        limit_damping=np.zeros(pair),
        motor_kind=np.zeros(pair, np.int64),
        motor_table=np.zeros(pair, np.int64),
        motor_max_force=np.full(pair, math.inf),
        motor_stiffness=np.zeros(pair),
        motor_damping=np.zeros(pair),
        friction=np.zeros(one),
        damping=np.zeros(one),
        spring_on=np.zeros(one, np.int64),
        spring_k=np.zeros(vector),
        spring_damping=np.zeros(one),
        spring_rest=np.zeros(one),
    )


def stiffness_terms(stiffness: Any) -> tuple[float, float, float]:
    """k or [k1, k2, k3] as three numbers."""
    if stiffness is None:
        return (0.0, 0.0, 0.0)
    if isinstance(stiffness, tuple):
        k1, k2, k3 = stiffness
        return (k1, k2, k3)
    return (float(stiffness), 0.0, 0.0)


def linear_stiffness(stiffness: Any, pointer: str, faults: Faults) -> float:
    """The k of a stiffness that must be linear."""
    k1, k2, k3 = stiffness_terms(stiffness)
    if k2 != 0.0 or k3 != 0.0:
        faults.missing(f"{pointer}/stiffness", "a non-linear stiffness here", "one number k")
    return k1


def write_limits(
    joints: Joints, j: int, axis: int, limits: Any, pointer: str, faults: Faults
) -> None:
    """Stops of one coordinate."""
    if limits is None:
        return
    joints.limit_on[j, axis] = 1
    if limits.lower is not None:
        joints.limit_lower[j, axis] = limits.lower
    if limits.upper is not None:
        joints.limit_upper[j, axis] = limits.upper
    joints.limit_restitution[j, axis] = limits.restitution
    joints.limit_stiffness[j, axis] = linear_stiffness(limits.stiffness, pointer, faults)
    joints.limit_damping[j, axis] = limits.damping or 0.0
    if limits.damping and not limits.stiffness:
        faults.missing(
            f"{pointer}/damping", "a soft stop with damping only", "stiffness with damping"
        )


def write_motor(
    joints: Joints,
    j: int,
    axis: int,
    motor: Any,
    targets: TargetTable,
    pointer: str,
    faults: Faults,
) -> None:
    """The motor of one coordinate."""
    if motor is None:
        return
    joints.motor_kind[j, axis] = MOTOR_KINDS[motor.type]
    joints.motor_table[j, axis] = targets.add(motor.target)
    if motor.type != "force" and motor.max_force is not None:
        joints.motor_max_force[j, axis] = motor.max_force
    if motor.type == "position":
        joints.motor_stiffness[j, axis] = linear_stiffness(motor.stiffness, pointer, faults)
        joints.motor_damping[j, axis] = motor.damping or 0.0


class Place:
    """Poses at the start: of which body, in W."""

    def __init__(self, p: Array, q: Array) -> None:
        """Take p (n, 3) of the centres of mass and q (n, 4)."""
        self.p, self.q = p, q

    def point(self, body: int, point_W: Array) -> Array:
        """A point of W from the body's centre of mass in body axes."""
        return turn(inverse(self.q[body]), point_W - self.p[body])

    def direction(self, body: int, direction_W: Array) -> Array:
        """A direction of W in body axes."""
        return turn(inverse(self.q[body]), direction_W)


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


def write_frames(
    joints: Joints, j: int, joint: Any, place: Place, poses: dict[int, tuple[Array, Array]]
) -> None:
    """Anchors and axes of joint j into its bodies."""
    a, b = int(joints.body_a[j]), int(joints.body_b[j])
    anchor = to_world(joint, getattr(joint, "anchor", None), poses[a], True)
    if anchor is None:
        anchor = poses[b][0]
    axis = to_world(joint, getattr(joint, "axis", None), poses[a], False)
    s = unit(axis) if axis is not None else np.array([0.0, 0.0, 1.0])
    t1, t2 = tangents(s)
    joints.anchor_A[j] = place.point(a, anchor)
    joints.anchor_B[j] = place.point(b, anchor)
    joints.axis_A[j] = place.direction(a, s)
    joints.tangent1_A[j] = place.direction(a, t1)
    joints.tangent2_A[j] = place.direction(a, t2)
    joints.axis_B[j] = place.direction(b, s)
    joints.q_AB0[j] = product(inverse(place.q[a]), place.q[b])
    if joint.type in ("hinge2", "universal"):
        second = to_world(joint, joint.axis2, poses[a], False)
        assert second is not None
        s2 = unit(second)
        joints.axis_B[j] = place.direction(b, s2)
        joints.zero2_A[j] = place.direction(a, s2)
        joints.zero1_B[j] = place.direction(b, s)
        joints.angle0[j] = math.atan2(float(np.linalg.norm(np.cross(s, s2))), float(s @ s2))
        if joint.type == "universal":
            joints.angle0[j] = 0.5 * math.pi
    elif joint.type == "distance":
        other = to_world(joint, joint.anchor2, poses[a], True)
        assert other is not None
        joints.anchor_B[j] = place.point(b, other)
        joints.angle0[j] = float(np.linalg.norm(other - anchor))


def check_joint(joint: Any, pointer: str, faults: Faults) -> None:
    """Note what is not computed yet."""
    if joint.type == "gear":
        faults.missing(f"{pointer}/type", "the gear joint", ", ".join(JOINT_KINDS))
    if joint.breaking_force is not None:
        faults.missing(f"{pointer}/breaking_force", "breaking_force", "joints that do not break")
    if joint.type in ("ball", "distance") and joint.limits is not None:
        faults.missing(
            f"{pointer}/limits",
            f"limits of a {joint.type} joint",
            "limits of hinge, slider, hinge2, universal and cylindrical joints",
        )
    if joint.type in ("ball", "planar", "distance", "fixed"):
        for field in ("friction", "damping"):
            if getattr(joint, field) != 0.0:
                faults.missing(
                    f"{pointer}/{field}",
                    f"{field} of a {joint.type} joint",
                    f"{field} of hinge, slider, hinge2, universal and cylindrical joints",
                )
    if joint.type == "distance" and joint.spring is not None:
        faults.missing(
            f"{pointer}/spring", "the spring of a distance joint", "forces of type spring"
        )


def build_joints(
    scene_joints: Any,
    index: dict[str, int],
    place: Place,
    poses: dict[int, tuple[Array, Array]],
    targets: TargetTable,
    faults: Faults,
) -> Joints:
    """All joints as arrays.

    Reads   index: body name (and `world`) to number; place: poses of the centres of mass;
            poses: body number to (origin, orientation) in W
    """
    known = [joint for joint in scene_joints if joint.type in JOINT_KINDS]
    joints = empty_joints(len(known))
    for i, joint in enumerate(scene_joints):
        check_joint(joint, f"/joints/{i}", faults)
    for j, joint in enumerate(known):
        pointer = f"/joints/{scene_joints.index(joint)}"
        joints.kind[j] = JOINT_KINDS[joint.type]
        joints.body_a[j], joints.body_b[j] = index[joint.parent], index[joint.child]
        write_frames(joints, j, joint, place, poses)
        if joint.erp is not None:
            joints.erp[j] = joint.erp
        joints.cfm[j] = joint.cfm
        joints.friction[j], joints.damping[j] = joint.friction, joint.damping
        if joint.type not in ("ball", "distance"):
            for axis, (limits, motor) in enumerate((("limits", "motor"), ("limits2", "motor2"))):
                at = f"{pointer}/{limits}"
                write_limits(joints, j, axis, getattr(joint, limits, None), at, faults)
                at = f"{pointer}/{motor}"
                write_motor(joints, j, axis, getattr(joint, motor, None), targets, at, faults)
        spring = getattr(joint, "spring", None)
        if spring is not None:
            joints.spring_on[j] = 1
            joints.spring_k[j] = stiffness_terms(spring.stiffness)
            joints.spring_damping[j], joints.spring_rest[j] = spring.damping, spring.rest
    return joints
