"""Worker processes that answer requests, in lanes: no kind of request waits behind another kind.

    small      scenes of few bytes: a small one is never behind a large one
    large      all other scenes
    dynamics   algorithms in joint coordinates, statics, linear models
    problems   complementarity problems, searches of studies
    files      downloads of recordings

The service process loads no engine, and reads no large document: both would stall its event loop.
"""

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio
import anyio.to_thread

from cardan.service import clock
from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import GivenUpError, Worker, WorkerLostError

log = logging.getLogger("cardan.compute")

WORKER = "cardan.service.compute.worker"
MOST_LOSSES = 2
LEAST_PAUSE_SECONDS = 0.1
# a small scene that takes longer is asked about again in the lane of the large ones
SMALL_SECONDS = 3.0
LANES = ("small", "large", "dynamics", "problems", "files")
# niceness of the processes that validate large scenes: small requests get the processor first
BEHIND = 5


@dataclass(frozen=True)
class PoolOptions:
    """Processes of each lane, the largest body of the small one [bytes], time of an answer [s]."""

    small: int = 2
    large: int = 1
    dynamics: int = 1
    problems: int = 1
    files: int = 1
    small_bytes: int = 64 * 1024
    answer_s: float = 60.0


class ComputePool:
    """The lanes; every process starts with the first order that needs it."""

    def __init__(
        self, launcher: WorkerLauncher, limits: WorkerLimits, options: PoolOptions | None = None
    ) -> None:
        """Prepare the lanes; `limits` hold for every process."""
        self._options = options = options or PoolOptions()
        self._closed = threading.Event()

        def starter(name: str) -> Callable[[float], Worker]:
            own = replace(limits, nice=BEHIND if name == "large" else 0)

            def start(within_s: float) -> Worker:
                if not launcher.kernels.wait(within_s):
                    raise _warming_up()
                return launcher.start_ready(WORKER, own, within_s, self._closed.is_set)

            return start

        sizes = {name: getattr(options, name) for name in LANES}
        self.lanes = {name: Lane(size, starter(name), self._closed) for name, size in sizes.items()}

    async def answer(self, order: m.Order, *, within_s: float | None = None) -> Any:
        """Return the reply to an order, without a thread while all processes are in use.

        Raises ServiceError: the refusal of the order, or why there is no reply in time.
        """
        seconds = self._options.answer_s if within_s is None else within_s
        turns = self.lanes[self._lane_of(order)].turns
        with anyio.move_on_after(seconds):
            until = clock.monotonic() + seconds
            return await anyio.to_thread.run_sync(self._ask, order, until, limiter=turns)
        raise _not_ready("all processes for such requests are in use")

    def wait_for_answer(self, order: m.Order, *, within_s: float | None = None) -> Any:
        """The same for a thread that may wait."""
        seconds = self._options.answer_s if within_s is None else within_s
        return self._ask(order, clock.monotonic() + seconds)

    def close(self) -> None:
        """End every process, even while it computes."""
        self._closed.set()
        for lane in self.lanes.values():
            lane.close()

    def _ask(self, order: m.Order, until: float) -> Any:
        name = self._lane_of(order)
        if name == "small":
            try:
                reply = self.lanes[name].ask(order, until, SMALL_SECONDS)
            except _SilentError:
                log.info("a small scene takes more than %g s: to the other lane", SMALL_SECONDS)
                name = "large"
        if name != "small":
            try:
                reply = self.lanes[name].ask(order, until, self._options.answer_s)
            except _SilentError as silent:
                raise silent.told() from silent
        if isinstance(reply, m.Refused):
            raise ServiceError.of(reply.problem)
        return reply

    def _lane_of(self, order: m.Order) -> str:
        if isinstance(order, m.DynamicsOrder | m.MechanicsOrder):
            return "dynamics"
        if isinstance(order, m.SolveOrder | m.SearchOrder):
            return "problems"
        if isinstance(order, m.VerifyOrder | m.EncodeOrder):
            return "files"
        size = len(
            order.document if isinstance(order, m.CheckOrder | m.MassesOrder) else order.body
        )
        if isinstance(order, m.SceneOrder) and order.stored is not None:
            size += len(order.stored.document)
        return "small" if size <= self._options.small_bytes else "large"


