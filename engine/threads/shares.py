"""Shares of a piece of work, which the threads of a crew take (decision 0650).

Work has PARTS shares, whatever the number of threads, and each thread begins with those that are
its own: what a thread has touched before is in its cache, and the same part of the next work
touches about the same. One that has done its own takes what others have left. A share writes what
no other one reads or writes, so results depend neither on who does it, nor on how many threads
there are, nor on whether others come at all.

The ticket of a thread holds the kind of work, the end of its shares and its next share in one word,
so that all three are taken at once: who looked at an earlier ticket cannot take a share of that.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.atomic import (
    add_atomically,
    load_atomically,
    store_atomically,
    yield_processor,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.crew import CLOSED, PARTS, Crew

# a ticket, from its last bits on: the next share (threads beyond the last one count on), the end of
# the shares, who took them, the kind of work
BITS, FEW = 24, 8
END, WHO, WORK = BITS, BITS + FEW, BITS + 2 * FEW
# looks at a number of another thread, some 50 us, until the processor is offered to a third one:
# that is a call of the system, and what was waited for may come meanwhile
PATIENCE = 50_000


@kernel
def is_alone(crew: Crew) -> bool:
    """Whether one thread does all."""
    return bool(crew.ticket.shape[0] == 1)


@kernel
def ticket_of(work: int, who: int, share: int, end: int) -> int:
    """The ticket of the shares [share, end) of a kind of work that a thread took."""
    return (work << WORK) | (who << WHO) | (end << END) | share


@kernel
def offer(crew: Crew, work: int) -> None:
    """Offer all shares of a kind of work, to each thread its own."""
    store_atomically(crew.done, 0)
    threads = crew.ticket.shape[0]
    for thread in range(threads - 1, -1, -1):
        first, end = PARTS * thread // threads, PARTS * (thread + 1) // threads
        store_atomically(crew.ticket[thread], ticket_of(work, 0, first, end))


@kernel
def work_of(ticket: int) -> int:
    """The kind of work of a ticket."""
    return ticket >> WORK


@kernel
def share_of(ticket: int) -> int:
    """The first share that a ticket stands for; -1: there are no more."""
    share = ticket & ((1 << BITS) - 1)
    return share if share < end_of(ticket) else -1


@kernel
def end_of(ticket: int) -> int:
    """The share after the last one that a ticket stands for."""
    return (ticket >> END) & ((1 << FEW) - 1)


@kernel
def who_of(ticket: int) -> int:
    """The thread that took a ticket."""
    return (ticket >> WHO) & ((1 << FEW) - 1)


@kernel
def claim(place: NDArray, n: int, me: int) -> int:
    """Take up to n of the shares that a place offers now: their ticket; one without: there are no.

    Since somebody looked how many there are, others may have done these, and other work be on
    offer: then more shares may be left than n, and these stay on offer. A place that was closed
    since is no longer; each helper does so to one at most, and there is one more of them.

    Check   tests/engine/test_shares.py
    """
    ticket = add_atomically(place, n)
    share = share_of(ticket)
    if share < 0:
        return 0
    return ticket_of(work_of(ticket), me, share, min(share + n, end_of(ticket)))


@kernel
def take(crew: Crew, me: int) -> int:
    """Take all own shares that are on offer, else one of another thread: their ticket.

    One without a share: there are no more; CLOSED: the run is over.
    """
    threads = crew.ticket.shape[0]
    for k in range(threads):
        place = crew.ticket[(me + k) % threads]
        ticket = load_atomically(place)
        if ticket == CLOSED:
            return CLOSED
        share = share_of(ticket)
        if share >= 0:
            ticket = claim(place, end_of(ticket) - share if k == 0 else 1, me)
            if share_of(ticket) >= 0:
                return ticket
    return 0


@kernel
def end_shares(crew: Crew, ticket: int) -> None:
    """The shares of a ticket that was taken are done."""
    add_atomically(crew.done, end_of(ticket) - share_of(ticket))


@kernel
def await_shares(crew: Crew) -> None:
    """Wait until all shares are done."""
    looks = 0
    while load_atomically(crew.done) < PARTS:
        looks += 1
        if looks % PATIENCE == 0:
            yield_processor()


@kernel
def await_share(crew: Crew, me: int) -> int:
    """Wait for a share that another thread offers, and take it: its ticket; CLOSED: it is over."""
    looks = 0
    while True:
        ticket = take(crew, me)
        if ticket == CLOSED or share_of(ticket) >= 0:
            return ticket
        looks += 1
        if looks % PATIENCE == 0:
            yield_processor()


@kernel
def part_of(n: int, share: int, end: int) -> tuple[int, int]:
    """Which of n things the shares [share, end) have: from the first to before the second."""
    return n * share // PARTS, n * end // PARTS
