"""Shares of work: each is taken once, also by who looked at an offer that is over."""

from __future__ import annotations

import pytest

from cardan.engine.build.threads import crew_arrays
from cardan.engine.threads.shares import claim, end_of, offer, share_of, take, work_of
from cardan.engine.world.crew import CLOSED, PARTS, Crew


def all_taken(crew: Crew, me: int) -> list[tuple[int, int]]:
    """Kind of work and number of each share that a thread takes until there are no more."""
    found = []
    while share_of(ticket := take(crew, me)) >= 0:
        found += [(work_of(ticket), share) for share in range(share_of(ticket), end_of(ticket))]
    return found


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 16])
def test_every_share_is_taken_once(threads: int) -> None:
    crew = crew_arrays(threads)
    for work in (3, 4):
        offer(crew, work)
        found = [share for me in range(threads) for share in all_taken(crew, me)]
        assert sorted(found) == [(work, share) for share in range(PARTS)]


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("late", [1, 2, 3])
def test_who_looked_at_an_offer_that_is_over_takes_shares_of_the_next_once(
    threads: int, late: int
) -> None:
    """It saw `late` shares of its own; others did them, and the next work was offered."""
    crew = crew_arrays(threads)
    offer(crew, 1)
    all_taken(crew, 0)
    offer(crew, 2)
    ticket = claim(crew.ticket[1], late, 1)
    found = [(work_of(ticket), share) for share in range(share_of(ticket), end_of(ticket))]
    assert len(found) == late
    for me in range(threads):
        found += all_taken(crew, me)
    assert sorted(found) == [(2, share) for share in range(PARTS)]


def test_who_looked_before_the_end_takes_nothing_and_sees_the_end() -> None:
    crew = crew_arrays(3)
    crew.ticket[:, 0] = CLOSED
    # as many as there are helpers
    for helper in (1, 2):
        assert share_of(claim(crew.ticket[helper], 5, helper)) < 0
    for me in range(3):
        assert take(crew, me) == CLOSED
