"""Drives of trees as arrays, and scenes in which nothing else acts (not compiled)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.drives import N_PARTS, Drives, DriveWork
from cardan.engine.world.model import (
    DYNAMIC,
    HINGE2,
    KINEMATIC,
    MOTOR_FORCE,
    MOTOR_NONE,
    MOTOR_POSITION,
    SLIDER,
    Bodies,
    Joints,
)
from cardan.engine.world.tree import NODE_SLIDER, Tree, TreeWork


def own_rates(tree: Tree) -> list[tuple[int, int, int, int]]:
    """Rates that are those of a coordinate of a joint: (rate, node, joint, axis)."""
    found = []
    for i in range(len(tree.kind)):
        if tree.joint[i] >= 0 and tree.axis[i] >= 0 and tree.v_start[i + 1] - tree.v_start[i] == 1:
            found.append((int(tree.v_start[i]), i, int(tree.joint[i]), int(tree.axis[i])))
    return found


def no_drives(tree: Tree) -> Drives:
    """Of generalised velocities on which nothing acts."""
    v = int(tree.v_start[-1])

    def whole(value: int) -> NDArray[np.int64]:
        return np.full(v, value, np.int64)

    return Drives(
        alone=np.zeros(1, np.int64),
        count=np.zeros(1, np.int64),
        driven=whole(0),
        limited=whole(0),
        coordinate=whole(-1),
        joint=whole(-1),
        axis=whole(0),
        part=whole(0),
        spring=whole(-1),
    )


def drives_of(bodies: Bodies, joints: Joints, tree: Tree, n_others: int) -> Drives:
    """The drives of trees; none where other things act, which need rows.

    n_others: force elements and prescribed motions
    """
    made = no_drives(tree)
    if n_others > 0 or not (are_trees(bodies, tree) and are_plain(joints, tree)):
        return made
    made.alone[0] = 1
    for k, i, j, axis in own_rates(tree):
        made.joint[k], made.axis[k], made.coordinate[k] = j, axis, tree.q_start[i]
        made.limited[k] = joints.limit_on[j, axis]
        made.part[k] = 0 if tree.kind[i] == NODE_SLIDER else 1
        if joints.spring_on[j] == 1 and joints.kind[j] != HINGE2 and axis == 0:
            made.spring[k] = 0 if joints.kind[j] == SLIDER else made.part[k]
        has_motor = joints.motor_kind[j, axis] != MOTOR_NONE
        made.driven[k] = has_motor or joints.damping[j] > 0.0 or made.spring[k] >= 0
    made.count[0] = made.driven.sum()
    return made


def are_trees(bodies: Bodies, tree: Tree) -> bool:
    """Whether trees are all that moves, and no joint is outside of them."""
    moving = np.flatnonzero(bodies.kind == DYNAMIC)
    return bool(
        len(moving) > 0
        and (tree.node[moving] >= 0).all()
        and (bodies.kind != KINEMATIC).all()
        and (tree.inner == 1).all()
    )


def are_plain(joints: Joints, tree: Tree) -> bool:
    """Whether all that joints have are stops, dampers, springs, and motors with a force or with
    stiffness, each on a coordinate of its own."""
    own = np.zeros(joints.motor_kind.shape, bool)
    for _, _, j, axis in own_rates(tree):
        own[j, axis] = True
    motors, limited = joints.motor_kind != MOTOR_NONE, joints.limit_on != 0
    soft = (joints.motor_stiffness != 0.0).any(axis=2)
    allowed = (joints.motor_kind == MOTOR_FORCE) | ((joints.motor_kind == MOTOR_POSITION) & soft)
    locked = limited & (joints.limit_lower == joints.limit_upper)
    passive = (joints.damping > 0.0) | (joints.spring_on == 1)
    return bool(
        (allowed | ~motors).all()
        and not ((motors | limited) & ~own).any()
        and not locked.any()
        and not (passive & (own.sum(axis=1) != rates_of_joints(tree))).any()
        and (joints.friction == 0.0).all()
    )


def rates_of_joints(tree: Tree) -> NDArray[np.int64]:
    """(j,) generalised velocities of each joint."""
    rates = np.zeros(len(tree.inner), np.int64)
    for i in range(len(tree.kind)):
        if tree.joint[i] >= 0:
            rates[tree.joint[i]] += tree.v_start[i + 1] - tree.v_start[i]
    return rates


def drive_work(work: TreeWork, zeros: Callable[[tuple[int, ...]], Any]) -> DriveWork:
    """Scratch of a kick by drives alone; what the factor does not change is that of `work`."""
    v = len(work.D)
    apart = {name: zeros(getattr(work, name).shape) for name in ("IA", "U", "D", "u", "qdd")}
    return DriveWork(
        alone=np.zeros(1, np.int64),
        shown=np.zeros(3, np.int64),
        tree=work._replace(**apart),
        rotors=zeros((v,)),
        gain=zeros((v, N_PARTS)),
        push=zeros((v, N_PARTS)),
        before=zeros((v,)),
        after=zeros((v,)),
    )
