"""What a step's contacts could not foresee: velocities that were set, or that its own kick made.

Contacts are found in the middle of a step for the flight up to the next middle, with the
velocities before the kick. Two flights are then unguarded: the first half step after somebody set
velocities (a run begins, a command), and the flight of a body that was struck into a new
direction. For both the world is looked at again with the velocities of now, and if something would
be crossed, an impact without duration stops it: contacts and joints, no forces.
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.articulated.exchange import prepare
from engine.articulated.kick import book_supports, hold_trees
from engine.assembly.assemble import assemble
from engine.bodies.finite import first_bad_body
from engine.bodies.forces import load_gravity
from engine.bodies.point import point_velocity
from engine.bodies.world_inertia import write_world_inertia
from engine.collision.find_contacts import find_contacts
from engine.collision.persistence import settle_contacts
from engine.collision.scratch import CollisionScratch
from engine.constraints.impact_rows import write_impact_rows
from engine.diagnostics.contact_ledger import book_touch
from engine.diagnostics.ledger import book_row_impulses, book_work
from engine.integration.apply_impulses import apply_impulses, keep_impulses
from engine.kernel import kernel
from engine.meeting import meet
from engine.solvers.islands import solve_islands
from engine.spatial.vec3 import dot, load3, norm, sub
from engine.status import CONTACTS_FULL, PAIRS_FULL
from engine.world.contacts import Contacts
from engine.world.events import Events
from engine.world.model import DYNAMIC, Bodies, Model
from engine.world.options import StepOptions
from engine.world.report import Report
from engine.world.state import LEDGER_CORRECTION, State
from engine.world.workspace import Motion, Workspace

Told = tuple[Report, Events]

# Nothing may be crossed by more than this share of the margin in a flight nobody looked at.
FIRST_FLIGHT = 0.01
# A kick that carries a body more than so many margins from where it was going is looked at again.
JUMP = 4.0
# ... and answered if something would be crossed by a margin.
LATER_FLIGHT = 1.0
# Impacts that follow one another within a step.
MAX_IMPACTS = 3
# state.unguarded while a step waits for room behind its kick, and so many more impacts
STRUCK = 2


@kernel
def hold_velocities(state: State, motion: Motion) -> None:
    """No forces: v_free = v; nothing to book but the rows."""
    for i in range(state.p_WB.shape[0]):
        for k in range(3):
            motion.velocity_old[i, k] = state.w_WB_W[i, k]
            motion.velocity_old[i, 3 + k] = state.v_WB_W[i, k]
            motion.velocity_free[i, k] = state.w_WB_W[i, k]
            motion.velocity_free[i, 3 + k] = state.v_WB_W[i, k]
            motion.wrench[i, k] = 0.0
            motion.wrench[i, 3 + k] = 0.0
            motion.booked[i, k] = 0.0
            motion.booked[i, 3 + k] = 0.0
            motion.turning[i, k] = 0.0
            motion.turning[i, 3 + k] = 0.0
            motion.jump[i, k] = 0.0
            motion.jump[i, 3 + k] = 0.0


@kernel
def is_crossed(contacts: Contacts, state: State, horizon: float, tolerance: float) -> bool:
    """True if a contact closes by more than its gap and `tolerance` [m] within `horizon` [s].

    Compliant contacts give way on purpose.
    """
    for c in range(contacts.count[0]):
        if contacts.compliance[c] > 0.0:
            continue
        p, n = load3(contacts.point_W, c), load3(contacts.normal_W, c)
        v_a = point_velocity(state, contacts.body_a[c], p)
        v_b = point_velocity(state, contacts.body_b[c], p)
        if horizon * dot(n, sub(v_a, v_b)) > max(contacts.gap[c], 0.0) + tolerance:
            return True
    return False


@kernel
def is_deflected(model: Model, state: State, motion: Motion, h: float, far: float) -> bool:
    """True if the kick carries a shape by more than `far` [m] within h from where it was going.

    Neither where its body went before nor where forces alone would lead: then rows have done it.
    """
    shapes = model.shapes
    for i in range(len(shapes.kind)):
        body = shapes.body[i]
        if model.bodies.kind[body] != DYNAMIC:
            continue
        reach = norm(load3(shapes.p_BS, i)) + shapes.bounding_radius[i]
        from_old = 0.0
        from_free = 0.0
        for k in range(3):
            v, w = state.v_WB_W[body, k], state.w_WB_W[body, k]
            from_old += abs(v - motion.velocity_old[body, 3 + k])
            from_old += reach * abs(w - motion.velocity_old[body, k])
            from_free += abs(v - motion.velocity_free[body, 3 + k])
            from_free += reach * abs(w - motion.velocity_free[body, k])
        if h * min(from_old, from_free) > far:
            return True
    return False


@kernel
def lacks_room(report: Report) -> bool:
    """True if contacts or pairs were left out."""
    return bool(report.status[0] & (CONTACTS_FULL | PAIRS_FULL))


@kernel
def book_deflection(bodies: Bodies, motion: Motion, state: State, h: float) -> None:
    """What an impact after the kick changes of gravity's work over the flight h [s] that is left.

    The kick has reckoned with the velocities it left: with m g . v h, of which the impact has made
    m g . (v + dv) h. The total energy changes by the difference, and no row has booked it.

    Reads   motion.velocity_old   before the impact
    Writes  state.ledger
    Check   tests/engine/collision/test_continuous.py
    """
    g = load_gravity(state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            old = motion.velocity_old[i]
            change = sub(load3(state.v_WB_W, i), (old[3], old[4], old[5]))
            state.ledger[LEDGER_CORRECTION] -= h * bodies.mass[i] * dot(g, change)


@kernel
def strike(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
    limits: tuple[float, float, float],
) -> bool:
    """One impact without duration, if within the horizon something would be crossed.

    limits = (horizon [s], tolerance [m], time of now [s]).  Returns whether there was one. Where
    there is no room for its contacts, report.status says so and nothing has changed.

    Writes  velocities of state, its ledger, momentum_in and contacts; work; events
    Check   tests/engine/collision/test_continuous.py
    """
    report, events = told
    bodies, motion, rows, problem = model.bodies, work.motion, work.rows, work.problem
    if first_bad_body(bodies, state) >= 0:
        return False
    find_contacts(model, state, collision, work.ahead, options, report)
    if lacks_room(report) or not is_crossed(work.ahead, state, limits[0], limits[1]):
        return False
    # from here on they are the contacts of the step; who sleeps wakes of them
    if not meet(model, kind, state, work, collision, options, report):
        return False
    write_world_inertia(bodies, state, motion, options)
    hold_velocities(state, motion)
    prepare(model.tree, state, work.tree)
    hold_trees(state, work.tree)
    write_impact_rows(model, state, work.contacts, rows, options, motion.turning)
    assemble(bodies, rows, motion, problem, work.dense)
    inverse_mass, solver = bodies.inverse_mass, options.solver
    solve_islands(problem, inverse_mass, work.islands, work.dense, motion.scratch, solver, report)
    apply_impulses(bodies, problem, motion, state)
    keep_impulses(rows, problem, work.contacts, state)
    settle_contacts(model.shapes, work.contacts, state, motion, limits[2], events)
    book_work(model, rows, problem, motion, state, options)
    book_touch(bodies, rows, problem, work.contacts, motion, state, options.time_step)
    book_row_impulses(model, rows, problem, state)
    book_supports(problem, state, motion, 0.0)
    return True


@kernel
def guard_first_flight(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """Before the first half flight along velocities that were set; False when there is no room."""
    limits = (0.5 * options.time_step, FIRST_FLIGHT * options.margin, state.time[0])
    strike(model, kind, state, work, collision, options, told, limits)
    if lacks_room(told[0]):
        return False
    state.unguarded[0] = 0
    return True


@kernel
def guard_struck(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    told: Told,
) -> bool:
    """After a kick: bodies it has deflected meet what they would cross before the next one.

    False when there is no room for their contacts. The kick cannot be taken back, so the step waits
    here: called again with more room, and the same in `work`, this goes on where it stopped.

    Reads   state.unguarded   STRUCK, and one more for each impact that was
    Writes  as `strike`; state.unguarded
    Check   tests/laws/test_capacity.py
    """
    h = options.time_step
    limits = (h, LATER_FLIGHT * options.margin, (state.step[0] + 0.5) * h)
    while state.unguarded[0] < STRUCK + MAX_IMPACTS:
        if not is_deflected(model, state, work.motion, h, JUMP * options.margin):
            break
        if not strike(model, kind, state, work, collision, options, told, limits):
            if lacks_room(told[0]):
                return False
            break
        book_deflection(model.bodies, work.motion, state, 0.5 * h)
        state.unguarded[0] += 1
    state.unguarded[0] = 0
    return True
