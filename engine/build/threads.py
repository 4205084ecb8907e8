"""Arrays for contacts and for the threads that share the work of a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.solvers.sweeps.simd.sweep import N_SIDES
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.crew import CLOSED, LINE, PARTS, Crew, FoundContacts


def contact_arrays(n: int) -> Contacts:
    """Arrays for n contacts."""
    return Contacts(
        count=np.zeros(1, np.int64),
        dropped=np.zeros(1, np.int64),
        body_a=np.zeros(n, np.int64),
        body_b=np.zeros(n, np.int64),
        shape_a=np.zeros(n, np.int64),
        shape_b=np.zeros(n, np.int64),
        feature=np.zeros(n, np.int64),
        point_W=np.zeros((n, 3)),
        normal_W=np.zeros((n, 3)),
        gap=np.zeros(n),
        facet=np.zeros(n, np.int64),
        struck=np.zeros(n, np.int64),
        friction=np.zeros(n),
        restitution=np.zeros(n),
        rolling=np.zeros(n),
        spinning=np.zeros(n),
        compliance=np.zeros(n),
        damping=np.zeros(n),
        patch=np.zeros((n, 2)),
        hardening=np.ones(n),
        surface_velocity_W=np.zeros((n, 3)),
        impulse_W=np.zeros((n, 3)),
        moment_W=np.zeros((n, 3)),
    )


def own_list(every: Contacts, count: NDArray[np.int64], thread: int) -> Contacts:
    """The list of one thread among those of all."""
    n = len(every.gap) // len(count)
    first = thread * n
    own = Contacts(*(one[first : first + n] for one in every))
    return own._replace(count=count[thread, :1], dropped=count[thread, LINE : LINE + 1])


def found_arrays(threads: int, max_contacts: int) -> FoundContacts:
    """Lists of contacts for each of several threads."""
    n = max_contacts if threads > 1 else 0
    every, count = contact_arrays(threads * n), np.zeros((threads, 2 * LINE), np.int64)
    part = np.zeros((PARTS, 3), np.int64)
    return FoundContacts(mine=own_list(every, count, 0), every=every, count=count, part=part)


def crew_arrays(threads: int) -> Crew:
    """Arrays through which so many threads share work, as the first of them sees them."""
    # the rows of two threads share no cache line, nor does `done` with another array
    every = np.zeros((threads, N_SIDES + 2 * LINE))
    return Crew(
        ticket=np.full((threads, 2 * LINE), CLOSED, np.int64),
        done=np.zeros(3 * LINE, np.int64)[LINE : 2 * LINE],
        first=np.zeros(1, np.int64),
        end=np.zeros(1, np.int64),
        number=np.zeros(1),
        sides=every[0],
        every=every,
    )
