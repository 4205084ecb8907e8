"""Empties the queue: one thread and one worker process per slot.

A slot claims runs, sends them to its process, receives messages, and commits the outcomes
(attempt.py). A process that dies, or sends no heartbeat, is replaced; its runs go back to the
queue. The database is authoritative: after any failure here, a restart of the service finds every
run again.
"""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from cardan.service import clock
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import GivenUpError, Worker, WorkerLostError
from cardan.service.recordings.results import Results
from cardan.service.simulations.attempt import Attempt, Live
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.claims import Claim
from cardan.service.simulations.faults import PASSING, cause_of
from cardan.service.simulations.pace import Pace
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.replays import Replays

log = logging.getLogger("cardan.jobs")

WORKER = "cardan.service.simulations.worker"
IDLE_SECONDS = 1.0
LEAST_PAUSE_SECONDS = 0.1
MOST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True)
class DispatcherOptions:
    """Options of the dispatcher; times in seconds."""

    slots: int
    results: Results
    limits: WorkerLimits
    checkpoints: Checkpoints
    checkpoint_s: float = 5.0
    renew_s: float = 1.0
    silence_s: float = 60.0
    stop_grace_s: float = 5.0
    ready_s: float = 600.0
    claims: bool = True  # else its slots make recordings of ended runs only
    shared_by: int = 0  # slots of all machines that share the queue, where their number is known


class Dispatcher:
    """The slots, and their interface for the API."""

    def __init__(self, queue: Queue, options: DispatcherOptions, launcher: WorkerLauncher) -> None:
        """Prepare the slots; `start` sets them to work."""
        self.queue = queue
        self.options = options
        self.launcher = launcher
        self.live: dict[str, Live] = {}
        self.pace = Pace(max(options.slots, options.shared_by))
        self.replays = Replays()
        self.stopping = threading.Event()
        self._wanted: set[str] = set()
        # whose claims all are that its slots make
        self.service = clock.new_id("service")
        self._slots = [
            WorkerSlot(self, f"{self.service}/{number}") for number in range(options.slots)
        ]

    @property
    def ready(self) -> bool:
        """Whether every slot has a warm worker."""
        return all(slot.warm for slot in self._slots)

    @property
    def fork_server(self) -> bool:
        """Whether the fork server is alive."""
        return any(slot.rooted for slot in self._slots)

    @property
    def dead_slots(self) -> int:
        """Slots whose thread ended without being stopped; only a restart replaces them."""
        if self.stopping.is_set():
            return 0
        return sum(not slot.thread.is_alive() for slot in self._slots if slot.thread.ident)

    def start(self) -> None:
        """Start the threads; the processes follow."""
        for slot in self._slots:
            slot.thread.start()

    def stop(self) -> None:
        """Return running runs to the queue and end every process."""
        self.stopping.set()
        self.queue.wake.set()
        # a slot whose process is still starting has no run to return
        until = clock.monotonic() + 3.0 * self.options.stop_grace_s
        for slot in self._slots:
            slot.thread.join(max(0.0, until - clock.monotonic()))

    def stop_run(self, run_id: str) -> None:
        """Make the slot of this run read its row now."""
        self._wanted.add(run_id)

    def take_requests(self, run_ids: Iterable[str]) -> bool:
        """Return and clear the requests to read the rows of these runs."""
        if not self._wanted:
            return False
        wanted = self._wanted.intersection(run_ids)
        self._wanted -= wanted
        return bool(wanted)


class WorkerSlot:
    """One thread, one process at a time."""

    def __init__(self, dispatcher: Dispatcher, owner: str) -> None:
        """Belong to a dispatcher; `owner` is what its claims are signed with."""
        self._dispatcher = dispatcher
        self._queue = dispatcher.queue
        self._options = dispatcher.options
        self._owner = owner
        self._worker: Worker | None = None
        self.thread = threading.Thread(target=self._work, name=f"runner {owner}", daemon=True)

    @property
    def warm(self) -> bool:
        """Whether a worker waits or works."""
        return self._worker is not None and self._worker.alive

    @property
    def rooted(self) -> bool:
        """Whether the fork server of the worker is alive."""
        return self._worker is not None and not self._worker.orphaned

    def _work(self) -> None:
        """Take turns until the service stops; the process ends with the thread, however it ends."""
        try:
            self._take_turns()
        finally:
            if self._worker is not None:
                self._worker.quit(self._options.stop_grace_s)

    def _take_turns(self) -> None:
        pause = 0.0
        while not self._dispatcher.stopping.wait(pause):
            try:
                self._turn()
                pause = 0.0
            except Exception as error:
                # the queue would lose this slot if its thread ended
                pause = min(max(LEAST_PAUSE_SECONDS, 2.0 * pause), MOST_PAUSE_SECONDS)
                self._report(error, pause)

    def _report(self, error: Exception, pause: float) -> None:
        if isinstance(error, GivenUpError):
            log.debug("a slot ends before its worker has started")
        elif isinstance(error, WorkerLostError):
            log.error("no worker: %s; next try in %.1f s", error, pause)
        elif isinstance(error, PASSING):
            log.error("the queue cannot be used: %s; next try in %.1f s", cause_of(error), pause)
        else:
            log.error("a slot failed; next try in %.1f s", pause, exc_info=error)

    def _turn(self) -> None:
        """Do one run or wait for one."""
        worker = self._worker
        if worker is None or not worker.alive or not worker.answers():
            if worker is not None:
                worker.kill()
            worker = self._worker = self._dispatcher.launcher.start_ready(
                WORKER,
                self._options.limits,
                self._options.ready_s,
                self._dispatcher.stopping.is_set,
            )
        self._queue.recover(everything=False, slot=self._owner)
        replay = self._dispatcher.replays.next()
        if replay is not None:
            replay.answer(worker, self._options.silence_s, self._dispatcher.stopping)
            return
        claims = self._claimed()
        if not claims:
            self._queue.wake.wait(IDLE_SECONDS)
            self._queue.wake.clear()
            return
        Attempt(self._dispatcher, worker, claims).supervise()

    def _claimed(self) -> list[Claim]:
        if not self._options.claims:
            return []
        return self._queue.claim_group(self._owner, self._dispatcher.pace.group_size)
