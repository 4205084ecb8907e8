"""Where shapes meet, and who wakes of it."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.find_contacts import find_contacts
from engine.collision.scratch import CollisionScratch
from engine.kernel import kernel
from engine.sleeping.activity import write_activity
from engine.sleeping.wake import return_contacts, wake_touched
from engine.status import CONTACTS_FULL, PAIRS_FULL
from engine.world.model import Model
from engine.world.options import StepOptions
from engine.world.report import Report
from engine.world.state import State
from engine.world.workspace import Workspace


@kernel
def meet(
    model: Model,
    kind: NDArray,
    state: State,
    work: Workspace,
    collision: CollisionScratch,
    options: StepOptions,
    report: Report,
) -> bool:
    """Find contacts until nobody wakes of one; False when there is no room for them."""
    contacts = work.contacts
    while True:
        find_contacts(model, state, collision, contacts, options, report)
        if contacts.count[0] + state.resting.count[0] > len(state.contacts.key):
            report.status[0] |= CONTACTS_FULL
        if report.status[0] & (CONTACTS_FULL | PAIRS_FULL):
            return False
        if options.sleep.enabled == 0 or not wake_touched(model.bodies, contacts, state):
            return True
        return_contacts(model.shapes, state)
        write_activity(kind, state, options.sleep, work.motion.activity)
