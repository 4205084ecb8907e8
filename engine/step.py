"""One time step in maximal coordinates.

A step is flown in flight.py:

    1 move     half a step along the present velocities     -> p, q      in the middle of the step
    2 find     where do shapes touch, and who wakes of it   -> contacts
    3 forbid   which relative velocities are not allowed    -> rows       J v + bias = w
    4 predict  where would forces alone lead                -> v_free = v + h M^-1 f
    5 gather   one problem from all rows                    -> w = A lam + b
      strike   impacts by a law that acts before the kick   -> v jumps, rows anew
    6 solve    impulses that make it so                     -> lam        lo <= lam <= hi
    7 push     apply them                                   -> v = v_free + M^-1 J^T lam
    8 move     the other half along the new velocities      -> p, q
      stabilise  what came apart, where a scene asks for it -> p, q
                 (of a kick in substeps: to where they lead)
    9 account  where did work and momentum go, who sleeps   -> ledger, broken joints

Velocities jump once, in the middle: seen from there this is semi-implicit Euler, seen from the ends
of the step it is second order in h where motion is smooth (decision 0003).
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from engine.alone import fly_alone, pushed_until, stay_alone
from engine.articulated.exchange import prepare
from engine.bodies.finite import first_bad_body
from engine.bundle import bundle
from engine.collision.find_contacts import find_contacts
from engine.collision.scratch import CollisionScratch
from engine.collision.touching import has_room
from engine.diagnostics.breaking import break_joints
from engine.diagnostics.extremes import record_extremes
from engine.flight import (
    EXACT,
    NEWTON,
    fly,
    fly_exactly,
    fly_with_strikes,
    keep_start,
    land,
    undo,
)
from engine.guard import STRUCK, guard_first_flight
from engine.held import opened
from engine.impacts.record import show_record, start_sums
from engine.impacts.tally import show
from engine.kernel import kernel
from engine.settling import settle_trees
from engine.sleeping.activity import as_active, write_activity
from engine.sleeping.rest import fall_asleep
from engine.sleeping.wake import disturb_by_time, return_contacts
from engine.solvers.solve import SMALL_STEPS
from engine.stabilisation.follow import follow_substeps
from engine.stabilisation.stabilise import stabilise
from engine.status import EVENTS_FULL, NOT_FINITE
from engine.stopwatch import lap, look_at_clock, watch_step
from engine.world.events import Events
from engine.world.model import Model
from engine.world.options import Stabilisation, StepOptions
from engine.world.report import PHASE_APPLY, Report
from engine.world.state import State
from engine.world.workspace import Workspace

BAUMGARTE = int(Stabilisation.BAUMGARTE)


@kernel
def rouse(model: Model, kind: NDArray, state: State, work: Workspace, options: StepOptions) -> None:
    """Who is disturbed wakes; what every body does in this step."""
    if options.sleep.enabled == 1:
        disturb_by_time(model, state, options.time_step)
        return_contacts(model.shapes, state)
    write_activity(kind, state, options.sleep, work.motion.activity)


@kernel
def advance(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    report: Report,
    events: Events,
) -> bool:
    """One step of motion, by the law and time of impact of the options; False: no room."""
    told = (report, events)
    if first_bad_body(model.bodies, state) >= 0:
        return True
    if state.unguarded[0] >= STRUCK:
        prepare(model.tree, state, work.tree)
        return land(model, kind, state, work, collision, options, told)
    rouse(model, kind, state, work, options)
    work.positions.gained[:] = 0.0
    work.substeps.shift[:] = 0.0
    counted = options.restitution_law != NEWTON or options.impact_time == EXACT
    if state.unguarded[0] == 1:
        settle_trees(model, state, work.tree)
    if (
        not counted
        and state.unguarded[0] == 1
        and not guard_first_flight(model, kind, state, work, collision, options, told)
    ):
        return False
    keep_start(state, work)
    if counted:
        start_sums(work.impacts)
    if options.impact_time == EXACT:
        done = fly_exactly(model, kind, state, work, collision, options, told)
    elif counted:
        done = fly_with_strikes(model, kind, state, work, collision, options, told)
    else:
        done = fly(model, kind, state, work, collision, options, told)
    if not done and state.unguarded[0] < STRUCK:
        undo(state, work)
    elif counted:
        show(work.rows, work.problem, work.contacts, work.impacts)
        show_record(work.impacts, report)
    return done


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
    """Advance the state by one step; False when capacity was short.

    The step is then undone, or waits behind its kick for more room and the same in work (guard.py);
    with exact impacts the state is worthless and the door goes back.

    Reads   model, whose bodies' kinds are what they do in this step (work.motion.activity);
            kind (n,) int64: what they are; options
    Writes  state, report, events. Everything in work is garbage between steps.
    """
    if not advance(model, kind, state, work, collision, options, report, events):
        return False
    now = look_at_clock(report)
    if options.stabilisation != BAUMGARTE:
        stabilise(model, state, work, options, report)
    if options.solver.method == SMALL_STEPS:
        follow_substeps(model, state, work)
    state.step[0] += 1
    state.time[0] = state.step[0] * options.time_step
    break_joints(model.joints, state, work.rows, work.problem, options.time_step, events)
    if options.sleep.enabled == 1:
        islands = work.islands
        fall_asleep(model, state, work.contacts, options.sleep, islands.parent, islands.number)
    record_extremes(model, state, work.contacts, report)
    report.bad_body[0] = first_bad_body(model.bodies, state)
    if report.bad_body[0] >= 0:
        report.status[0] |= NOT_FINITE
    lap(report, PHASE_APPLY, now)
    return True


@bundle
class Course(NamedTuple):
    """All that a run reads and writes."""

    model: Model
    state: State
    work: Workspace
    collision: CollisionScratch
    options: StepOptions
    report: Report
    events: Events


@kernel
def run(held: Course, n_steps: int) -> int:
    """Up to n_steps steps; stops early when capacity is short or a value is not finite.

    Without a step to do, contacts are found where bodies are now, and nothing else is done.
    Returns the number of steps done; report.status says why there were fewer.
    """
    course = opened(held)
    model, state, work, collision = course.model, course.state, course.work, course.collision
    options, report, events = course.options, course.report, course.events
    if n_steps == 0:
        report.status[0] = 0
        find_contacts(model, state, collision, work.contacts, options, report)
        return 0
    active = as_active(model, work.motion.activity)
    alone = stay_alone(model, state, options)
    pushed, half = pushed_until(state), 0.5 * options.time_step
    for done in range(n_steps):
        report.status[0] = 0
        work.tree.asked[0] = 1 if done + 1 == n_steps else 0
        if not has_room(work.contacts, model.joints, events):
            report.status[0] = EVENTS_FULL
            return done
        watch_step(report, done, n_steps)
        if alone and state.time[0] + half >= pushed:
            fly_alone(model, state, work, options, report)
        elif not step(active, model.bodies.kind, state, work, collision, options, report, events):
            return done
        if report.status[0] & NOT_FINITE:
            return done + 1
    return n_steps
