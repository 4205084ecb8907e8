"""Impulses of the parts of one step, by contact: contacts come and go from part to part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel

if TYPE_CHECKING:
    from engine.world.contacts import Contacts
    from engine.world.impacts import Impacts
    from engine.world.problem import Problem
    from engine.world.rows import Rows


@kernel
def recall(contacts: Contacts, n_shapes: int, impacts: Impacts) -> None:
    """impacts.contact_lam of the present contacts from the tally; 0 for new ones.

    Both lists ascend by pair: one walk through each.
    """
    tally, lam = impacts.tally, impacts.contact_lam
    start = 0
    for c in range(contacts.count[0]):
        key = contacts.shape_a[c] * n_shapes + contacts.shape_b[c]
        for k in range(3):
            lam[c, k] = 0.0
        while start < tally.count[0] and tally.key[start] < key:
            start += 1
        i = start
        while i < tally.count[0] and tally.key[i] == key:
            if tally.feature[i] == contacts.feature[c]:
                for k in range(3):
                    lam[c, k] = tally.impulse_W[i, k]
                break
            i += 1


@kernel
def remember(contacts: Contacts, n_shapes: int, impacts: Impacts) -> None:
    """The tally from impacts.contact_lam of the present contacts."""
    tally = impacts.tally
    for c in range(contacts.count[0]):
        tally.key[c] = contacts.shape_a[c] * n_shapes + contacts.shape_b[c]
        tally.feature[c] = contacts.feature[c]
        for k in range(3):
            tally.impulse_W[c, k] = impacts.contact_lam[c, k]
    tally.count[0] = contacts.count[0]


@kernel
def count_in(rows: Rows, problem: Problem, contacts: Contacts, impacts: Impacts) -> None:
    """Add the impulses of a kick to impacts.contact_lam and joint_lam."""
    n_box = rows.count[1]
    for i in range(n_box):
        if rows.joint[i] >= 0:
            impacts.joint_lam[rows.joint[i], rows.slot[i]] += problem.lam[i]
    for c in range(contacts.count[0]):
        for k in range(3):
            impacts.contact_lam[c, k] += problem.lam[n_box + 3 * c + k]


@kernel
def show(rows: Rows, problem: Problem, contacts: Contacts, impacts: Impacts) -> None:
    """problem.lam of the last kick becomes the impulses of the whole step: what tables show."""
    n_box = rows.count[1]
    for i in range(n_box):
        if rows.joint[i] >= 0:
            problem.lam[i] = impacts.joint_lam[rows.joint[i], rows.slot[i]]
    for c in range(contacts.count[0]):
        for k in range(3):
            problem.lam[n_box + 3 * c + k] = impacts.contact_lam[c, k]
