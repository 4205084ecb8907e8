"""Drift: poses follow velocities, without any force.

A step is half a drift, a kick, and the other half. Where nothing constrains any body and gravity
alone acts, the kick turns none, and both halves of the rotation are one (decision 0120). Whether a
step is such depends on model, options and state alone: pauses and snapshots change nothing.
"""

from __future__ import annotations

from math import inf

from cardan.engine.accounting.crossings import (
    GROWTH_SHARE,
    SMALL_GROWTH,
    note_growth,
    under_way,
)
from cardan.engine.accounting.energy import moving_energy
from cardan.engine.accounting.work import add_impulse
from cardan.engine.bodies.finite import first_bad_body
from cardan.engine.bodies.forces import load_gravity
from cardan.engine.collision.find_contacts import can_any_touch
from cardan.engine.compiler.kernel import kernel
from cardan.engine.integrators.advance_poses import (
    IMPLICIT,
    INFINITESIMAL,
    advance_orientations,
    advance_poses,
)
from cardan.engine.problem.no_rows import clear_report
from cardan.engine.spatial.vec3 import ZERO3, add_scaled, load3, scale, store3
from cardan.engine.stabilisation.loop_closure import close_loops
from cardan.engine.stabilisation.loop_energy import restore_loop_energy
from cardan.engine.step.prescribed import drift_motions, prescribe_poses
from cardan.engine.step.timing import read_clock, record_phase
from cardan.engine.trees.drift import drift_after_kick, drift_before_kick, finish_drift
from cardan.engine.world.model import DYNAMIC, STATIC, Bodies
from cardan.engine.world.options import ImpactTime, RestitutionLaw, StepOptions
from cardan.engine.world.report import PHASE_MOVE
from cardan.engine.world.state import State
from cardan.engine.world.world import World

NEWTON, STEP = int(RestitutionLaw.NEWTON), int(ImpactTime.STEP)


@kernel
def note_drift(world: World, growth: float) -> None:
    """Record the energy that a drift had gained [J], if it is not little beside the motion of now.

    After a start from rest the largest kinetic energy of the steps before says nothing of it.
    """
    state = world.state
    if growth <= state.extremes[SMALL_GROWTH]:
        return
    if growth > GROWTH_SHARE * moving_energy(world.model, state):
        note_growth(state, growth, under_way(state))


@kernel
def drift_to_kick(world: World) -> None:
    """The first half of the step, to where the kick acts.

    Writes  state: poses, angular velocities, coordinates and rates of trees, books of their flight
    """
    now, h = read_clock(world.report), 0.5 * world.clock.h[0]
    advance_poses(world, h)
    drift_motions(world)
    note_drift(world, drift_before_kick(world, h))
    record_phase(world.report, PHASE_MOVE, now)


@kernel
def drift_from_kick(world: World) -> None:
    """The second half of the step; loops of trees are closed where it ends.

    Writes  as `drift_to_kick`
    """
    now, h = read_clock(world.report), 0.5 * world.clock.h[0]
    advance_poses(world, h)
    prescribe_poses(world)
    height = drift_after_kick(world, h)
    closed = close_loops(world)
    note_drift(world, finish_drift(world, h, height))
    restore_loop_energy(world, closed)
    record_phase(world.report, PHASE_MOVE, now)


@kernel
def has_default_drift(options: StepOptions) -> bool:
    """Whether one drift may replace two halves: by default, and unless bodies may fall asleep."""
    plain = options.gyroscopic == IMPLICIT and options.orientation_update != INFINITESIMAL
    struck = options.restitution_law != NEWTON or options.impact_time != STEP
    return plain and not struck and options.sleep.enabled == 0


@kernel
def free_from(world: World) -> float:
    """Time [s] from which gravity alone acts on all bodies of this run; inf: never.

    If there are no joints, force elements, grab or trees and no two shapes may ever touch, it is
    the end of the last commanded wrench.
    """
    model, state = world.model, world.state
    if len(model.joints.kind) + len(model.forces.kind) + len(model.tree.kind) > 0:
        return inf
    if len(model.prescribed.body) > 0:
        return inf
    if state.grab_body[0] >= 0 or state.contacts.count[0] > 0 or state.elastic[0] != 0.0:
        return inf
    if first_bad_body(model.bodies, state) >= 0 or not has_default_drift(world.options):
        return inf
    # those that are absent or asleep as well: a run does not become free on its way
    if can_any_touch(model.shapes, world.kind, state.excluded):
        return inf
    time = 0.0
    for i in range(state.applied.shape[0]):
        time = max(time, state.applied[i, 6])
    return time


@kernel
def advance_centres(bodies: Bodies, state: State, h: float) -> None:
    """Half a drift, the kick of gravity, half a drift: of centres of mass.

    Writes  p, v; state.momentum_in
    """
    g = load_gravity(state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == STATIC:
            continue
        v = load3(state.v_WB_W, i)
        p = add_scaled(load3(state.p_WB, i), 0.5 * h, v)
        if bodies.kind[i] == DYNAMIC:
            add_impulse(state.momentum_in, p, scale(h * bodies.mass[i], g), ZERO3)
            v = add_scaled(v, h, g)
            store3(state.v_WB_W, i, v)
        store3(state.p_WB, i, add_scaled(p, 0.5 * h, v))


@kernel
def drift_freely(world: World) -> None:
    """The whole step of bodies on which gravity alone acts.

    The same as in halves but for the rotation, which is one drift instead of two, and for rounding.

    Writes  state, report; counts of work
    Check   tests/laws/test_free_body.py
    """
    now, h = read_clock(world.report), world.options.time_step
    bodies, state = world.model.bodies, world.state
    advance_centres(bodies, state, h)
    advance_orientations(world, h)
    record_phase(world.report, PHASE_MOVE, now)
    state.velocities_changed[0] = 0
    clear_report(world)
