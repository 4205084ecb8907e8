"""How many motions joints leave free, by counting equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.components import components
from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.memoised import memoised
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    DISTANCE,
    DYNAMIC,
    GEAR,
    HINGE,
    HINGE2,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    RACK,
    SCREW,
    SLIDER,
    Joints,
    Model,
)

# joints of one equation; all others leave only their coordinates free
OF_ONE_EQUATION = (DISTANCE, GEAR, RACK, COUPLING)
# joints that rigid drives do not prescribe entirely
NEVER_GIVEN = (*OF_ONE_EQUATION, BALL, HINGE2)


def equations(joints: Structure) -> NDArray[np.int64]:
    """(j,): number of equations of each joint, those of velocity and position drives included.

    A coupling with a stiffness, or that may be slack, has none.
    """
    free = np.array([n_coordinates(int(kind)) for kind in joints.kind], np.int64)
    kinds = np.where(is_one_of(joints.kind, OF_ONE_EQUATION), 1, 6 - free)
    soft = (joints.spring_on == 1) | (joints.limit_on[:, 0] == 1)
    kinds[(joints.kind == COUPLING) & soft] = 0
    driven = is_one_of(joints.motor_kind, (MOTOR_VELOCITY, MOTOR_POSITION))
    return kinds + driven.sum(axis=1)


def joined_bodies(model: Model) -> NDArray[np.int64]:
    """(n,): the number of the set of dynamic bodies that joints connect, for each body."""
    return sets_of_bodies(model.joints, model.bodies.kind == DYNAMIC)


def sets_of_bodies(joints: Joints | Structure, moving: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,): the number of the set of moving bodies that joints connect, for each body."""
    n = len(moving)
    inner = moving[joints.body_a] & moving[joints.body_b]
    return components(n, joints.body_a[inner], joints.body_b[inner])


def prescribed_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): dynamic bodies whose motion is prescribed.

    They are joined to a body that is not dynamic, or to a prescribed one, by a joint whose motions
    all have rigid drives, or that has none.
    """
    return mobility_of(structure_of(model.joints), model.bodies.kind)[0]


def driven_mechanisms(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies whose motion follows, through joints and loops, from bodies that are driven.

    A closed loop of a plane (or spherical) mechanism implies three of its equations: what moves
    freely is at most Gruebler's count and three for each loop. Mechanisms that imply more, as
    parallel cranks, must touch what is driven to be counted here.
    """
    return _driven(structure_of(model.joints), model.bodies.kind)


