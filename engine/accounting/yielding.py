"""Energy of compliant contacts and of stops that yield: stored, given back, lost in their dampers.

With the gap, or the error of the stop, at both ends of the step on a straight line through its
middle, each loses

    -(work on the bodies + rise of its energy)

which is damping; a gain is correction, and so is a loss where there is no damper. Where the
stored energy differs from that at the end of the last step (contacts begin, end and move on
curves), the difference is correction. Energy stored in the first step belongs to the initial
energy; where bodies appeared or vanished, the difference is theirs, and work from outside.
"""

from __future__ import annotations

from math import sqrt

from cardan.engine.accounting.contact_work import book_contacts
from cardan.engine.accounting.patches import record_patches
from cardan.engine.accounting.variation import note_stop
from cardan.engine.accounting.work import mean_row_speed
from cardan.engine.bodies.forces import elastic_slope
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.foundation import pressed_energy
from cardan.engine.constraints.row import row_speed_before
from cardan.engine.constraints.soft_stops import is_soft_stop, stop_energy
from cardan.engine.world.state import (
    EXTREME_KINETIC,
    FIRST_ENERGY,
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_WORK_IN,
    State,
)
from cardan.engine.world.world import World

# share of the largest kinetic energy from which on motion along a stop matters
MOVING = 0.01
# the same of motion towards a compliant contact: what presses on it all the time is estimated as
# other oscillations are
BOUNCING = 0.1


@kernel
def book_loss(state: State, loss: float, damped: bool) -> None:
    """The loss of what has a damper is damping; a gain, or without a damper, is correction [J]."""
    if damped and loss >= 0.0:
        state.ledger[LEDGER_DAMPING] += loss
    else:
        state.ledger[LEDGER_CORRECTION] -= loss


@kernel
def note_phase(world: World, i: int, speed: float) -> None:
    """Note how far the oscillation on a stop goes in this step, where it matters for the motion.

    What merely rests on a stop does not oscillate: motion along it matters from MOVING of the
    largest kinetic energy on.
    """
    joints, rows, problem = world.model.joints, world.work.rows, world.work.problem
    inverse_mass = problem.diagonal[i] - rows.cfm[i]
    largest = world.state.extremes[EXTREME_KINETIC]
    if problem.lam[i] > 0.0 and 0.5 * speed * speed > MOVING * largest * inverse_mass:
        depth = min(rows.error[i], 0.0)
        stiffness = elastic_slope(joints.limit_stiffness[rows.joint[i]], rows.axis[i], depth)
        note_stop(world, i, world.clock.h[0] * sqrt(max(stiffness * inverse_mass, 0.0)))


@kernel
def note_contact_phase(world: World, i: int, c: int, speed: float) -> None:
    """The same of what bounces on compliant contact c, whose normal is row i."""
    rows, problem = world.work.rows, world.work.problem
    inverse_mass = problem.diagonal[i] - rows.cfm[i]
    largest = world.state.extremes[EXTREME_KINETIC]
    if problem.lam[i] > 0.0 and 0.5 * speed * speed > BOUNCING * largest * inverse_mass:
        stiffness = 1.0 / world.work.contacts.compliance[c]
        note_stop(world, i, world.clock.h[0] * sqrt(stiffness * inverse_mass))


@kernel
def book_stops(world: World) -> tuple[float, float]:
    """Book the losses of stops that yield; their energy at the start and end of the step [J]."""
    joints, state, h = world.model.joints, world.state, world.clock.h[0]
    rows, problem, motion = world.work.rows, world.work.problem, world.work.motion
    before, after = 0.0, 0.0
    for i in range(problem.count[1]):
        if is_soft_stop(joints, rows, i):
            j, axis = rows.joint[i], rows.axis[i]
            # 2 mean - old: the speed after the kick
            mean, old = mean_row_speed(rows, i, motion, state), row_speed_before(rows, i, motion)
            start = stop_energy(joints, j, axis, rows.error[i] - 0.5 * h * old)
            end = stop_energy(joints, j, axis, rows.error[i] + 0.5 * h * (2.0 * mean - old))
            book_loss(
                state, start - end - problem.lam[i] * mean, joints.limit_damping[j, axis] > 0.0
            )
            note_phase(world, i, old)
            before += start
            after += end
    return before, after


@kernel
def book_compliant_contacts(world: World) -> tuple[float, float]:
    """Book the losses of compliant contacts; their energy at the start and end of the step [J]."""
    contacts, state, h = world.work.contacts, world.state, world.clock.h[0]
    rows, problem, motion = world.work.rows, world.work.problem, world.work.motion
    before, after = 0.0, 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        c = rows.slot[i]
        if contacts.compliance[c] > 0.0:
            # 2 mean - old: the speed after the kick
            mean, old = mean_row_speed(rows, i, motion, state), row_speed_before(rows, i, motion)
            start = pressed_energy(world, c, contacts.gap[c] - 0.5 * h * old)
            end = pressed_energy(world, c, contacts.gap[c] + 0.5 * h * (2.0 * mean - old))
            book_loss(state, start - end - problem.lam[i] * mean, contacts.damping[c] > 0.0)
            note_contact_phase(world, i, c, old)
            before += start
            after += end
    return before, after


@kernel
def book_touch(world: World) -> None:
    """Book the contacts of a finished step, and the stops that yield.

    Reads   contacts with their impulses, rows and lam; velocities before (motion) and after (state)
    Writes  state.ledger, momentum_in, extremes (FIRST_ENERGY); motion.scratch; presence_changed
            state.elastic, the energy stored at the end of this step [J]
    Check   tests/laws/test_energy.py, tests/references/test_surfaces.py,
            tests/references/test_soft_stops.py
    """
    state = world.state
    changed = state.presence_changed[0] == 1
    state.presence_changed[0] = 0
    before, after = book_stops(world)
    if book_contacts(world) or state.elastic[0] != 0.0:
        pressed, press = book_compliant_contacts(world)
        before += pressed
        after += press
    record_patches(world)
    if before == 0.0 and after == 0.0 and state.elastic[0] == 0.0:
        return
    if state.step[0] == 0:
        state.extremes[FIRST_ENERGY] += before - state.elastic[0]
    else:
        account = LEDGER_WORK_IN if changed else LEDGER_CORRECTION
        state.ledger[account] += before - state.elastic[0]
    state.elastic[0] = after


@kernel
def book_instant_touch(world: World) -> None:
    """Book the contacts of an impact without duration, in which stops that yield have no rows.

    Writes  as `book_touch`
    """
    if book_contacts(world):
        before, after = book_compliant_contacts(world)
        world.state.elastic[0] += after - before
