"""Contact detection in a step: the only place where room runs out."""

from __future__ import annotations

from cardan.engine.collision.find_contacts import (
    broad_phase,
    can_any_touch,
    can_share,
    clear_lists,
    lay_lists,
    narrow_phase,
    shortage,
)
from cardan.engine.collision.manifold.persistence import match_contacts
from cardan.engine.compiler.kernel import kernel
from cardan.engine.sleeping.activity import write_activity
from cardan.engine.sleeping.wake import return_contacts, wake_touched
from cardan.engine.step.shared import FIND, TAKE, is_shared, share_out
from cardan.engine.step.timing import read_clock, record_phase
from cardan.engine.step.transaction import keep_impulses
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.report import (
    CONTACTS_FULL,
    EVENTS_FULL,
    PAIRS_FULL,
    PHASE_BROAD,
    PHASE_NARROW,
    Report,
)
from cardan.engine.world.world import World


@kernel
def lacks_room(report: Report) -> bool:
    """Whether contacts or pairs were left out, or events might be."""
    return bool(report.status[0] & (CONTACTS_FULL | PAIRS_FULL | EVENTS_FULL))


@kernel
def narrow_together(world: World) -> None:
    """Do the `narrow_phase` for work.contacts by all threads, with the same result."""
    clear_lists(world)
    share_out(world, FIND)
    lay_lists(world)
    share_out(world, TAKE)
    match_contacts(world.work.contacts, len(world.model.shapes.kind), world.state.contacts)


@kernel
def keep_deflected(world: World) -> None:
    """Drop the pairs of which neither body is marked in motion.deflected; their order stays.

    Writes  world.collision.sweep
    """
    body, sweep = world.model.shapes.body, world.collision.sweep
    marked = world.work.motion.deflected
    count, kept = sweep.pair_count[0], 0
    for k in range(count):
        i, j = sweep.pair_a[k], sweep.pair_b[k]
        sweep.pair_a[kept], sweep.pair_b[kept] = i, j
        kept += marked[body[i]] | marked[body[j]]
    sweep.pair_count[1] -= count - kept
    sweep.pair_count[0] = kept


@kernel
def detect_contacts(world: World, contacts: Contacts, of_deflected: bool) -> None:
    """Contacts at the present poses that may close within the part of the step under way.

    of_deflected: only those of bodies marked in motion.deflected; else they are work.contacts, and
    the threads of the crew may share the work

    Writes  contacts, world.collision; report.status (CONTACTS_FULL, PAIRS_FULL), phase_ns
    """
    model, state, report = world.model, world.state, world.report
    reach = (world.options.margin, world.clock.h[0])
    now = read_clock(report)
    contacts.count[0], contacts.dropped[0] = 0, 0
    any_can = can_any_touch(model.shapes, model.bodies.kind, state.excluded)
    if any_can:
        broad_phase(model, state, world.collision, reach)
        if of_deflected:
            keep_deflected(world)
    now = record_phase(report, PHASE_BROAD, now)
    if any_can:
        n_pairs = world.collision.sweep.pair_count[0]
        if not of_deflected and can_share(world) and is_shared(world, n_pairs):
            narrow_together(world)
        else:
            narrow_phase(model, state, world.collision, reach, contacts)
        report.status[0] |= shortage(world.collision, contacts)
        record_phase(report, PHASE_NARROW, now)


@kernel
def find_contacts(world: World) -> bool:
    """Repeat contact detection until no sleeping body is woken; False: room is short.

    Events fit if every contact found, every one of the kick before and every joint may have one.

    Writes  work.contacts, motion.activity; state: sleeping bodies, contact caches; report.status
    Check   tests/laws/test_capacity.py
    """
    model, state, report, events = world.model, world.state, world.report, world.events
    contacts = world.work.contacts
    while True:
        detect_contacts(world, contacts, False)
        if contacts.count[0] + state.resting.count[0] > len(state.contacts.key):
            report.status[0] |= CONTACTS_FULL
        wanted = contacts.count[0] + state.contacts.count[0] + len(model.joints.kind)
        if len(events.who) > 0 and events.count[0] + wanted > len(events.who):
            report.status[0] |= EVENTS_FULL
        if lacks_room(report):
            return False
        if world.options.sleep.enabled == 0 or not wake_touched(model.bodies, contacts, state):
            return True
        keep_impulses(world)
        return_contacts(model.shapes, state)
        write_activity(world)
