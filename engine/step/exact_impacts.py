"""Impacts by a law of their own: in the kick, or at the time of impact.

With exact impacts a step is done in parts: each ends where two bodies meet, and velocities jump
between them. After as many as are allowed the rest of the step is one part with impacts in its
kick, if at all.
"""

from __future__ import annotations

from cardan.engine.bodies.finite import first_bad_body
from cardan.engine.bodies.world_inertia import write_world_inertia
from cardan.engine.collision.manifold.persistence import settle_contacts
from cardan.engine.compiler.kernel import kernel
from cardan.engine.impacts.active_contacts import ImpactWindow
from cardan.engine.impacts.impulse_accumulator import recall_impulses, store_impulses
from cardan.engine.impacts.laws import has_impact_law
from cardan.engine.impacts.resolve import resolve
from cardan.engine.impacts.time_of_impact import is_due, time_of_impact
from cardan.engine.step.clock import set_part
from cardan.engine.step.find_contacts import find_contacts
from cardan.engine.step.kick import assemble_problem, predict_velocities
from cardan.engine.world.options import ImpactTime, RestitutionLaw
from cardan.engine.world.world import World

NEWTON, EXACT = int(RestitutionLaw.NEWTON), int(ImpactTime.EXACT)

# searches for the next impact in one step with exact impacts, and more for every contact there is
# (a block of balls that lands has hundreds in a millisecond); a ball that comes to rest bounces
# without end
SEARCHES, SEARCHES_PER_CONTACT = 64, 8
# gaps below these shares of the margin: that of an impact at its time, those of what it passes on
CLOSED, TOUCHING = 1e-9, 1e-6


@kernel
def predict_contacts(world: World) -> bool:
    """Contacts of the present poses, and where forces alone would lead; False: room is short."""
    if not find_contacts(world):
        return False
    predict_velocities(world)
    return True


@kernel
def resolve_between_parts(world: World, window: ImpactWindow) -> bool:
    """Impacts within the window, apart from any kick; whether there were any."""
    contacts, state, motion = world.work.contacts, world.state, world.work.motion
    if not is_due(world, window):
        return False
    recall_impulses(world)
    assemble_problem(world)
    struck = resolve(world, window)
    store_impulses(world)
    settle_contacts(world.model.shapes, contacts, state, motion, state.time[0], world.events)
    return struck


@kernel
def resolve_before_drift(world: World) -> bool:
    """Impacts that velocities which were set lead to before the kick; False: room is short."""
    if not predict_contacts(world):
        return False
    threshold = world.options.restitution_threshold
    window = ImpactWindow(0.5 * world.clock.h[0], 0.0, 0.0, threshold, 0.0)
    resolve_between_parts(world, window)
    return True


@kernel
def apply_impact_law(world: World) -> None:
    """Impacts by a law that acts apart from the kick, in its middle (decision 0006).

    Rows and problem are then written anew, for the velocities after them.
    """
    options = world.options
    if not has_impact_law(options):
        return
    recall_impulses(world)
    if options.restitution_law == NEWTON or world.clock.exact[0] == 1:
        return
    window = ImpactWindow(world.clock.h[0], 0.0, 0.0, options.restitution_threshold, 0.5)
    if resolve(world, window):
        write_world_inertia(world)
        assemble_problem(world)


@kernel
def begin_parts(world: World) -> None:
    """The clock of a step with exact impacts before its first part."""
    clock = world.clock
    clock.left[0] = world.options.time_step
    clock.impacts[0], clock.impacts[1] = 0, SEARCHES
    clock.h[0] = 0.0


@kernel
def next_part(world: World) -> bool:
    """Resolve the impacts due now and set the clock to the drift up to the next.

    False: the step is over, or room is short (report.status).

    Check   tests/references/test_exact_impacts.py
    """
    clock, state, margin = world.clock, world.state, world.options.margin
    state.time[0] += clock.h[0]
    if clock.h[0] == clock.left[0]:
        return False
    clock.left[0] -= clock.h[0]
    threshold = world.options.restitution_threshold
    window = ImpactWindow(0.0, CLOSED * margin, TOUCHING * margin, threshold, 0.0)
    while clock.impacts[0] < clock.impacts[1]:
        clock.impacts[0] += 1
        set_part(world, clock.left[0], 1)
        # bodies without a finite position meet nothing
        if first_bad_body(world.model.bodies, state) >= 0 or not predict_contacts(world):
            return False
        most = SEARCHES + SEARCHES_PER_CONTACT * world.work.contacts.count[0]
        clock.impacts[1] = max(clock.impacts[1], most)
        if not resolve_between_parts(world, window):
            set_part(world, time_of_impact(world, window), 1)
            return True
    set_part(world, clock.left[0], 0)
    return bool(first_bad_body(world.model.bodies, state) < 0)
