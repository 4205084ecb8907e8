"""Triggers of the scene: which of them fire in this step.

A trigger compares a quantity x with a value; x is on the upper side when x >= value. The trigger
fires at the end of the step in which x changes sides. The first value of x, at the start or, where
only a step computes x, after the first step, fires no trigger.
"""

from __future__ import annotations

import math

from cardan.engine.accounting.breaking import reaction_of, shift_of
from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joint_couplings import coupled_rate, coupled_sum
from cardan.engine.constraints.joints.coordinates import coordinate, write_coordinate
from cardan.engine.constraints.joints.frames import is_broken, is_open, joint_frame
from cardan.engine.constraints.row import row_speed
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, load3, norm
from cardan.engine.world.model import COUPLING, Shapes
from cardan.engine.world.state import ContactCache
from cardan.engine.world.triggers import (
    FIRED_COUNT,
    FIRED_LATE,
    FIRED_RANGE,
    FIRED_SIDE,
    FIRED_TIME,
    TRIGGER_CONTACT,
    TRIGGER_COORDINATE,
    TRIGGER_FORCE,
    TRIGGER_TIME,
    TRIGGER_VELOCITY,
)
from cardan.engine.world.world import World

# share of a step that rounding may add to or take from a sum of steps
ROUNDED = 1e-9


@kernel
def joint_coordinate(world: World, j: int, axis: int) -> float:
    """Coordinate of a joint now [m or rad]."""
    joints, state = world.model.joints, world.state
    if joints.kind[j] == COUPLING:
        return coupled_sum(joints, state, j)
    return coordinate(joints, state, j, axis, joint_frame(joints, state, j))


@kernel
def joint_velocity(world: World, j: int, axis: int) -> float:
    """Rate of a coordinate now [m/s or rad/s]; the last row of the workspace is scratch."""
    joints, state, rows = world.model.joints, world.state, world.work.rows
    row = rows.bias.shape[0] - 1
    if joints.kind[j] == COUPLING:
        return coupled_rate(joints, state, j, rows, row)
    frame = joint_frame(joints, state, j)
    rows.body_a[row], rows.body_b[row] = frame.body_a, frame.body_b
    write_coordinate(rows, row, joints, j, axis, frame)
    return row_speed(rows, row, state)


@kernel
def joint_force(world: World, j: int) -> float:
    """Magnitude of the reaction in the last step: of a joint [N], of a gear [N m], of a coupling
    the force on its sum; 0 once the joint is broken.

    The reaction of a joint inside a tree follows from the tree's motion.
    """
    rows = world.work.rows
    if is_broken(world.state, j):
        return 0.0
    first = 0
    while first < rows.count[1] and rows.joint[first] != j:
        first += 1
    if world.model.joints.kind[j] == COUPLING:
        lam = world.work.problem.lam[first] if first < rows.count[2] else 0.0
        return abs(lam) / world.options.time_step
    total: Vec3 = ZERO3
    if first < rows.count[1]:
        total, _ = reaction_of(world, first)
    if world.model.tree.inner[j] == 1:
        reaction = world.work.tree.reaction
        total = add((reaction[j, 3], reaction[j, 4], reaction[j, 5]), total)
        if first == rows.count[1]:
            total = add(total, shift_of(world, j))
    return norm(total)


