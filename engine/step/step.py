"""One time step: velocities jump once, in the middle of a drift.

Seen from the middle this is semi-implicit Euler, seen from the ends of the step it is second order
in h where motion is smooth (decision 0003). It is the same step in maximal and in reduced
coordinates, with impacts in the kick or exactly where bodies meet.
"""

from __future__ import annotations

from cardan.engine.accounting.breaking import break_joints
from cardan.engine.accounting.extremes import record_extremes, record_motion
from cardan.engine.accounting.impact_errors import record_impacts, record_releases
from cardan.engine.accounting.least_reactions import has_breaking_loops
from cardan.engine.accounting.sampling import is_due, write_sample
from cardan.engine.accounting.stretches import record_stretches
from cardan.engine.accounting.triggers import begin_triggers, find_crossings, needs_reactions
from cardan.engine.accounting.variation import (
    record_depths,
    record_free_turns,
    record_travels,
    record_variation,
)
from cardan.engine.bodies.finite import first_bad_body
from cardan.engine.bodies.forces import BESIDE
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel, unlocked_kernel
from cardan.engine.impacts.impulse_accumulator import clear_totals, report_totals
from cardan.engine.impacts.laws import has_impact_law
from cardan.engine.integrators.velocity_projection import project_velocities
from cardan.engine.problem.no_rows import clear_report
from cardan.engine.sleeping.activity import update_activity, wake_all_due, write_activity
from cardan.engine.sleeping.rest import update_sleep
from cardan.engine.solvers.solve import SMALL_STEPS
from cardan.engine.stabilisation.stabilise import correct_positions
from cardan.engine.stabilisation.substep_poses import follow_substeps
from cardan.engine.stabilisation.whips import slow_whips
from cardan.engine.step.assist import assist
from cardan.engine.step.clock import set_part
from cardan.engine.step.continuous import (
    find_deflected,
    may_pass_by_next_kick,
    prevent_tunnelling,
    stop_first_crossing,
)
from cardan.engine.step.controls import command_motors
from cardan.engine.step.drift import drift_freely, drift_from_kick, drift_to_kick, free_from
from cardan.engine.step.driven import need_no_rows, show_rows
from cardan.engine.step.exact_impacts import (
    EXACT,
    apply_impact_law,
    begin_parts,
    next_part,
    resolve_before_drift,
)
from cardan.engine.step.find_contacts import detect_contacts, find_contacts, lacks_room
from cardan.engine.step.instant import has_jump, start_drives
from cardan.engine.step.kick import (
    assemble_problem,
    kick_with_drives,
    predict_velocities,
    record_kick,
    solve_kick,
)
from cardan.engine.step.timing import choose_timed, read_clock, record_phase
from cardan.engine.step.transaction import begin_transaction, keep_impulses, roll_back
from cardan.engine.world.report import NOT_FINITE, PHASE_APPLY, SAMPLES_FULL, TRIGGERED
from cardan.engine.world.samples import Samples
from cardan.engine.world.state import MAY_PASS, VELOCITIES_KEPT, VELOCITIES_SET
from cardan.engine.world.world import World

# what `run` does in place of steps
LOOK_AHEAD, PROJECT, ASSIST = -1, -2, -3


@kernel
def kick_by_rows(world: World) -> None:
    """The problem of all rows, its solution, and the velocities after it."""
    assemble_problem(world)
    apply_impact_law(world)
    solve_kick(world)


@kernel
def kick(world: World) -> bool:
    """Find contacts in the middle of a step, and the velocities after all impulses.

    False: room for contacts or events is short.
    """
    if not find_contacts(world):
        return False
    predict_velocities(world)
    if not (need_no_rows(world) and kick_with_drives(world)):
        kick_by_rows(world)
    return True


@kernel
def drift_kick_drift(world: World) -> bool:
    """Advance by clock.h; False: room for contacts or events is short."""
    drift_to_kick(world)
    if first_bad_body(world.model.bodies, world.state) >= 0:
        clear_report(world)  # a body without a finite position touches nothing; end_step reports it
        return True
    if not kick(world):
        return False
    deflected = find_deflected(world)
    if deflected:
        keep_impulses(world)
    record_kick(world)
    slow_whips(world)
    if not prevent_tunnelling(world, deflected):
        return False
    if world.options.solver.method == SMALL_STEPS and may_pass_by_next_kick(world):
        world.state.velocities_changed[0] = MAY_PASS
    drift_from_kick(world)
    return True


@kernel
def begin_step(world: World) -> bool:
    """Begin a step: bodies wake, and velocities and targets that were set take effect.

    False: room is short.
    """
    work, state = world.work, world.state
    begin_transaction(world)
    set_part(world, world.options.time_step, 0)
    wake_all_due(world)
    changed, jumps = state.velocities_changed[0] != VELOCITIES_KEPT, has_jump(world)
    if state.woken[0] == 1 or changed or jumps or has_impact_law(world.options):
        keep_impulses(world)
    update_activity(world)
    work.ahead.dropped[0] = 0  # looked for in few steps
    work.positions.gained[:] = 0.0
    work.positions.jolted[:] = 0.0
    work.substeps.shift[:] = 0.0
    work.impacts.started[0] = 0
    if has_impact_law(world.options):
        clear_totals(work.impacts)
    if state.velocities_changed[0] == VELOCITIES_SET:
        project_velocities(world)
    state.velocities_changed[0] = VELOCITIES_KEPT
    if world.options.impact_time == EXACT or not (changed or jumps):
        return True
    if has_impact_law(world.options):
        return not changed or (resolve_before_drift(world) and stop_first_crossing(world))
    return start_drives(world) and stop_first_crossing(world)


