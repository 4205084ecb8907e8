"""One time step in maximal coordinates.

    1 move     half a step along the present velocities     -> p, q      in the middle of the step
    2 find     where do shapes touch, and who wakes of it   -> contacts
    3 forbid   which relative velocities are not allowed    -> rows       J v + bias = w
    4 predict  where would forces alone lead                -> v_free = v + h M^-1 f
    5 gather   one problem from all rows                    -> w = A lam + b
    6 solve    impulses that make it so                     -> lam        lo <= lam <= hi
    7 push     apply them                                   -> v = v_free + M^-1 J^T lam
    8 move     the other half along the new velocities      -> p, q
    9 account  where did work and momentum go, who sleeps   -> ledger, broken joints

Velocities jump once, in the middle: seen from there this is semi-implicit Euler, seen from the ends
of the step it is second order in h where motion is smooth (decision 0003).
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.assembly.assemble import assemble
from engine.bodies.predict import predict_velocity
from engine.bodies.world_inertia import write_world_inertia
from engine.collision.persistence import settle_contacts
from engine.collision.scratch import CollisionScratch
from engine.collision.touching import has_room
from engine.constraints.write_rows import write_rows
from engine.diagnostics.breaking import break_joints
from engine.diagnostics.extremes import record_extremes
from engine.diagnostics.ledger import book_momentum, book_work
from engine.guard import guard_first_flight, guard_struck
from engine.integration.advance_poses import advance_poses
from engine.integration.apply_impulses import apply_impulses, forget_impulses, keep_impulses
from engine.kernel import clock_ns, kernel
from engine.meeting import meet
from engine.sleeping.activity import as_active, write_activity
from engine.sleeping.rest import fall_asleep
from engine.sleeping.wake import disturb_by_time, return_contacts
from engine.solvers.islands import solve_islands
from engine.spatial.quaternion import load4, store4
from engine.spatial.vec3 import load3, store3
from engine.status import EVENTS_FULL, NOT_FINITE
from engine.world.events import Events
from engine.world.model import Bodies, Model
from engine.world.options import StepOptions
from engine.world.report import (
    PHASE_APPLY,
    PHASE_ASSEMBLE,
    PHASE_MOVE,
    PHASE_NARROW,
    PHASE_ROWS,
    PHASE_SOLVE,
    Report,
)
from engine.world.state import State
from engine.world.workspace import Motion, Workspace


@kernel
def lap(report: Report, phase: int, since: int) -> int:
    """Book the time since `since` [ns] under a phase; returns now."""
    now = clock_ns()
    report.phase_ns[phase] += now - since
    return now


@kernel
def keep_start(state: State, motion: Motion) -> None:
    """Remember poses and spins so that the step can be undone."""
    for i in range(state.p_WB.shape[0]):
        store3(motion.p_start, i, load3(state.p_WB, i))
        store4(motion.q_start, i, load4(state.q_WB, i))
        store3(motion.w_start, i, load3(state.w_WB_W, i))
        store3(motion.L_start, i, load3(state.L_flown, i))
        store3(motion.flown_start, i, load3(state.w_flown, i))


@kernel
def undo(state: State, motion: Motion) -> None:
    """Take poses and spins back to where the step began."""
    for i in range(state.p_WB.shape[0]):
        store3(state.p_WB, i, load3(motion.p_start, i))
        store4(state.q_WB, i, load4(motion.q_start, i))
        store3(state.w_WB_W, i, load3(motion.w_start, i))
        store3(state.L_flown, i, load3(motion.L_start, i))
        store3(state.w_flown, i, load3(motion.flown_start, i))


@kernel
def first_bad_body(bodies: Bodies, state: State) -> int:
    """The first body whose pose or velocity is not finite, or -1."""
    for i in range(bodies.kind.shape[0]):
        total = 0.0
        for k in range(3):
            total += state.p_WB[i, k] + state.v_WB_W[i, k] + state.w_WB_W[i, k] + state.q_WB[i, k]
        if not math.isfinite(total):
            return i
    return -1


@kernel
def rouse(model: Model, kind: NDArray, state: State, work: Workspace, options: StepOptions) -> None:
    """Who is disturbed wakes; what every body does in this step."""
    if options.sleep.enabled == 1:
        disturb_by_time(model, state, options.time_step)
        return_contacts(model.shapes, state)
    write_activity(kind, state, options.sleep, work.motion.activity)


@kernel
def step(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    report: Report,
    events: Events,
) -> bool:
    """Advance the state by one step; False when it had to be undone because capacity was short.

    Reads   model, whose bodies' kinds are what they do in this step (work.motion.activity);
            kind (n,) int64: what they are; options
    Writes  state, report, events. Everything in work is garbage between steps.
    """
    h = options.time_step
    bodies, motion, rows, problem = model.bodies, work.motion, work.rows, work.problem
    now = clock_ns()
    told = (report, events)
    rouse(model, kind, state, work, options)
    if state.unguarded[0] == 1 and not guard_first_flight(
        model, kind, state, work, collision, options, told
    ):
        return False
    keep_start(state, motion)
    advance_poses(bodies, state, 0.5 * h, options)
    now = lap(report, PHASE_MOVE, now)
    if not meet(model, kind, state, work, collision, options, report):
        undo(state, motion)
        return False
    now = lap(report, PHASE_NARROW, now)
    write_world_inertia(bodies, state, motion, options)
    write_rows(model, state, work.contacts, rows, options, motion.turning)
    now = lap(report, PHASE_ROWS, now)
    predict_velocity(model, state, motion, options)
    assemble(bodies, rows, motion, problem)
    now = lap(report, PHASE_ASSEMBLE, now)
    inverse_mass, solver = bodies.inverse_mass, options.solver
    solve_islands(problem, inverse_mass, work.islands, work.dense, motion.scratch, solver, report)
    now = lap(report, PHASE_SOLVE, now)
    apply_impulses(bodies, rows, problem, motion, state)
    forget_impulses(bodies, model.joints, state)
    keep_impulses(rows, problem, work.contacts, state)
    settle_contacts(model.shapes, work.contacts, state, motion, (state.step[0] + 0.5) * h, events)
    book_work(model, rows, problem, work.contacts, motion, state, options)
    book_momentum(model, rows, problem, motion, state, options)
    guard_struck(model, kind, state, work, collision, options, told)
    advance_poses(bodies, state, 0.5 * h, options)
    state.step[0] += 1
    state.time[0] = state.step[0] * h
    break_joints(model.joints, state, rows, problem, h)
    if options.sleep.enabled == 1:
        islands = work.islands
        fall_asleep(model, state, work.contacts, options.sleep, islands.parent, islands.number)
    record_extremes(model, state, work.contacts, report)
    report.bad_body[0] = first_bad_body(bodies, state)
    if report.bad_body[0] >= 0:
        report.status[0] |= NOT_FINITE
    lap(report, PHASE_APPLY, now)
    return True


@kernel
def run(
    model: Model,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    n_steps: int,
    report: Report,
    events: Events,
) -> int:
    """Up to n_steps steps; stops early when capacity is short or a value is not finite.

    Returns the number of steps done; report.status says why there were fewer.
    """
    active = as_active(model, work.motion.activity)
    for done in range(n_steps):
        report.status[0] = 0
        if not has_room(work.contacts, events):
            report.status[0] = EVENTS_FULL
            return done
        if not step(active, model.bodies.kind, state, work, collision, options, report, events):
            return done
        if report.status[0] & NOT_FINITE:
            return done + 1
    return n_steps