@kernel
def impulse_on(shapes: Shapes, cache: ContactCache, body: int, other: int) -> tuple[Vec3, bool]:
    """Sum of the impulses on a body from another (-1: from all) [N s], and whether they touch."""
    n = len(shapes.kind)
    total: Vec3 = ZERO3
    touching = False
    for c in range(cache.count[0]):
        a, b = shapes.body[cache.key[c] // n], shapes.body[cache.key[c] % n]
        if (a == body and other in (-1, b)) or (b == body and other in (-1, a)):
            total = add_scaled(total, 1.0 if b == body else -1.0, load3(cache.impulse_W, c))
            touching = touching or cache.touching[c] != 0
    return total, touching


@kernel
def contact_force(world: World, body: int, other: int, in_newtons: bool) -> float:
    """Magnitude of the sum of contact forces on a body from another (-1: from all) [N]; without
    `in_newtons`, 1 if they touch and else 0."""
    state, shapes = world.state, world.model.shapes
    awake, awake_touch = impulse_on(shapes, state.contacts, body, other)
    resting, resting_touch = impulse_on(shapes, state.resting, body, other)
    if in_newtons:
        return norm(add(awake, resting)) / world.options.time_step
    return 1.0 if awake_touch or resting_touch else 0.0


@kernel
def quantity(world: World, k: int) -> float:
    """The quantity of trigger k now, in the unit of its kind."""
    triggers = world.model.triggers
    kind, what, part = triggers.kind[k], triggers.what[k], triggers.part[k]
    if kind == TRIGGER_TIME:
        return float(world.state.time[0]) + ROUNDED * world.options.time_step
    if kind == TRIGGER_COORDINATE:
        return joint_coordinate(world, what, part)
    if kind == TRIGGER_VELOCITY:
        return joint_velocity(world, what, part)
    if kind == TRIGGER_FORCE:
        return joint_force(world, what)
    return contact_force(world, what, part, kind != TRIGGER_CONTACT)


@kernel
def is_known(world: World, k: int, before: bool) -> bool:
    """Whether trigger k has a quantity, before the first step or after a step.

    A step computes contacts and forces, and forces of joints only where a body is awake. A broken
    joint, or a joint of an absent body, has no coordinates.
    """
    kind, j, joints = world.model.triggers.kind[k], world.model.triggers.what[k], world.model.joints
    if kind == TRIGGER_TIME:
        return True
    if kind in (TRIGGER_COORDINATE, TRIGGER_VELOCITY):
        return not is_open(joints, world.state, j)
    if before or kind != TRIGGER_FORCE:
        return not before
    return not is_asleep(world.model.bodies.kind, joints.body_a[j], joints.body_b[j])


@kernel
def signed_distance(world: World, k: int) -> float:
    """Quantity of trigger k minus its value."""
    return float(quantity(world, k) - world.model.triggers.value[k])


@kernel
def side_of(above: float) -> float:
    """1: at the value or above, -1: below."""
    return 1.0 if above >= 0.0 else -1.0


@kernel
def begin_triggers(world: World) -> None:
    """Record the side of each quantity that has none yet and exists before a step."""
    sides = world.state.triggers
    for k in range(sides.shape[0]):
        if math.isnan(sides[k, FIRED_SIDE]) and is_known(world, k, True):
            sides[k, FIRED_SIDE] = side_of(signed_distance(world, k))


@kernel
def needs_reactions(world: World) -> bool:
    """Whether a trigger reads the reaction of a joint."""
    found = False
    for kind in world.model.triggers.kind:
        found = found or kind == TRIGGER_FORCE
    return found


@kernel
def find_crossings(world: World) -> bool:
    """Fire the triggers whose quantity changed sides in the step; True if any fired.

    Writes  state.triggers
    Check   tests/engine/test_triggers.py
    """
    triggers, fired = world.model.triggers, world.state.triggers
    any_fired = False
    for k in range(fired.shape[0]):
        if not is_known(world, k, False):
            continue
        above = signed_distance(world, k)
        before, now = fired[k, FIRED_SIDE], side_of(above)
        fired[k, FIRED_SIDE] = now
        followed = triggers.kind[k] == TRIGGER_COORDINATE
        if followed:
            fired[k, FIRED_RANGE] = max(fired[k, FIRED_RANGE], abs(above))
        if math.isnan(before) or now == before:
            continue
        if triggers.way[k] not in (0, int(now)):
            continue
        if triggers.repeat[k] == 1 or fired[k, FIRED_COUNT] == 0.0:
            fired[k, FIRED_COUNT] += 1.0
            fired[k, FIRED_TIME] = world.state.time[0]
            if followed:
                fired[k, FIRED_LATE] = max(fired[k, FIRED_LATE], abs(above))
            any_fired = True
    return any_fired