@kernel
def advance(world: World) -> bool:
    """The motion of one step; False: room is short."""
    if not begin_step(world):
        return False
    if world.options.impact_time != EXACT:
        return drift_kick_drift(world)
    begin_parts(world)
    while next_part(world):
        if not drift_kick_drift(world):
            return False
    return not lacks_room(world.report)


@kernel
def end_step(world: World, is_free: bool) -> None:
    """Positions are corrected, joints break, bodies fall asleep, errors are recorded.

    Of free bodies, and in a state that is not finite, only the last applies.
    """
    model, state, work, report = world.model, world.state, world.work, world.report
    now, h = read_clock(report), world.options.time_step
    if not is_free:
        correct_positions(world)
        follow_substeps(world)
    state.step[0] += 1
    state.time[0] = state.step[0] * h
    if is_free:
        record_motion(model, state)
        record_free_turns(world)
    else:
        break_joints(world)
        update_sleep(world)
        record_extremes(model, state, work.contacts, report)
        record_impacts(world, work.contacts)
        record_releases(world)
        record_variation(world)
        record_stretches(world)
        record_depths(world, work.contacts)
        record_travels(world, work.contacts)
    report.bad_body[0] = first_bad_body(model.bodies, state)
    if report.bad_body[0] >= 0:
        report.status[0] |= NOT_FINITE
    record_phase(report, PHASE_APPLY, now)


@kernel
def step(world: World) -> bool:
    """Advance the state by one step; False: room was short, and the state is as it was.

    Reads   model, kind, options; clock.free_from
    Writes  state, report, events. Everything in work is garbage between steps.
    """
    state, work = world.state, world.work
    work.drives.without_rows[0], work.drives.shown[0] = 0, 0
    is_free = state.time[0] + BESIDE * world.options.time_step >= world.clock.free_from[0]
    is_bad = not is_free and first_bad_body(world.model.bodies, state) >= 0
    if is_free:
        drift_freely(world)
    elif is_bad:
        clear_report(world)
    else:
        if not advance(world):
            roll_back(world)
            return False
        report_totals(world)
    end_step(world, is_free or is_bad)
    if work.drives.shown[0] > 0:
        show_rows(world)
    return True


@kernel
def look_ahead(world: World) -> None:
    """Do the next step up to the velocities after its kick; nothing is booked or recorded.

    Writes  work.problem, rows, motion, drives.without_rows; work.tree.mean: rates before the kick;
            state: middle of the step, with the velocities after the kick; report.status
    Check   tests/engine/test_ahead.py
    """
    world.work.drives.without_rows[0] = 0
    if not begin_step(world):
        return
    drift_to_kick(world)
    for k in range(world.state.tree_qd.shape[0]):
        world.work.tree.mean[k] = world.state.tree_qd[k]
    if find_contacts(world):
        predict_velocities(world)
        kick_by_rows(world)


@unlocked_kernel
def run(handle: World, samples_handle: Samples, n_steps: int) -> int:
    """Up to n_steps steps; fewer when room is short, a value is not finite or a trigger fires.

    Motors follow the controls. Due steps are recorded in the samples; one that finds no room there
    is done but not recorded. Without a step to do (0), contacts are found at the present poses, and
    nothing else is done; LOOK_AHEAD begins the next step (`look_ahead`), in a copy of a world;
    PROJECT commands motors and projects velocities that were set, for integrators of smooth motion;
    ASSIST and below do shares of another thread's steps (`assist`), as its first, second, ...
    helper.
    Returns the number of steps done; report.status says why there were fewer.
    """
    world, samples = struct_of(handle), struct_of(samples_handle)
    if n_steps <= ASSIST:
        assist(world, 1 + ASSIST - n_steps)
        return 0
    report = world.report
    write_activity(world)
    if n_steps == PROJECT:
        command_motors(world)
        if world.state.velocities_changed[0] == VELOCITIES_SET:
            project_velocities(world)
            world.state.velocities_changed[0] = VELOCITIES_KEPT
        return 0
    if n_steps == LOOK_AHEAD:
        report.status[0] = 0
        look_ahead(world)
        return 0
    if n_steps == 0:
        report.status[0] = 0
        set_part(world, world.options.time_step, 0)
        detect_contacts(world, world.work.contacts, False)
        return 0
    world.clock.free_from[0] = free_from(world)
    begin_triggers(world)
    reactions = needs_reactions(world) or has_breaking_loops(world.model.joints)
    for done in range(n_steps):
        report.status[0] = 0
        command_motors(world)
        due = is_due(samples, world.state.step[0] + 1)
        world.work.tree.asked[0] = 1 if due or reactions or done + 1 == n_steps else 0
        choose_timed(report)
        if not step(world):
            return done
        if report.status[0] & NOT_FINITE:
            return done + 1
        fires = find_crossings(world)
        if fires:
            report.status[0] |= TRIGGERED
        if due and not write_sample(world, samples):
            report.status[0] |= SAMPLES_FULL
            return done + 1
        if fires:
            return done + 1
    return n_steps
