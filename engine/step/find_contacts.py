"""Contact detection in a step: the only place where room runs out."""

from __future__ import annotations

from cardan.engine.collision.find_contacts import broad_phase, can_any_touch, narrow_phase, shortage
from cardan.engine.compiler.kernel import kernel
from cardan.engine.sleeping.activity import write_activity
from cardan.engine.sleeping.wake import return_contacts, wake_touched
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
def detect_contacts(world: World, contacts: Contacts) -> None:
    """Contacts at the present poses that may close within the part of the step under way.

    Writes  contacts, world.collision; report.status (CONTACTS_FULL, PAIRS_FULL), phase_ns
    """
    model, state, report = world.model, world.state, world.report
    reach = (world.options.margin, world.clock.h[0])
    now = read_clock(report)
    contacts.count[0], contacts.dropped[0] = 0, 0
    any_can = can_any_touch(model.shapes, model.bodies.kind, state.excluded)
    if any_can:
        broad_phase(model, state, world.collision, reach)
    now = record_phase(report, PHASE_BROAD, now)
    if any_can:
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
        detect_contacts(world, contacts)
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
