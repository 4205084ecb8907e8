"""Contact impulses accumulated over the parts of a step, whose contacts may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.impacts.laws import has_impact_law
from cardan.engine.impacts.solve_record import record_solve, report_solves
from cardan.engine.problem.coupled import goes_on

if TYPE_CHECKING:
    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.world import World


@kernel
def has_totals(world: World) -> bool:
    """Whether there are impulses besides those of the kick."""
    return has_impact_law(world.options) or world.work.impacts.started[0] == 1


@kernel
def clear_totals(impacts: Impacts) -> None:
    """Set the totals of a step to zero.

    Writes  impacts.contact_lam, joint_lam, accumulator, record
    """
    impacts.contact_lam[:] = 0.0
    impacts.joint_lam[:] = 0.0
    impacts.accumulator.count[0] = 0
    impacts.record[:] = 0.0


@kernel
def recall_impulses(world: World) -> None:
    """Read impacts.contact_lam of the present contacts from the accumulator; 0 for new ones.

    Both lists are sorted by pair and merged in one pass.
    """
    contacts, n_shapes = world.work.contacts, world.model.shapes.kind.shape[0]
    stored, lam = world.work.impacts.accumulator, world.work.impacts.contact_lam
    start = 0
    for c in range(contacts.count[0]):
        key = contacts.shape_a[c] * n_shapes + contacts.shape_b[c]
        for k in range(3):
            lam[c, k] = 0.0
        while start < stored.count[0] and stored.key[start] < key:
            start += 1
        i = start
        while i < stored.count[0] and stored.key[i] == key:
            if stored.feature[i] == contacts.feature[c]:
                for k in range(3):
                    lam[c, k] = stored.impulse_W[i, k]
                break
            i += 1


@kernel
def store_impulses(world: World) -> None:
    """Write the accumulator from impacts.contact_lam of the present contacts."""
    contacts, n_shapes = world.work.contacts, world.model.shapes.kind.shape[0]
    stored, lam = world.work.impacts.accumulator, world.work.impacts.contact_lam
    for c in range(contacts.count[0]):
        stored.key[c] = contacts.shape_a[c] * n_shapes + contacts.shape_b[c]
        stored.feature[c] = contacts.feature[c]
        for k in range(3):
            stored.impulse_W[c, k] = lam[c, k]
    stored.count[0] = contacts.count[0]


@kernel
def accumulate_kick(world: World) -> None:
    """Add the impulses of a kick to impacts.contact_lam and joint_lam."""
    rows, problem, impacts = world.work.rows, world.work.problem, world.work.impacts
    n_box = rows.count[1]
    for i in range(n_box):
        if rows.joint[i] >= 0 and not goes_on(problem, i):
            impacts.joint_lam[rows.joint[i], rows.slot[i]] += problem.lam[i]
    for c in range(world.work.contacts.count[0]):
        for k in range(3):
            impacts.contact_lam[c, k] += problem.lam[n_box + 3 * c + k]


@kernel
def accumulate_start(world: World) -> None:
    """Begin the totals of a step with the impulses of drives that start before its drift."""
    impacts = world.work.impacts
    clear_totals(impacts)
    record_solve(impacts, world.report)
    accumulate_kick(world)
    store_impulses(world)
    impacts.started[0] = 1


@kernel
def accumulate_last(world: World) -> None:
    """Add the kick to the totals of a step that has more than its kick."""
    work = world.work
    if not has_totals(world):
        return
    if not has_impact_law(world.options):
        recall_impulses(world)
    record_solve(work.impacts, world.report)
    accumulate_kick(world)
    store_impulses(world)


@kernel
def report_totals(world: World) -> None:
    """Replace problem.lam and the report of the last kick by the totals of parts and impacts.

    Tables show these values. Does nothing if the kick is all there is.
    """
    if not has_totals(world):
        return
    rows, problem, impacts = world.work.rows, world.work.problem, world.work.impacts
    n_box = rows.count[1]
    for i in range(n_box):
        if rows.joint[i] >= 0:
            problem.lam[i] = impacts.joint_lam[rows.joint[i], rows.slot[i]]
    for c in range(world.work.contacts.count[0]):
        for k in range(3):
            problem.lam[n_box + 3 * c + k] = impacts.contact_lam[c, k]
    report_solves(impacts, world.report)
