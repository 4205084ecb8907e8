"""Continuous collision: no body passes through another on a drift that contacts did not foresee.

Contacts are found in the middle of a step for the drift up to the next middle, with the velocities
before the kick. Two drifts are then unforeseen: the first half step after velocities were set (a
run begins, a command), and the drift of a body that the kick has deflected. Before either, contacts
of these bodies are found anew with the velocities of now, and if something would be crossed, an
impact without duration stops it: contacts and joints, no forces.

Substeps end with the step: the half step up to the next kick is unforeseen, too. What is soft sinks
a little into others there; only what would be through them is stopped as if velocities were set.
"""

from __future__ import annotations

from cardan.engine.accounting.body_records import DEPTH_LIMIT, VARIED, first_of
from cardan.engine.accounting.impact_errors import note_replaced_impacts
from cardan.engine.bodies.finite import first_bad_body
from cardan.engine.bodies.forces import load_gravity
from cardan.engine.bodies.point import point_velocity, velocity_at
from cardan.engine.collision.manifold.persistence import settle_contacts
from cardan.engine.compiler.kernel import kernel
from cardan.engine.impacts.laws import has_impact_law
from cardan.engine.integrators.apply_impulses import store_warm_start
from cardan.engine.spatial.vec3 import add_scaled, dot, load3, norm, sub
from cardan.engine.step.find_contacts import detect_contacts, find_contacts, lacks_room
from cardan.engine.step.instant import book_instant, solve_instant
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.state import LEDGER_CORRECTION, State
from cardan.engine.world.world import World

# share of the margin by which nothing may be crossed on the first drift after velocities were set
FIRST_DRIFT = 0.01
# margins by which a kick may carry a body away from where it was going; beyond it is deflected
JUMP = 4.0
# share of the margin by which nothing may be crossed by a deflected body
LATER_DRIFT = 1.0
# impacts that follow one another within a step
MAX_IMPACTS = 3
# limits of depth, a tenth of the thickness each, from which on substeps may let a body through
THROUGH = 5.0


@kernel
def is_crossed(contacts: Contacts, state: State, window: tuple[float, float]) -> bool:
    """Whether a rigid contact closes by more than its gap and a tolerance within a horizon.

    window = (horizon [s], tolerance [m]). Compliant contacts give way on purpose.
    """
    horizon, tolerance = window
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
def find_deflected(world: World) -> bool:
    """Mark bodies of which the kick carries a shape far, within a step, from where it was going.

    Neither where its body went before nor where forces alone would lead: then rows have done it.
    Impacts by a law that acts apart from the kick are foreseen by it. Returns whether there is one.

    Writes  motion.deflected
    """
    if has_impact_law(world.options):
        return False
    shapes, state, motion = world.model.shapes, world.state, world.work.motion
    h, far = world.clock.h[0], JUMP * world.options.margin
    motion.deflected[:] = 0
    found = False
    for i in range(len(shapes.kind)):
        body = shapes.body[i]
        if world.model.bodies.kind[body] != DYNAMIC:
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
            motion.deflected[body] = 1
            found = True
    return found


@kernel
def book_deflection(world: World, h: float) -> None:
    """Correct the books for what an impact after the kick changes of gravity's work over h [s].

    The kick has reckoned with the velocities it left: with m g . v h, of which the impact has made
    m g . (v + dv) h. The total energy changes by the difference, and no row has booked it.

    Reads   motion.velocity_old   before the impact
    Writes  state.ledger
    Check   tests/engine/collision/test_continuous.py
    """
    bodies, state = world.model.bodies, world.state
    g = load_gravity(state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            old = world.work.motion.velocity_old[i]
            change = sub(load3(state.v_WB_W, i), (old[3], old[4], old[5]))
            state.ledger[LEDGER_CORRECTION] -= h * bodies.mass[i] * dot(g, change)


@kernel
def solve_impact_without_duration(world: World, time: float) -> None:
    """Stop what approaches at the contacts that were found; joints hold. time of now [s].

    Writes  velocities of state, its ledger, momentum_in and contacts; work; events
    """
    state, work = world.state, world.work
    solve_instant(world, False)
    store_warm_start(world)
    settle_contacts(world.model.shapes, work.contacts, state, work.motion, time, world.events)
    book_instant(world)


@kernel
def foresees_crossing(world: World, contacts: Contacts, window: tuple[float, float]) -> bool:
    """Whether bodies marked in motion.deflected would cross something (`is_crossed`).

    report.status shows where room was short.

    Writes  contacts
    """
    if first_bad_body(world.model.bodies, world.state) >= 0:
        return False
    detect_contacts(world, contacts, True)
    return not lacks_room(world.report) and is_crossed(contacts, world.state, window)


@kernel
def stop_crossing(world: World, time: float) -> bool:
    """One impact without duration at `time` [s]; False: room is short.

    Check   tests/engine/collision/test_continuous.py
    """
    # from here on they are the contacts of the step, and its rows; sleeping bodies wake
    world.work.drives.without_rows[0], world.work.drives.shown[0] = 0, 0
    if not find_contacts(world):
        return False
    solve_impact_without_duration(world, time)
    return True


@kernel
def stop_first_crossing(world: World) -> bool:
    """Before the first half drift along velocities that were set; False: room is short."""
    window = (0.5 * world.clock.h[0], FIRST_DRIFT * world.options.margin)
    world.work.motion.deflected[:] = 1
    # of all bodies, before those of the step are found
    if foresees_crossing(world, world.work.contacts, window):
        stop_crossing(world, world.state.time[0])
    return not lacks_room(world.report)


@kernel
def may_pass_by_next_kick(world: World) -> bool:
    """Whether substeps leave a body so fast that it is through another before the next kick.

    Reads   contacts of this kick, in its poses, velocities after it; substeps.shift
    Check   tests/engine/collision/test_continuous.py
    """
    state, contacts, h = world.state, world.work.contacts, world.clock.h[0]
    shift, first = world.work.substeps.shift, first_of(world)
    for c in range(contacts.count[0]):
        if contacts.compliance[c] > 0.0:
            continue
        a, b, p = contacts.body_a[c], contacts.body_b[c], load3(contacts.point_W, c)
        v = sub(point_velocity(state, a, p), point_velocity(state, b, p))
        moved = sub(velocity_at(state, shift, a, p), velocity_at(state, shift, b, p))
        depth = dot(load3(contacts.normal_W, c), add_scaled(moved, h, v)) - contacts.gap[c]
        in_a = state.extremes[first + VARIED * a + DEPTH_LIMIT]
        in_b = state.extremes[first + VARIED * b + DEPTH_LIMIT]
        if depth > THROUGH * min(in_a, in_b):
            return True
    return False


@kernel
def prevent_tunnelling(world: World, deflected: bool) -> bool:
    """After a kick: bodies it has deflected meet what they would cross before the next one.

    Reads   deflected: `find_deflected` right after the kick
    Writes  as `solve_impact_without_duration`. False: room is short
    Check   tests/engine/collision/test_continuous.py, tests/laws/test_capacity.py
    """
    h = world.clock.h[0]
    window = (h, LATER_DRIFT * world.options.margin)
    impacts = 0
    while deflected and impacts < MAX_IMPACTS:
        if not foresees_crossing(world, world.work.ahead, window):
            break
        note_replaced_impacts(world)
        if not stop_crossing(world, (world.state.step[0] + 0.5) * h):
            break
        book_deflection(world, 0.5 * h)
        impacts += 1
        deflected = impacts < MAX_IMPACTS and find_deflected(world)
    return not lacks_room(world.report)
