"""One time step in maximal coordinates.

    1 move     half a step along the present velocities     -> p, q      in the middle of the step
    2 find     where do shapes touch                        -> contacts
    3 forbid   which relative velocities are not allowed    -> rows       J v + bias = w
    4 predict  where would forces alone lead                -> v_free = v + h M^-1 f
    5 gather   one problem from all rows                    -> w = A lam + b
      strike   impacts by a law that acts before the kick   -> v jumps, rows anew
    6 solve    impulses that make it so                     -> lam        lo <= lam <= hi
    7 push     apply them                                   -> v = v_free + M^-1 J^T lam
    8 move     the other half along the new velocities      -> p, q
    9 account  where did work and momentum go               -> ledger

Velocities jump once, in the middle: seen from there this is semi-implicit Euler, seen from the ends
of the step it is second order in h where motion is smooth (decision 0003).
"""

from __future__ import annotations

import math

from engine.assembly.assemble import assemble
from engine.bodies.predict import predict_velocity
from engine.bodies.world_inertia import write_world_inertia
from engine.collision.find_contacts import find_contacts
from engine.collision.persistence import store_contacts
from engine.collision.scratch import CollisionScratch
from engine.constraints.write_rows import write_rows
from engine.diagnostics.extremes import record_extremes
from engine.diagnostics.ledger import book_momentum, book_work
from engine.impacts.select import Reach
from engine.impacts.strike import add_to_answer, start_strikes, strike
from engine.integration.advance_poses import advance_poses
from engine.integration.apply_impulses import apply_impulses, keep_impulses
from engine.kernel import clock_ns, kernel
from engine.solvers.solve import solve
from engine.spatial.quaternion import load4, store4
from engine.spatial.vec3 import load3, store3
from engine.status import CONTACTS_FULL, NOT_FINITE, PAIRS_FULL
from engine.world.model import Bodies, Model
from engine.world.options import RestitutionLaw, StepOptions
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

NEWTON = int(RestitutionLaw.NEWTON)


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
def strike_first(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> bool:
    """Impacts of a law that acts apart from the kick, in its middle; whether there were any.

    Rows and problem are then those of the velocities after them.
    """
    if options.restitution_law == NEWTON:
        return False
    start_strikes(work)
    reach = Reach(options.time_step, 0.0, options.restitution_threshold)
    if not strike(model, state, work, reach, options, report):
        return False
    write_world_inertia(model.bodies, state, work.motion, options)
    write_rows(model, state, work.contacts, work.rows, options, work.motion.turning)
    assemble(model.bodies, work.rows, work.motion, work.problem)
    return True


@kernel
def step(
    model: Model,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    report: Report,
) -> bool:
    """Advance the state by one step; False when it had to be undone because capacity was short.

    Reads model and options. Writes state, report. Everything in work is garbage between steps.
    """
    h = options.time_step
    bodies, motion, rows, problem = model.bodies, work.motion, work.rows, work.problem
    now = clock_ns()
    keep_start(state, motion)
    advance_poses(bodies, state, 0.5 * h, options)
    write_world_inertia(bodies, state, motion, options)
    now = lap(report, PHASE_MOVE, now)
    find_contacts(model, state, collision, work.contacts, options, report)
    if report.status[0] & (CONTACTS_FULL | PAIRS_FULL):
        undo(state, motion)
        return False
    now = lap(report, PHASE_NARROW, now)
    write_rows(model, state, work.contacts, rows, options, motion.turning)
    now = lap(report, PHASE_ROWS, now)
    predict_velocity(model, state, motion, options)
    assemble(bodies, rows, motion, problem)
    now = lap(report, PHASE_ASSEMBLE, now)
    struck = strike_first(model, state, work, options, report)
    solve(problem, work.dense, motion.scratch, options.solver, report)
    now = lap(report, PHASE_SOLVE, now)
    apply_impulses(bodies, rows, problem, motion, state)
    keep_impulses(rows, problem, work.contacts, state)
    store_contacts(work.contacts, model.shapes.kind.shape[0], state.contacts)
    book_work(model, rows, problem, motion, state, options)
    book_momentum(bodies, rows, problem, motion, state, options)
    if struck:
        add_to_answer(work, report)
    advance_poses(bodies, state, 0.5 * h, options)
    state.step[0] += 1
    state.time[0] = state.step[0] * h
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
) -> int:
    """Up to n_steps steps; stops early when capacity is short or a value is not finite.

    Returns the number of steps done; report.status says why there were fewer.
    """
    for done in range(n_steps):
        report.status[0] = 0
        if not step(model, state, work, collision, options, report):
            return done
        if report.status[0] & NOT_FINITE:
            return done + 1
    return n_steps
