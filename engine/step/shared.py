"""Work of a step that the threads of a crew share: each share is a part of its contacts."""

from __future__ import annotations

from cardan.engine.collision.find_contacts import find_part, take_list
from cardan.engine.compiler.inline import shared_kernel
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contacts import write_contacts
from cardan.engine.problem.assemble import assemble_contacts
from cardan.engine.solvers.sweeps.simd.work import KINDS_OF_WORK
from cardan.engine.threads.shares import (
    await_shares,
    end_of,
    end_shares,
    is_alone,
    offer,
    part_of,
    share_of,
    take,
    who_of,
    work_of,
)
from cardan.engine.world.world import World

# kinds of work, and the number of an offer of them beside KICK and ISLAND
FIND, TAKE, ROWS, ASSEMBLE = 1, 2, 3, 4
STEP = 3
# contacts or pairs from which on work is shared
LEAST = 200


@shared_kernel
def do_step_parts(world: World, ticket: int) -> None:
    """The shares of a ticket."""
    work, first, end = work_of(ticket) % KINDS_OF_WORK, share_of(ticket), end_of(ticket)
    if work in (ROWS, ASSEMBLE):
        first, end = part_of(world.work.contacts.count[0], first, end)
        if work == ROWS:
            write_contacts(world, first, end)
        else:
            assemble_contacts(world, first, end)
        return
    for share in range(first, end):
        if work == FIND:
            find_part(world, share, who_of(ticket))
        else:
            take_list(world, share)


@kernel
def is_shared(world: World, n: int) -> bool:
    """Whether threads share work on n things."""
    return n >= LEAST and not is_alone(world.work.dense.lanes.crew)


@kernel
def share_out(world: World, work: int) -> None:
    """Do a kind of work together with the other threads."""
    crew = world.work.dense.lanes.crew
    offer(crew, STEP * KINDS_OF_WORK + work)
    ticket = take(crew, 0)
    while share_of(ticket) >= 0:
        do_step_parts(world, ticket)
        end_shares(crew, ticket)
        ticket = take(crew, 0)
    await_shares(crew)


@kernel
def write_contact_rows(world: World) -> None:
    """The three rows of every contact."""
    n = world.work.contacts.count[0]
    if is_shared(world, n):
        share_out(world, ROWS)
    else:
        write_contacts(world, 0, n)


@kernel
def assemble_contact_rows(world: World) -> None:
    """Assemble the three rows of every contact, between bodies without trees."""
    n = world.work.contacts.count[0]
    if is_shared(world, n):
        share_out(world, ASSEMBLE)
    else:
        assemble_contacts(world, 0, n)
