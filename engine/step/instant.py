"""Velocities that jump in an instant: impacts apart from the kick, drives that start.

A drive that is rigid and without a bound on its force has its speed as soon as it starts. In the
kick it would have it half a step later, and what it moves would be late by that, an error of first
order: so it starts before the first drift.
"""

from __future__ import annotations

from cardan.engine.accounting.work import book_row_impulses, book_work
from cardan.engine.accounting.yielding import book_instant_touch
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.impact_rows import drives_at_once, write_impact_rows
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.constraints.motor_targets import speed_jumps
from cardan.engine.impacts.impulse_accumulator import accumulate_start
from cardan.engine.integrators.velocity_projection import hold_motion, solve_rows
from cardan.engine.problem.assemble import write_friction_law
from cardan.engine.step.clock import set_part
from cardan.engine.step.find_contacts import find_contacts
from cardan.engine.trees.impulses import book_supports
from cardan.engine.trees.reactions import write_reactions
from cardan.engine.world.model import MOTOR_VELOCITY
from cardan.engine.world.world import World

# share of a step in which contacts yield while drives start: gaps do not close in it
INSTANT = 1e-6


@kernel
def solve_instant(world: World, starts: bool) -> None:
    """Velocities that contacts and joints allow, with `starts` those of drives that start, too.

    Reads   work.contacts
    Writes  velocities of state; work
    """
    hold_motion(world)
    write_impact_rows(world, starts)
    write_friction_law(world)
    solve_rows(world)


@kernel
def book_instant(world: World) -> None:
    """Work and momentum of `solve_instant`.

    Writes  state.ledger, momentum_in, elastic
    """
    state, work = world.state, world.work
    book_work(world)
    book_instant_touch(world)
    book_row_impulses(world.model, work.rows, work.problem, state)
    book_supports(world, 0.0)


@kernel
def has_start(world: World) -> bool:
    """Whether any motor drives at once."""
    joints = world.model.joints
    for j in range(joints.kind.shape[0]):
        for axis in range(n_coordinates(joints.kind[j])):
            if drives_at_once(world, j, axis):
                return True
    return False


@kernel
def has_jump(world: World) -> bool:
    """Whether the target of a motor that drives at once, a step function, jumps at this time."""
    joints = world.model.joints
    for j in range(joints.kind.shape[0]):
        for axis in range(n_coordinates(joints.kind[j])):
            if joints.motor_kind[j, axis] != MOTOR_VELOCITY:
                continue
            if drives_at_once(world, j, axis) and speed_jumps(world, j, axis):
                return True
    return False


@kernel
def keep_reactions(world: World) -> None:
    """Keep the reactions of inner joints of trees in `solve_instant`, as means over the step.

    Reads   velocities before (motion) and after (state); clock.h: INSTANT of the step
    Writes  impacts.started_reaction; work.tree.reaction (scratch)
    """
    reaction, kept = world.work.tree.reaction, world.work.impacts.started_reaction
    write_reactions(world, 0)
    for j in range(reaction.shape[0]):
        for k in range(6):
            kept[j, k] = INSTANT * reaction[j, k]


@kernel
def start_drives(world: World) -> bool:
    """Before the first drift along velocities that were set, drives get theirs; False: short room.

    Check   tests/references/test_driven_mechanisms.py
    """
    if not has_start(world):
        return True
    set_part(world, INSTANT * world.options.time_step, 0)
    found = find_contacts(world)
    if found:
        solve_instant(world, True)
        book_instant(world)
        accumulate_start(world)
        keep_reactions(world)
    set_part(world, world.options.time_step, 0)
    return found