@memoised
def _driven(joints: Structure, kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    n, given = len(kind), mobility_of(joints, kind)[0]
    moving = (kind == DYNAMIC) & ~given
    part = sets_of_bodies(joints, moving)
    a, b = joints.body_a, joints.body_b
    held, owner = moving[a] | moving[b], np.where(moving[b], b, a)
    lines = held & ~is_one_of(joints.kind, OF_ONE_EQUATION)
    bodies = np.bincount(part, weights=moving.astype(float), minlength=n)
    loops = np.bincount(part[owner[lines]], minlength=n) - bodies
    lost = np.bincount(part[owner[held]], weights=equations(joints)[held], minlength=n)
    free = 6.0 * bodies - lost + 3.0 * loops.clip(0.0)
    driven = np.zeros(n, bool)
    driven[part[a[given[b] & moving[a]]]] = driven[part[b[given[a] & moving[b]]]] = True
    return moving & (driven & (free <= 0.0))[part]


def free_motions(model: Model) -> NDArray[np.int64]:
    """(n,): degrees of freedom of the joined bodies that each one belongs to.

    6 for each dynamic body, less the equations of joints and the drives (Gruebler); redundant
    equations count, so loops have at least what is said here. A body of its own has 0: nothing
    exchanges motion with it. What rigid drives prescribe couples nothing, as the world.
    """
    return mobility_of(structure_of(model.joints), model.bodies.kind)[1]


class Structure(NamedTuple):
    """Arrays that the mobility of joints depends on, as in world/model.py."""

    kind: NDArray[np.int64]
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    limit_on: NDArray[np.int64]
    term_start: NDArray[np.int64]
    term_joint: NDArray[np.int64]
    motor_kind: NDArray[np.int64]
    motor_max_force: NDArray[np.float64]
    motor_max_speed: NDArray[np.float64]
    motor_stiffness: NDArray[np.float64]
    spring_on: NDArray[np.int64]


def structure_of(joints: Joints) -> Structure:
    """The structure of joints."""
    return Structure(*(getattr(joints, name) for name in Structure._fields))


@memoised
def mobility_of(
    joints: Structure, kind: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """`prescribed_bodies` and `free_motions` of joints between bodies of these kinds."""
    given = _prescribed(joints, kind)
    n, moving = len(kind), (kind == DYNAMIC) & ~given
    part = sets_of_bodies(joints, moving)
    count = np.bincount(part, weights=6.0 * moving, minlength=n)
    owner = np.where(moving[joints.body_b], joints.body_b, joints.body_a)
    np.subtract.at(count, part[owner], equations(joints).astype(float))
    several = np.bincount(part, weights=moving.astype(float), minlength=n) > 1.0
    free = np.where(several, count, 0.0)
    return given, free[part].astype(np.int64)


def rigid_drives(joints: Joints | Structure) -> NDArray[np.bool_]:
    """(j, 3): coordinates with a drive to a speed or a position that is no spring."""
    rigid = is_one_of(joints.motor_kind, (MOTOR_VELOCITY, MOTOR_POSITION))
    return rigid & (joints.motor_stiffness == 0.0).all(axis=2)


def wholly_driven(joints: Joints | Structure) -> NDArray[np.bool_]:
    """(j,): joints all of whose motions rigid drives prescribe, or that leave none."""
    rigid = rigid_drives(joints) & np.isinf(joints.motor_max_force)
    rigid &= np.isinf(joints.motor_max_speed)
    free = np.array([n_coordinates(int(one)) for one in joints.kind], np.int64)
    found: NDArray[np.bool_] = (rigid.sum(axis=1) == free) & ~is_one_of(joints.kind, NEVER_GIVEN)
    return found


def _relations(joints: Structure) -> list[list[int]]:
    """Joints whose coordinates a rigid coupling, gear or rack relates, of each such relation.

    Joints of more than one coordinate are related to nothing that is known of one.
    """
    found = []
    rigid = (joints.spring_on == 0) & (joints.limit_on[:, 0] == 0)
    for j in np.flatnonzero((joints.kind == COUPLING) & rigid).tolist():
        found.append(joints.term_joint[joints.term_start[j] : joints.term_start[j + 1]].tolist())
    pins = is_one_of(joints.kind, (HINGE, SLIDER))
    for j in np.flatnonzero(is_one_of(joints.kind, (GEAR, RACK))).tolist():
        ends = [int(joints.body_a[j]), int(joints.body_b[j])]
        found.append([k for end in ends for k in np.flatnonzero(pins & (joints.body_b == end))[:1]])
    return [one for one in found if len(one) > 1]


def _prescribed(joints: Structure, kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    found, whole = kind != DYNAMIC, wholly_driven(joints)
    single = is_one_of(joints.kind, (HINGE, SLIDER, SCREW))
    relations, a, b = _relations(joints), joints.body_a, joints.body_b
    known = found.copy()
    while True:
        for one, other in ((a, b), (b, a)):
            found[other[whole & found[one]]] = True
        for related in relations:
            open_ones = [j for j in related if not (found[a[j]] and found[b[j]])]
            if len(open_ones) == 1 and single[open_ones[0]]:
                ends = [int(a[open_ones[0]]), int(b[open_ones[0]])]
                if found[ends].any():
                    found[ends] = True
        if (found == known).all():
            return found & (kind == DYNAMIC)
        known = found.copy()
