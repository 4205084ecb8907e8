"""Resolve impacts: velocity jumps under a law of restitution, at the kick or the time of impact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.accounting.simultaneous_impacts import note_resolved
from cardan.engine.accounting.work import add_external, carried_speed, pushes_against_world
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import jacobian_product
from cardan.engine.impacts.active_contacts import (
    TIE,
    ImpactWindow,
    fastest_approach,
    mark_closed,
    mark_struck,
    propagate,
)
from cardan.engine.impacts.gather import gather
from cardan.engine.impacts.laws import newton_impact, poisson_impact, write_speeds
from cardan.engine.problem.coupled import goes_on
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import ImpactTime, RestitutionLaw
from cardan.engine.world.rows import ROW_COUPLING, ROW_EQUATION, ROW_NORMAL, ROW_SPRING, ROW_TANGENT
from cardan.engine.world.state import (
    LEDGER_CORRECTION,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
)

if TYPE_CHECKING:
    from cardan.engine.world.model import Bodies
    from cardan.engine.world.workspace import Workspace
    from cardan.engine.world.world import World

EXACT = int(ImpactTime.EXACT)
POISSON = int(RestitutionLaw.POISSON)
PROPAGATING = int(RestitutionLaw.PROPAGATING)

# successive impacts of one instant under the propagating law: a row of equal balls needs one per
# ball, light balls between heavy ones need many; approaches left after the last do not rebound
ROUNDS, ROUNDS_PER_CONTACT = 100, 20
# approach speeds below this share of the first one are rounding, even with a zero threshold
NOTHING = 1e-9


@kernel
def add_kick_before(bodies: Bodies, work: Workspace, share: float) -> None:
    """Add a share of the predicted kick to impacts.velocity.

    Prediction: forces of this step; impulses of joints and springs of the last step. The impact
    then acts between two halves of the kick, and e = 1 conserves energy.
    """
    motion, rows, problem = work.motion, work.rows, work.problem
    velocity = work.impacts.velocity
    for i in range(bodies.kind.shape[0]):
        for k in range(6):
            velocity[i, k] += share * (motion.velocity_free[i, k] - motion.velocity_old[i, k])
    for i in range(rows.count[1]):
        if rows.kind[i] in (ROW_COUPLING, ROW_EQUATION, ROW_SPRING):
            lam = share * rows.lam_warm[i]
            a, b = rows.body_a[i], rows.body_b[i]
            for k in range(6):
                velocity[a, k] += problem.MJ_a[i, k] * lam
                velocity[b, k] += problem.MJ_b[i, k] * lam


@kernel
def move_bodies(work: Workspace) -> None:
    """Add M^-1 J^T lam of one impact to the velocities of impacts and to motion.jump."""
    impacts, jump = work.impacts, work.motion.jump
    problem = impacts.problem
    for k in range(problem.count[0]):
        lam = impacts.lam[k]
        if lam == 0.0:
            continue
        a, b = problem.body_a[k], problem.body_b[k]
        for c in range(6):
            change_a, change_b = problem.MJ_a[k, c] * lam, problem.MJ_b[k, c] * lam
            impacts.velocity[a, c] += change_a
            impacts.velocity[b, c] += change_b
            impacts.seen[a, c] += change_a
            impacts.seen[b, c] += change_b
            jump[a, c] += change_a
            jump[b, c] += change_b


@kernel
def keep_sums(work: Workspace, k: int) -> None:
    """Add the impulse of row k of an impact to those of its contact or joint."""
    impacts, rows = work.impacts, work.rows
    i = impacts.source[k]
    if i >= rows.count[1]:
        c = i - rows.count[1]
        impacts.contact_lam[c // 3, c % 3] += impacts.lam[k]
        work.contacts.struck[c // 3] = 1
    else:
        if not goes_on(impacts.problem, k):
            impacts.joint_lam[rows.joint[i], rows.slot[i]] += impacts.lam[k]


@kernel
def book_outside(world: World, k: int, lam: float) -> None:
    """Book the impulse and work of row k on bodies of prescribed (kinematic) motion."""
    model, state, work = world.model, world.state, world.work
    bodies, problem = model.bodies, work.impacts.problem
    a, b = problem.body_a[k], problem.body_b[k]
    carried = carried_speed(bodies, problem.J_a, k, a, state)
    carried += carried_speed(bodies, problem.J_b, k, b, state)
    state.ledger[LEDGER_WORK_IN] -= lam * carried
    supported = pushes_against_world(model.joints, work.rows.joint[work.impacts.source[k]])
    if bodies.kind[a] == bodies.kind[b] and not supported:
        return
    if bodies.kind[a] == DYNAMIC:
        add_external(state.momentum_in, problem.J_a, k, a, state, lam)
    if bodies.kind[b] == DYNAMIC:
        add_external(state.momentum_in, problem.J_b, k, b, state, lam)


@kernel
def apply_impact(world: World) -> None:
    """Apply one impact and book its energy: the work of a row is lam times its mean velocity.

    The energy lost at normals is impact loss, that lost at tangents is friction loss. A gain of one
    is deducted from the loss of the other; a net gain is booked as a correction.

    Writes  velocities of impacts, motion.jump; state.ledger, momentum_in; sums of impacts
    Check   tests/references/test_impacts.py
    """
    work, impacts, ledger = world.work, world.work.impacts, world.state.ledger
    problem = impacts.problem
    for k in range(problem.count[0]):
        impacts.speed[k] = jacobian_product(problem, k, impacts.velocity)
    move_bodies(work)
    pushed, rubbed = 0.0, 0.0
    for k in range(problem.count[0]):
        lam = impacts.lam[k]
        if lam == 0.0:
            continue
        mean = 0.5 * (impacts.speed[k] + jacobian_product(problem, k, impacts.velocity))
        kind = work.rows.kind[impacts.source[k]]
        if kind == ROW_NORMAL:
            pushed += lam * mean
        elif kind == ROW_TANGENT:
            # the bias of a tangent is its surface velocity
            surface_velocity = work.rows.bias[impacts.source[k]]
            rubbed += lam * (mean + surface_velocity)
            ledger[LEDGER_WORK_IN] -= lam * surface_velocity
        else:
            ledger[LEDGER_CORRECTION] += lam * mean
        book_outside(world, k, lam)
        keep_sums(work, k)
    if pushed + rubbed > 0.0:
        ledger[LEDGER_CORRECTION] += pushed + rubbed
    elif pushed > 0.0:
        ledger[LEDGER_FRICTION] -= pushed + rubbed
    elif rubbed > 0.0:
        ledger[LEDGER_IMPACT] -= pushed + rubbed
    else:
        ledger[LEDGER_IMPACT] -= pushed
        ledger[LEDGER_FRICTION] -= rubbed


@kernel
def resolve_once(world: World, window: ImpactWindow, fastest: float) -> None:
    """Resolve one impact by the law of the options; the propagating law takes the fastest only."""
    work, law = world.work, world.options.restitution_law
    problem, contacts, impacts, rows = work.problem, work.contacts, work.impacts, work.rows
    if law == PROPAGATING:
        mark_struck(problem, contacts, impacts, window, (1.0 - TIE) * fastest)
    else:
        mark_struck(problem, contacts, impacts, window, 0.0)
        mark_closed(problem, contacts, impacts, window, fastest)
    propagate(world.model, rows, contacts, impacts)
    gather(world.model, rows, contacts, problem, impacts)
    write_speeds(work)
    if law == POISSON:
        poisson_impact(world, window.horizon)
    else:
        newton_impact(world, window.horizon, law == PROPAGATING)
    apply_impact(world)


@kernel
def apply_jump(world: World) -> None:
    """Set the velocities of the step to those after the last impact.

    Writes  state.v_WB_W, w_WB_W; motion.velocity_free
    """
    bodies, state, motion = world.model.bodies, world.state, world.work.motion
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            for k in range(3):
                state.w_WB_W[i, k] = motion.velocity_old[i, k] + motion.jump[i, k]
                state.v_WB_W[i, k] = motion.velocity_old[i, 3 + k] + motion.jump[i, 3 + k]
            for k in range(6):
                motion.velocity_free[i, k] += motion.jump[i, k]


@kernel
def resolve(world: World, window: ImpactWindow) -> bool:
    """Resolve all impacts within the window; True if there were any.

    newton, poisson   all contacts that a struck one reaches, simultaneously
    propagating       the fastest approach alone (ties together), then the next, until none is left
                      above the threshold or ROUNDS are over

    Reads   rows and problem (assembled) of the present poses; motion.velocity_old, and where a
            share of the kick acts before the impact velocity_free
    Writes  motion.jump, velocity_free += jump; state.v_WB_W, w_WB_W = velocity_old + jump,
            ledger, momentum_in; impacts
    Source  Poisson's hypothesis, Glocker 1995; decision 0006
    Check   tests/references/test_impacts.py
    """
    work, bodies = world.work, world.model.bodies
    motion, impacts, problem = work.motion, work.impacts, work.problem
    for i in range(bodies.kind.shape[0]):
        for k in range(6):
            impacts.seen[i, k] = motion.velocity_old[i, k]
            impacts.velocity[i, k] = motion.velocity_old[i, k]
    fastest = fastest_approach(problem, work.contacts, impacts, window)
    if fastest == 0.0:
        return False
    if window.before > 0.0:
        add_kick_before(bodies, work, window.before)
    for i in range(work.rows.count[1]):
        impacts.kept[i] = jacobian_product(problem, i, impacts.velocity)
    threshold = max(window.threshold, NOTHING * fastest)
    above = ImpactWindow(window.horizon, window.closed, window.touching, threshold, window.before)
    rounds, law = 1, world.options.restitution_law
    if law == PROPAGATING:
        rounds = ROUNDS + ROUNDS_PER_CONTACT * work.contacts.count[0]
    for _ in range(rounds):
        resolve_once(world, above, fastest)
        if law != PROPAGATING and world.options.impact_time == EXACT:
            note_resolved(world)
        fastest = fastest_approach(problem, work.contacts, impacts, above)
        if fastest == 0.0:
            break
    apply_jump(world)
    return True
