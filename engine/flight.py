"""Half a flight, a kick, half a flight: a step, or a part of one that ends where bodies meet."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.articulated.exchange import show_coordinates
from engine.articulated.flight import (
    arrive,
    fly_to_kick,
    keep_coordinates,
    leave_kick,
    return_coordinates,
)
from engine.articulated.kick import bend_trees, book_supports, predict_trees
from engine.articulated.reactions import write_reactions
from engine.assembly.assemble import assemble
from engine.bodies.finite import first_bad_body
from engine.bodies.predict import predict_velocity
from engine.bodies.world_inertia import write_world_inertia
from engine.closing import close_loops
from engine.collision.persistence import settle_contacts
from engine.collision.scratch import CollisionScratch
from engine.constraints.write_rows import write_rows
from engine.diagnostics.contact_ledger import book_touch
from engine.diagnostics.ledger import book_momentum, book_work
from engine.guard import STRUCK, Told, guard_struck
from engine.impacts.moment import first_moment, is_due
from engine.impacts.record import keep_record
from engine.impacts.select import Reach
from engine.impacts.strike import strike
from engine.impacts.tally import count_in, recall, remember
from engine.integration.advance_poses import advance_poses
from engine.integration.apply_impulses import apply_impulses, forget_impulses, keep_impulses
from engine.kernel import kernel
from engine.loop_energy import count_loop_work, finish_loops
from engine.meeting import meet
from engine.solvers.islands import solve_islands
from engine.solvers.small_steps import solve_small_steps
from engine.solvers.solve import SMALL_STEPS
from engine.spatial.quaternion import load4, store4
from engine.spatial.vec3 import load3, store3
from engine.stabilisation.tangent import count_work, write_tangents
from engine.stopwatch import lap, look_at_clock
from engine.world.model import Model
from engine.world.options import ImpactTime, RestitutionLaw, Stabilisation, StepOptions
from engine.world.report import (
    PHASE_APPLY,
    PHASE_ASSEMBLE,
    PHASE_MOVE,
    PHASE_ROWS,
    PHASE_SOLVE,
    Report,
)
from engine.world.state import State
from engine.world.workspace import Workspace

NEWTON = int(RestitutionLaw.NEWTON)
STEP, EXACT = int(ImpactTime.STEP), int(ImpactTime.EXACT)
BAUMGARTE = int(Stabilisation.BAUMGARTE)

# impacts and flights between them in one step with exact impacts, and more for every contact there
# is (a block of balls that lands has hundreds in a millisecond); what is left of the step after
# them is done as if they were not asked for (a ball that comes to rest bounces without end)
MOMENTS, MOMENTS_PER_CONTACT = 64, 8
# gaps below these shares of the margin: that of an impact at its moment, those of what it passes on
CLOSED, TOUCHING = 1e-9, 1e-6


@kernel
def part_of_step(options: StepOptions, h: float, impact_time: int) -> StepOptions:
    """The same options for a part h [s] of the scene's step."""
    return StepOptions(
        time_step=h,
        share=options.share * h / options.time_step,
        integrator=options.integrator,
        integrator_tolerance=options.integrator_tolerance,
        orientation_update=options.orientation_update,
        gyroscopic=options.gyroscopic,
        stabilisation=options.stabilisation,
        contact_erp=options.contact_erp,
        position_erp=options.position_erp,
        restitution_threshold=options.restitution_threshold,
        restitution_law=options.restitution_law,
        impact_time=impact_time,
        max_correction_speed=options.max_correction_speed,
        margin=options.margin,
        friction_kind=options.friction_kind,
        directions=options.directions,
        solver=options.solver,
        sleep=options.sleep,
    )


@kernel
def keep_start(state: State, work: Workspace) -> None:
    """Remember poses and spins so that the step can be undone."""
    motion = work.motion
    keep_coordinates(state, work.tree)
    for i in range(state.p_WB.shape[0]):
        store3(motion.p_start, i, load3(state.p_WB, i))
        store4(motion.q_start, i, load4(state.q_WB, i))
        store3(motion.w_start, i, load3(state.w_WB_W, i))
        store3(motion.L_start, i, load3(state.L_flown, i))
        store3(motion.flown_start, i, load3(state.w_flown, i))


