"""Wake bodies: by contact, by forces that vary in time, by kinematic bodies that move them."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import mean_about, share_until
from cardan.engine.collision.manifold.persistence import move_cached
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_broken
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import (
    ASLEEP,
    FORCE_POINT_GRAVITY,
    FORCE_SPRING,
    FORCE_TORSION,
    FORCE_WRENCH,
    KINEMATIC,
    MOTOR_NONE,
    Bodies,
    Shapes,
    Targets,
)
from cardan.engine.world.state import State
from cardan.engine.world.world import World


@kernel
def wake(state: State, i: int) -> None:
    """Wake body i and all bodies that fell asleep with it."""
    first = state.asleep_with[i]
    if first < 0:
        return
    for k in range(state.asleep_with.shape[0]):
        if state.asleep_with[k] == first:
            state.asleep_with[k] = -1
            state.still_steps[k] = 0
    state.woken[0] = 1


@kernel
def disturb(state: State, i: int) -> None:
    """Wake body i and reset its count of slow steps."""
    wake(state, i)
    state.still_steps[i] = 0


@kernel
def varies(targets: Targets, table: int, time: float, h: float) -> bool:
    """Whether the mean of a target over the step differs from that over the step before."""
    if targets.count[table] == 1:
        return False
    return mean_about(targets, table, time, h) != mean_about(targets, table, time - h, h)


@kernel
def moves(state: State, i: int) -> bool:
    """Whether body i has any velocity."""
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    return bool(dot(v, v) + dot(w, w) > 0.0)


@kernel
def wake_joined(world: World, a: int, b: int) -> None:
    """Wake the body that is joined to a kinematic one that moves."""
    activity = world.work.motion.activity
    if activity[a] == KINEMATIC:
        disturb(world.state, b)
    if activity[b] == KINEMATIC:
        disturb(world.state, a)


@kernel
def is_attractor_moved(world: World) -> bool:
    """Whether a kinematic body that attracts others moves."""
    mass, activity = world.model.bodies.attracting_mass, world.work.motion.activity
    moved = False
    for i in range(mass.shape[0]):
        moved = moved or (activity[i] == KINEMATIC and mass[i] > 0.0)
    return moved


@kernel
def wake_by_motion(world: World) -> None:
    """Wake the bodies that joints or force elements join to kinematic bodies that move.

    Reads   motion.activity
    Writes  state.asleep_with, still_steps
    Check   tests/laws/test_sleeping.py
    """
    joints, forces = world.model.joints, world.model.forces
    for j in range(joints.kind.shape[0]):
        if not is_broken(world.state, j):
            wake_joined(world, joints.body_a[j], joints.body_b[j])
    for f in range(forces.kind.shape[0]):
        if forces.kind[f] in (FORCE_SPRING, FORCE_TORSION):
            wake_joined(world, forces.body_a[f], forces.body_b[f])
        elif forces.kind[f] == FORCE_POINT_GRAVITY and is_attractor_moved(world):
            for i in range(world.kind.shape[0]):
                disturb(world.state, i)


@kernel
def wake_by_time(world: World) -> None:
    """Wake the bodies on which a time-varying motor or wrench, or a commanded force, acts.

    Reads   targets of motors and wrenches in the middle of the step
    Writes  state.asleep_with, still_steps
    Check   tests/laws/test_sleeping.py
    """
    model, state, h = world.model, world.state, world.clock.h[0]
    time = state.time[0] + 0.5 * h
    joints, forces = model.joints, model.forces
    for j in range(joints.kind.shape[0]):
        for axis in range(joints.motor_kind.shape[1]):
            if (
                joints.motor_kind[j, axis] != MOTOR_NONE
                and math.isnan(state.motor_target[j, axis])
                and varies(model.targets, joints.motor_table[j, axis], time, h)
            ):
                disturb(state, joints.body_a[j])
                disturb(state, joints.body_b[j])
    for f in range(forces.kind.shape[0]):
        if forces.kind[f] == FORCE_WRENCH:
            for k in range(6):
                if varies(model.targets, forces.table[f, k], time, h):
                    disturb(state, forces.body_a[f])
    for i in range(state.applied.shape[0]):
        if share_until(state.applied[i, 6], time, h) > 0.0:
            disturb(state, i)


@kernel
def wake_touched(bodies: Bodies, contacts: Contacts, state: State) -> bool:
    """Wake every sleeping body that has a contact: the other body is awake or moves.

    Returns True if any body was woken.

    Reads   bodies.kind: activity of bodies
    Check   tests/laws/test_sleeping.py
    """
    for c in range(contacts.count[0]):
        if bodies.kind[contacts.body_a[c]] == ASLEEP:
            wake(state, contacts.body_a[c])
        if bodies.kind[contacts.body_b[c]] == ASLEEP:
            wake(state, contacts.body_b[c])
    return bool(state.woken[0] == 1)


@kernel
def return_contacts(shapes: Shapes, state: State) -> None:
    """Move the contacts of woken bodies from state.resting to the cache, with their impulses."""
    if state.woken[0] == 1:
        move_cached(state.resting, shapes, state.asleep_with, False, state.contacts)
        state.woken[0] = 0
