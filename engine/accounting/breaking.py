"""Breaking of joints whose reaction exceeds their breaking force; effective from the next step."""

from __future__ import annotations

import math

from cardan.engine.accounting.early_impacts import add_error
from cardan.engine.accounting.energy import joint_spring_energy
from cardan.engine.bodies.events import append_event, put_place
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_broken, joint_frame
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, load3, norm, scale
from cardan.engine.world.events import EVENT_BREAK, EVENT_JOINT, Events
from cardan.engine.world.model import DYNAMIC, GEAR, Joints
from cardan.engine.world.rows import ROW_EQUATION, ROW_LIMIT, ROW_SPRING
from cardan.engine.world.state import FREED, LEDGER_IMPACT, State
from cardan.engine.world.world import World


@kernel
def shift_of(world: World, j: int) -> Vec3:
    """Part of a loop joint's least reaction that the solver did not give [N] (a gear's [N m])."""
    shift, part = world.work.least.shift, 3 if world.model.joints.kind[j] == GEAR else 0
    return (shift[j, part], shift[j, part + 1], shift[j, part + 2])


@kernel
def reaction_of(world: World, first: int) -> tuple[Vec3, int]:
    """Force on the child of the joint whose rows start at `first` [N] (a gear's torque [N m]), W.

    Equations, stops and springs count, not motors and friction; in loops it is the least. Returns
    it and the row after the last of the joint.
    """
    joints, rows, lam = world.model.joints, world.work.rows, world.work.problem.lam
    h = world.options.time_step
    j = rows.joint[first]
    part = 0 if joints.kind[j] == GEAR else 3
    total: Vec3 = ZERO3
    i = first
    while i < rows.count[1] and rows.joint[i] == j:
        if rows.kind[i] in (ROW_EQUATION, ROW_LIMIT, ROW_SPRING):
            along = (rows.J_b[i, part], rows.J_b[i, part + 1], rows.J_b[i, part + 2])
            total = add_scaled(total, lam[i] / h, along)
        i += 1
    if joints.loop[j] >= 0:
        total = add(total, shift_of(world, j))
    return total, i


@kernel
def free_pair(state: State, key: int) -> None:
    """Remove one entry of a key from state.excluded; without entries the pair may touch."""
    keys = state.excluded
    n = keys.shape[0]
    k = 0
    while k < n and keys[k] < key:
        k += 1
    while k + 1 < n:
        keys[k] = keys[k + 1]
        k += 1
    if n > 0:
        keys[n - 1] = FREED


@kernel
def record_break(joints: Joints, state: State, j: int, push: Vec3, events: Events) -> None:
    """Append the event of a broken joint: at its anchor on the child, along the force on it."""
    a, b = joints.body_a[j], joints.body_b[j]
    k = append_event(events, EVENT_BREAK, state.step[0], state.time[0], a, b)
    if k >= 0:
        events.who[k, EVENT_JOINT] = j
        frame = joint_frame(joints, state, j)
        put_place(events, k, add(load3(state.p_WB, b), frame.arm_b), scale(1.0 / norm(push), push))


@kernel
def mark_break(world: World, j: int, push: Vec3) -> None:
    """A joint breaks up to a step late: its bodies have the impulse of that time too much.

    Reads   push    the force on the child [N]
    Writes  state.extremes
    """
    joints, bodies, h = world.model.joints, world.model.bodies, world.options.time_step
    for i in (joints.body_a[j], joints.body_b[j]):
        if world.kind[i] == DYNAMIC and joints.kind[j] != GEAR:
            add_error(world, i, scale(h * bodies.inverse_mass[i], push))


@kernel
def couples(joints: Joints, c: int, j: int) -> bool:
    """Whether joint j has a term in coupling c."""
    for t in range(joints.term_start[c], joints.term_start[c + 1]):
        if joints.term_joint[t] == j:
            return True
    return False


@kernel
def energy_held(joints: Joints, state: State, j: int) -> float:
    """Energy of the spring of joint j and of the couplings that end with it [J]."""
    total = joint_spring_energy(joints, state, j)
    for c in range(joints.kind.shape[0]):
        if couples(joints, c, j):
            total += joint_spring_energy(joints, state, c)
    return total


@kernel
def break_joints(world: World) -> None:
    """Break every joint whose reaction in this step exceeded its breaking force.

    The energy stored in its spring and in elastic couplings of it is lost, and booked as an impact.
    Its bodies may touch from then on, unless another joint between them excludes the pair.

    Reads   rows of the step, those of a joint one after the other
    Writes  state.broken: the end of this step [s] and the force [N]; state.ledger, excluded;
            still_steps, reset for the freed bodies; events, one for each joint; extremes
    Check   tests/references/test_breaking.py
    """
    joints, state, rows = world.model.joints, world.state, world.work.rows
    i = 0
    while i < rows.count[1]:
        j = rows.joint[i]
        if j < 0 or not math.isfinite(joints.breaking_force[j]) or is_broken(state, j):
            i += 1
            continue
        push, i = reaction_of(world, i)
        force = norm(push)
        if force > joints.breaking_force[j]:
            state.ledger[LEDGER_IMPACT] += energy_held(joints, state, j)
            state.broken[j, 0] = state.time[0]
            state.broken[j, 1] = force
            state.still_steps[joints.body_a[j]] = 0
            state.still_steps[joints.body_b[j]] = 0
            if joints.excluded[j] >= 0:
                free_pair(state, joints.excluded[j])
            record_break(joints, state, j, push, world.events)
            mark_break(world, j, push)
