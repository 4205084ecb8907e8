"""Drives of trees that need no rows, and scenes in which nothing else acts (not compiled)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.tree import has_drives, silent_joints, stopped_nodes
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
    """The `Drives` of a tree on whose generalised velocities no drive acts."""
    v = int(tree.v_start[-1])

    def whole(value: int) -> NDArray[np.int64]:
        return np.full(v, value, np.int64)

    return Drives(
        alone=np.zeros(1, np.int64),
        count=np.zeros(1, np.int64),
        hidden=np.zeros(len(tree.inner), np.int64),
        silent=tree.silent.copy(),
        stopped=tree.stopped.copy(),
        on_body=np.zeros(len(tree.node), np.int64),
        driven=whole(0),
        limited=whole(0),
        coordinate=whole(-1),
        joint=whole(-1),
        axis=whole(0),
        part=whole(0),
        spring=whole(-1),
    )


def drives_of(bodies: Bodies, joints: Joints, tree: Tree, n_others: int) -> Drives:
    """The drives of trees; none in scenes with loops and where springs or drag act on bodies.

    n_others: force elements but wrenches, and prescribed motions
    """
    made = no_drives(tree)
    if n_others > 0 or (bodies.kind == KINEMATIC).any() or not (tree.inner == 1).all():
        return made
    hidden = hidden_joints(joints, tree)
    by_rows = (joints.friction != 0.0) | (has_drives(joints) & ~hidden)
    made.alone[0] = are_trees(bodies, tree) and are_plain(joints, tree, hidden)
    made.hidden[:] = hidden
    made.silent[:] = silent_joints(joints, tree.inner, by_rows)
    made.stopped[:] = stopped_nodes(joints, tree, by_rows)
    for k, i, j, axis in own_rates(tree):
        made.joint[k], made.axis[k], made.coordinate[k] = j, axis, tree.q_start[i]
        made.limited[k] = joints.limit_on[j, axis]
        if not hidden[j]:
            continue
        made.part[k] = 0 if tree.kind[i] == NODE_SLIDER else 1
        if joints.spring_on[j] == 1 and joints.kind[j] != HINGE2 and axis == 0:
            made.spring[k] = 0 if joints.kind[j] == SLIDER else made.part[k]
        has_motor = joints.motor_kind[j, axis] != MOTOR_NONE
        made.driven[k] = has_motor or joints.damping[j] > 0.0 or made.spring[k] >= 0
    made.count[0] = made.driven.sum()
    acting = made.joint[made.driven == 1]
    made.on_body[joints.body_a[acting]] = made.on_body[joints.body_b[acting]] = 1
    return made


def are_trees(bodies: Bodies, tree: Tree) -> bool:
    """Whether trees are all that moves."""
    moving = np.flatnonzero(bodies.kind == DYNAMIC)
    return bool(len(moving) > 0 and (tree.node[moving] >= 0).all())


def hidden_joints(joints: Joints, tree: Tree) -> NDArray[np.bool_]:
    """(j,) joints of which all dampers, springs, and motors, with a force or with stiffness, act
    each on a coordinate of its own."""
    own = own_axes(joints, tree)
    motors, soft = joints.motor_kind != MOTOR_NONE, (joints.motor_stiffness != 0.0).any(axis=2)
    allowed = (joints.motor_kind == MOTOR_FORCE) | ((joints.motor_kind == MOTOR_POSITION) & soft)
    passive = (joints.damping > 0.0) | (joints.spring_on == 1)
    found: NDArray[np.bool_] = ~(motors & ~(allowed & own)).any(axis=1)
    return found & ~(passive & (own.sum(axis=1) != rates_of_joints(tree)))


def own_axes(joints: Joints, tree: Tree) -> NDArray[np.bool_]:
    """(j, 3) which coordinates have a generalised velocity of their own."""
    own = np.zeros(joints.motor_kind.shape, bool)
    for _, _, j, axis in own_rates(tree):
        own[j, axis] = True
    return own


def are_plain(joints: Joints, tree: Tree, hidden: NDArray[np.bool_]) -> bool:
    """Whether all that joints have are hidden drives, and stops of coordinates of their own."""
    limited = joints.limit_on != 0
    locked = limited & (joints.limit_lower == joints.limit_upper)
    return bool(
        hidden.all()
        and not (limited & ~own_axes(joints, tree)).any()
        and not locked.any()
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
    """Scratch of a kick with drives; what the factor does not change is that of `work`."""
    v = len(work.D)
    apart = {name: zeros(getattr(work, name).shape) for name in ("IA", "U", "D", "u", "qdd")}
    return DriveWork(
        without_rows=np.zeros(1, np.int64),
        shown=np.zeros(1, np.int64),
        tree=work._replace(**apart),
        free=zeros(work.V.shape),
        rotors=zeros((v,)),
        gain=zeros((v, N_PARTS)),
        push=zeros((v, N_PARTS)),
        before=zeros((v,)),
        after=zeros((v,)),
    )