@kernel
def undo(state: State, work: Workspace) -> None:
    """Take poses and spins back to where the step began."""
    motion = work.motion
    return_coordinates(state, work.tree)
    for i in range(state.p_WB.shape[0]):
        store3(state.p_WB, i, load3(motion.p_start, i))
        store4(state.q_WB, i, load4(motion.q_start, i))
        store3(state.w_WB_W, i, load3(motion.w_start, i))
        store3(state.L_flown, i, load3(motion.L_start, i))
        store3(state.w_flown, i, load3(motion.flown_start, i))


@kernel
def look(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    report: Report,
) -> bool:
    """Contacts of the present poses, and where forces alone would lead; False: no room for them.

    Writes  contacts, motion
    """
    if not meet(model, kind, state, work, collision, options, report):
        return False
    now = look_at_clock(report)
    write_world_inertia(model.bodies, state, work.motion, options)
    predict_velocity(model, state, work.motion, options)
    bend_trees(model.tree, work.tree, state, work.motion)
    predict_trees(model.tree, work.tree, state, work.motion, options.time_step)
    show_coordinates(model.tree, state)
    lap(report, PHASE_ROWS, now)
    return True


@kernel
def gather_rows(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> None:
    """Rows of the present poses and velocities, and one problem from all of them.

    Writes  rows, problem
    """
    now = look_at_clock(report)
    write_rows(model, state, work.contacts, work.rows, options, work.motion.turning)
    if options.stabilisation != BAUMGARTE or options.solver.method == SMALL_STEPS:
        write_tangents(work.rows, model.joints, options.time_step)
    now = lap(report, PHASE_ROWS, now)
    assemble(model.bodies, work.rows, work.motion, work.problem, work.dense)
    lap(report, PHASE_ASSEMBLE, now)


@kernel
def push(
    model: Model,
    state: State,
    work: Workspace,
    options: StepOptions,
    told: Told,
) -> None:
    """The kick: impulses that obey the rows, applied and booked.

    Writes  velocities, ledger, momentum_in, cached impulses of state
    """
    bodies, motion, rows, problem = model.bodies, work.motion, work.rows, work.problem
    now = look_at_clock(told[0])
    if options.solver.method == SMALL_STEPS:
        solve_small_steps(bodies, work, options, told[0])
    else:
        solve_islands(
            problem,
            bodies.inverse_mass,
            work.islands,
            work.dense,
            motion.scratch,
            options.solver,
            told[0],
        )
    now = lap(told[0], PHASE_SOLVE, now)
    apply_impulses(bodies, problem, motion, state)
    forget_impulses(bodies, model.joints, state)
    keep_impulses(rows, problem, work.contacts, state)
    time = state.time[0] + 0.5 * options.time_step
    settle_contacts(model.shapes, work.contacts, state, motion, time, told[1])
    book_work(model, rows, problem, motion, state, options)
    book_touch(bodies, rows, problem, work.contacts, motion, state, options.time_step)
    book_momentum(model, rows, problem, motion, state, options)
    book_supports(problem, state, motion, options.time_step)
    if work.tree.asked[0] == 1:
        write_reactions(problem, model.joints, state, motion, options.time_step)
    count_loop_work(model.tree, work.tree, rows, problem, motion, state)
    if options.stabilisation != BAUMGARTE:
        count_work(model, work, state, options, problem)
    lap(told[0], PHASE_APPLY, now)


@kernel
def reach_now(options: StepOptions) -> Reach:
    """What can be touched at this moment."""
    margin = options.margin
    return Reach(0.0, CLOSED * margin, TOUCHING * margin, options.restitution_threshold, 0.0)


@kernel
def strike_here(
    model: Model, state: State, work: Workspace, reach: Reach, options: StepOptions, told: Told
) -> bool:
    """Impacts of what is within reach now, after a look; whether there were any."""
    contacts, motion = work.contacts, work.motion
    if not is_due(contacts, state, motion, reach):
        return False
    n_shapes = model.shapes.kind.shape[0]
    recall(contacts, n_shapes, work.impacts)
    gather_rows(model, state, work, options, told[0])
    struck = strike(model, state, work, reach, options, told[0])
    remember(contacts, n_shapes, work.impacts)
    settle_contacts(model.shapes, contacts, state, motion, state.time[0], told[1])
    return struck


@kernel
def strike_in_kick(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> None:
    """Impacts of a law that acts apart from the kick, in its middle (decision 0006).

    Rows and problem are then written anew, for the velocities after them.
    """
    reach = Reach(options.time_step, 0.0, 0.0, options.restitution_threshold, 0.5)
    if strike(model, state, work, reach, options, report):
        write_world_inertia(model.bodies, state, work.motion, options)
        gather_rows(model, state, work, options, report)


@kernel
def land(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """The second half of a flight whose kick the guard watches over; False: it waits for room."""
    if not guard_struck(model, kind, state, work, collision, options, told):
        return False
    now, h = look_at_clock(told[0]), 0.5 * options.time_step
    advance_poses(model.bodies, state, h, options)
    height = leave_kick(model.tree, work.tree, state, h)
    closed = close_loops(model, state, work)
    arrive(model.tree, work.tree, state, h, height)
    finish_loops(model.tree, state, work, closed)
    lap(told[0], PHASE_MOVE, now)
    return True


@kernel
def fly(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """Half a flight, a kick, half a flight; False: no room for contacts.

    Poses are then astray; behind the kick (state.unguarded >= STRUCK) they wait for `land`.

    Impacts of a law that acts apart stand in the kick, but for a flight that ends where bodies
    meet. Where impacts are part of the kick, guard.py watches over what it deflects.
    """
    h, report = options.time_step, told[0]
    contacts, impacts, n_shapes = work.contacts, work.impacts, model.shapes.kind.shape[0]
    now = look_at_clock(report)
    advance_poses(model.bodies, state, 0.5 * h, options)
    fly_to_kick(model.tree, work.tree, state, 0.5 * h)
    lap(report, PHASE_MOVE, now)
    # what is nowhere touches nothing: the step ends here, and says so
    if first_bad_body(model.bodies, state) >= 0:
        return True
    if not look(model, kind, state, work, collision, options, report):
        return False
    gather_rows(model, state, work, options, report)
    # there is room for impacts where they are asked for
    counted = impacts.role.shape[0] > 0
    if counted:
        recall(contacts, n_shapes, impacts)
        if options.restitution_law != NEWTON and options.impact_time == STEP:
            strike_in_kick(model, state, work, options, report)
    push(model, state, work, options, told)
    if counted:
        keep_record(impacts, report)
        count_in(work.rows, work.problem, contacts, impacts)
        remember(contacts, n_shapes, impacts)
        advance_poses(model.bodies, state, 0.5 * h, options)
        return True
    state.unguarded[0] = STRUCK
    return land(model, kind, state, work, collision, options, told)


@kernel
def fly_exactly(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """A step whose impacts happen when bodies meet: flights that end there, and jumps between them.

    After as many as are allowed what is left is one flight with impacts in its middle, if at all.
    False: no room for contacts; the state is then worthless.

    Check   tests/references/test_exact_impacts.py
    """
    left = options.time_step
    reach = reach_now(options)
    state.unguarded[0] = 0
    moment, most = 0, MOMENTS
    while True:
        time = EXACT if moment < most else STEP
        moment += 1
        t = left
        # what is nowhere meets nothing
        if first_bad_body(model.bodies, state) >= 0:
            return True
        if time == EXACT:
            part = part_of_step(options, left, EXACT)
            if not look(model, kind, state, work, collision, part, told[0]):
                return False
            most = max(most, MOMENTS + MOMENTS_PER_CONTACT * work.contacts.count[0])
            if strike_here(model, state, work, reach, part, told):
                continue
            t = first_moment(work.contacts, state, work.motion, reach, left)
        part = part_of_step(options, t, time)
        if not fly(model, kind, state, work, collision, part, told):
            return False
        state.time[0] += t
        if t == left:
            break
        left -= t
    return True


@kernel
def fly_with_strikes(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """A step with impacts in its kick, and before its first half where velocities were set.

    False with poses astray: no room for contacts.
    """
    if state.unguarded[0] == 1:
        if not look(model, kind, state, work, collision, options, told[0]):
            return False
        half = 0.5 * options.time_step
        reach = Reach(half, 0.0, 0.0, options.restitution_threshold, 0.0)
        strike_here(model, state, work, reach, options, told)
        keep_start(state, work)
        state.unguarded[0] = 0
    return fly(model, kind, state, work, collision, options, told)