class Lane:
    """Some processes that answer one order each at a time."""

    def __init__(
        self, size: int, start: Callable[[float], Worker], closed: threading.Event
    ) -> None:
        """Prepare `size` places for processes, which `start(within_s)` starts."""
        self.turns = anyio.CapacityLimiter(size)
        self.slots = [Slot(start, closed) for _ in range(size)]
        self._idle: queue.LifoQueue[Slot] = queue.LifoQueue()
        for slot in self.slots:
            self._idle.put(slot)

    def ask(self, order: m.Order, until: float, most_s: float) -> Any:
        """The reply to an order, which a process may think about for `most_s`."""
        try:
            slot = self._idle.get(timeout=max(0.0, until - clock.monotonic()))
        except queue.Empty:
            raise _not_ready("all processes for such requests are in use") from None
        try:
            return slot.ask(order, until, most_s)
        finally:
            self._idle.put(slot)

    def close(self) -> None:
        """End the processes; whoever waits for a reply of one is refused."""
        for slot in self.slots:
            slot.interrupt()
        for _ in self.slots:
            self._idle.get().end()


class Slot:
    """One process at a time; used by one thread at a time."""

    def __init__(self, start: Callable[[float], Worker], closed: threading.Event) -> None:
        """Without a process yet."""
        self._start = start
        self._closed = closed
        self.worker: Worker | None = None

    def ask(self, order: m.Order, until: float, most_s: float) -> Any:
        """The reply; a process that is lost or silent is replaced by the next call."""
        losses = 0
        while True:
            worker = self._ready_worker(until)
            left = min(until - clock.monotonic(), most_s)
            try:
                worker.send(order)
                reply = worker.hear(max(0.0, left))
            except WorkerLostError as error:
                # an idle process may have died long ago, or with the fork server
                losses += not worker.orphaned
                self._drop()
                if losses == MOST_LOSSES:
                    detail = f"The process that computed this was lost {losses} times: {error}."
                    raise ServiceError(ErrorCode.WORKER_LOST, detail, retry_after_s=5) from error
                continue
            if reply is None:
                self._drop()
                raise _SilentError(left)
            return reply

    def interrupt(self) -> None:
        """Kill the process from another thread."""
        worker = self.worker
        if worker is not None:
            worker.interrupt()

    def end(self) -> None:
        """End the process in order."""
        if self.worker is not None:
            self.worker.quit(1.0)
            self.worker = None

    def _ready_worker(self, until: float) -> Worker:
        """Return the process, started if necessary; try again until the deadline."""
        pause = LEAST_PAUSE_SECONDS
        # one that was stopped while it was idle is replaced like one that has ended
        if self.worker is not None and not (self.worker.alive and self.worker.answers()):
            self._drop()
        while not self._closed.is_set():
            if self.worker is not None:
                return self.worker
            left = until - clock.monotonic()
            if left <= 0.0:
                raise _not_ready("no worker process is ready")
            try:
                self.worker = self._start(left)
            except WorkerLostError as error:
                if not isinstance(error, GivenUpError):
                    log.error("no worker: %s", error)
                self._closed.wait(min(pause, left))
                pause *= 2.0
        raise _not_ready("the service is shutting down")

    def _drop(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker = None


class _SilentError(Exception):
    """A process has not answered in time, and was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def told(self) -> ServiceError:
        detail = f"There was no answer within {self._seconds:.0f} s; the computation was ended."
        return ServiceError(ErrorCode.COMPUTE_TIMED_OUT, detail)


def _not_ready(why: str) -> ServiceError:
    detail = f"This cannot be computed now: {why}."
    return ServiceError(ErrorCode.ENGINE_NOT_READY, detail, retry_after_s=5)


def _warming_up() -> ServiceError:
    detail = "The kernels are still being compiled; /readyz says how far that is."
    return ServiceError(ErrorCode.WARMING_UP, detail, retry_after_s=10)
