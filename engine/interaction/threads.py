"""Threads of Python that help a simulation with its steps (decision 0650).

They start with the first steps that have enough to share, so never before a process forks, and end
with the simulation. Results have the same bits with and without them: whether help pays, which
depends on how fast cores tell each other of changes, is measured while steps are done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from cardan.engine.build.world import of_thread
from cardan.engine.compiler.handles import handle_of
from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES
from cardan.engine.world.crew import CLOSED
from cardan.engine.world.world import World

# contacts from which on sharing a step saves more than it costs
ENOUGH_CONTACTS = 400
# moving bodies from which on `auto` takes as many threads as there are cores, up to MOST
LARGE, MOST = 1000, 16
# steps of a trial, and steps after which the slower way is tried again
TRIAL, AGAIN = 5, 100


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(asked: int | str, n_moving: int) -> int:
    """Number of threads for a scene with so many moving bodies; `auto`: one in small scenes.

    `$CARDAN_THREADS`: no more in this process.
    """
    if STRUCTS_ARE_TUPLES:
        return 1
    most = int(os.environ.get("CARDAN_THREADS") or MOST)
    if asked == "auto":
        asked = usable_cores() if n_moving >= LARGE else 1
    return max(1, min(int(asked), most))


class Pace:
    """Which of two ways of doing steps is faster: 0 alone, 1 together."""

    def __init__(self) -> None:
        """Begin without measured times."""
        self.seconds = [0.0, 0.0]
        self.steps = [0, 0]
        self.way = 1

    def steps_before_a_look(self) -> int:
        """Steps to do before `note`: of a trial, or all until the next one."""
        return TRIAL if 0 in self.steps else AGAIN

    def note(self, steps: int, seconds: float) -> None:
        """Note how long the last steps took, and choose the way of the next ones."""
        if steps == 0:
            return
        self.steps[self.way] += steps
        self.seconds[self.way] += seconds
        if self.steps[self.way] < TRIAL:
            return
        other = 1 - self.way
        if self.steps[other] < TRIAL:
            self.way = other
        elif self.steps[0] + self.steps[1] >= AGAIN:
            # times change with the scene: both are looked at anew, the faster way last
            faster = self.faster()
            self.seconds, self.steps, self.way = [0.0, 0.0], [0, 0], 1 - faster
        else:
            self.way = self.faster()

    def faster(self) -> int:
        """The way that took less time a step."""
        return int(self.seconds[1] * self.steps[0] <= self.seconds[0] * self.steps[1])


class Helpers:
    """The other threads of a simulation's crew."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self.pace = Pace()
        self.always = False
        self._world: World | None = None
        self._handles: list[Any] = []
        self._pool: ThreadPoolExecutor | None = None

    def _prepare(self, world: World) -> ThreadPoolExecutor:
        """The pool, and a handle for each thread in it."""
        n = len(world.work.dense.lanes.crew.ticket) - 1
        if self._world is not world:
            self._world = world
            self._handles = [handle_of(of_thread(world, 1 + k)) for k in range(n)]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(n, "step")
        return self._pool

    def _together(
        self, world: World, assist: Callable[[Any, int], Any], steps: Callable[[int], int], n: int
    ) -> int:
        """Do up to n steps while the other threads help."""
        crew, pool = world.work.dense.lanes.crew, self._prepare(world)
        crew.ticket[:, 0] = 0
        helping: list[Future[Any]] = []
        # where not all threads can start, those that did must not wait for ever
        try:
            for k, handle in enumerate(self._handles):
                helping.append(pool.submit(assist, handle, k))
            return steps(n)
        finally:
            crew.ticket[:, 0] = CLOSED
            wait(helping)

    def advance(
        self, world: World, assist: Callable[[Any, int], Any], steps: Callable[[int], int], n: int
    ) -> int:
        """Do up to n steps, with help where that is faster; how many were done.

        assist: called with the handle of a thread's world and the number of the helper, from 0
        """
        crew = world.work.dense.lanes.crew
        few = world.state.contacts.count[0] < ENOUGH_CONTACTS
        if len(crew.ticket) == 1 or few or n <= 0:
            return steps(n)
        if self.always:
            return self._together(world, assist, steps, n)
        n = min(n, self.pace.steps_before_a_look())
        began, way = time.perf_counter(), self.pace.way
        done = self._together(world, assist, steps, n) if way == 1 else steps(n)
        self.pace.note(done, time.perf_counter() - began)
        return done
