"""Axes, anchors, lever arms and velocities of a joint in the world frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4, rotate
from cardan.engine.spatial.vec3 import Vec3, add, cross, load3, sub
from cardan.engine.world.model import Joints
from cardan.engine.world.state import State

if TYPE_CHECKING:
    from numpy.typing import NDArray


class JointFrame(NamedTuple):
    """A joint at this moment, in W."""

    body_a: int
    body_b: int
    s: Vec3  # -     first axis, fixed in A
    t1: Vec3  # -    t1, t2, s right-handed, fixed in A
    t2: Vec3  # -
    s_b: Vec3  # -   axis fixed in B
    arm_a: Vec3  # m from A's centre of mass to B's anchor: where the constraint force acts
    arm_b: Vec3  # m from B's centre of mass to B's anchor
    gap: Vec3  # m   from A's anchor to B's anchor
    w_a: Vec3  # rad/s
    w_b: Vec3  # rad/s
    slip: Vec3  # m/s velocity of B's anchor minus velocity of A's centre of mass
    bias_acceleration: (
        Vec3  # m/s^2  w_b x (w_b x arm_b): acceleration of B's anchor at constant velocities
    )


@kernel
def is_broken(state: State, j: int) -> bool:
    """Whether joint j broke in an earlier step: it has no rows, forces or energy any more."""
    return not math.isnan(state.broken[j, 0])


@kernel
def is_apart(joints: Joints, state: State, j: int) -> bool:
    """Whether joint j is broken, or one of its bodies is absent."""
    a, b = joints.body_a[j], joints.body_b[j]
    return is_broken(state, j) or state.present[a] == 0 or state.present[b] == 0


@kernel
def is_open(joints: Joints, state: State, j: int) -> bool:
    """Whether joint j holds nothing now: it is broken, one of its bodies is absent, or that is so
    of a joint that it couples."""
    if is_apart(joints, state, j):
        return True
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        if is_apart(joints, state, joints.term_joint[t]):
            return True
    return False


@kernel
def has_rows(joints: Joints, kind: NDArray, state: State, j: int) -> bool:
    """Whether joint j acts in this step: whole, and neither of its bodies sleeps or is absent.

    Reads   kind (n,) int64   what bodies do in this step
    """
    return not is_broken(state, j) and not is_asleep(kind, joints.body_a[j], joints.body_b[j])


@kernel
def joint_frame(joints: Joints, state: State, j: int) -> JointFrame:
    """Axes, arms and velocities of joint j.

    Check   tests/engine/constraints/test_rows.py
    """
    a, b = joints.body_a[j], joints.body_b[j]
    q_a, q_b = load4(state.q_WB, a), load4(state.q_WB, b)
    p_a, p_b = load3(state.p_WB, a), load3(state.p_WB, b)
    arm_b = rotate(q_b, load3(joints.anchor_B, j))
    arm_a = sub(add(p_b, arm_b), p_a)
    w_a, w_b = load3(state.w_WB_W, a), load3(state.w_WB_W, b)
    spin_b = cross(w_b, arm_b)
    return JointFrame(
        a,
        b,
        rotate(q_a, load3(joints.axis_A, j)),
        rotate(q_a, load3(joints.tangent1_A, j)),
        rotate(q_a, load3(joints.tangent2_A, j)),
        rotate(q_b, load3(joints.axis_B, j)),
        arm_a,
        arm_b,
        sub(arm_a, rotate(q_a, load3(joints.anchor_A, j))),
        w_a,
        w_b,
        sub(add(load3(state.v_WB_W, b), spin_b), load3(state.v_WB_W, a)),
        cross(w_b, spin_b),
    )
