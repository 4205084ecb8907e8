"""The threads that share the work of a step (decision 0650)."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.contacts import Contacts

# words of a cache line: what threads change is alone in one
LINE = 8
# the tickets while no step is under way
CLOSED = -1
# shares of every work, and so the most threads
PARTS = 16


@struct
class Crew(NamedTuple):
    """Messages between threads; all arrays but `sides` are those of every thread."""

    ticket: NDArray  # (threads, 16) int64  atomic: kind of work, end of the thread's shares, its next share; CLOSED
    done: NDArray  # (8,) int64     atomic: shares that are done
    first: NDArray  # (1,) int64    what is shared: from this on
    end: NDArray  # (1,) int64      and to the one before this
    number: NDArray  # (1,) any unit  a parameter of the work
    sides: NDArray  # (288,) rad/s, m/s  of this thread: velocities of the bodies of a group and scratch, see solvers/sweeps/simd/sweep.py
    every: NDArray  # (threads, 288) rad/s, m/s  `sides` of all threads


@struct
class FoundContacts(NamedTuple):
    """Contacts that threads find, each in its own list, before they are in one; empty for one thread."""

    mine: Contacts  # of this thread, a part of `every`
    every: Contacts  # of all threads
    count: NDArray  # (threads, 16) int64  count and `dropped` (column 8) of each thread's list
    part: NDArray  # (16, 3) int64  of each share: first contact in `every`, number, first in the one list
