"""Empties the queue: one thread and one worker process per slot.

A slot claims a run, sends it to its process, receives messages, and commits the outcome. A process
that dies, or sends no heartbeat, is replaced; its run goes back to the queue. The database is
authoritative: after any failure here, a restart of the service finds every run again.
"""

import logging
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import OperationalError

from cardan.service import clock
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Worker, WorkerLostError
from cardan.service.simulations import messages as m
from cardan.service.simulations.queue import Claim, Queue
from cardan.service.simulations.rows import Outcome, worker_lost_error
from cardan.service.simulations.states import RunEvent, RunState

log = logging.getLogger("cardan.jobs")

WORKER = "cardan.service.simulations.worker"
LISTEN_SECONDS = 0.05
IDLE_SECONDS = 1.0
LEAST_PAUSE_SECONDS = 0.1
MOST_PAUSE_SECONDS = 30.0
PUBLISH_SECONDS = 0.2


@dataclass(frozen=True)
class DispatcherOptions:
    """Options of the dispatcher; times in seconds."""

    slots: int
    results: Path
    limits: WorkerLimits
    renew_s: float = 1.0
    silence_s: float = 60.0
    stop_grace_s: float = 5.0
    ready_s: float = 600.0


@dataclass
class Live:
    """Progress of a run between two writes to its row."""

    step: int = 0
    real_time_factor: float | None = None
    pid: int = 0


class Dispatcher:
    """The slots, and their interface for the API."""

    def __init__(self, queue: Queue, options: DispatcherOptions, launcher: WorkerLauncher) -> None:
        """Prepare the slots; `start` sets them to work."""
        self.queue = queue
        self.options = options
        self.launcher = launcher
        self.live: dict[str, Live] = {}
        self.stopping = threading.Event()
        self._wanted: set[str] = set()
        instance = clock.new_id("service")
        self._slots = [WorkerSlot(self, f"{instance}/{number}") for number in range(options.slots)]

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

    def take_request(self, run_id: str) -> bool:
        """Return and clear the request to read the row of this run."""
        if run_id in self._wanted:
            self._wanted.discard(run_id)
            return True
        return False


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
        pause = 0.0
        while not self._dispatcher.stopping.wait(pause):
            try:
                self._turn()
                pause = 0.0
            except Exception as error:
                # the queue would lose this slot if its thread ended
                pause = min(max(LEAST_PAUSE_SECONDS, 2.0 * pause), MOST_PAUSE_SECONDS)
                self._report(error, pause)
        if self._worker is not None:
            self._worker.quit(self._options.stop_grace_s)

    def _report(self, error: Exception, pause: float) -> None:
        if isinstance(error, WorkerLostError):
            log.error("no worker: %s; next try in %.1f s", error, pause)
        elif isinstance(error, OperationalError):
            log.error("the queue cannot be used: %s; next try in %.1f s", error.orig, pause)
        else:
            log.error("a slot failed; next try in %.1f s", pause, exc_info=error)

    def _turn(self) -> None:
        """Do one run or wait for one."""
        worker = self._worker
        if worker is None or not worker.alive:
            if worker is not None:
                worker.kill()
            worker = self._worker = self._dispatcher.launcher.start_ready(
                WORKER,
                self._options.limits,
                self._options.ready_s,
                self._dispatcher.stopping.is_set,
            )
        self._queue.recover(everything=False)
        claim = self._queue.claim(self._owner)
        if claim is None:
            self._queue.wake.wait(IDLE_SECONDS)
            self._queue.wake.clear()
            return
        Attempt(self._dispatcher, worker, claim).supervise()


class Attempt:
    """One claim being worked on by one process."""

    def __init__(self, dispatcher: Dispatcher, worker: Worker, claim: Claim) -> None:
        """Prepare an attempt of a slot at a claim."""
        self._dispatcher = dispatcher
        self._queue = dispatcher.queue
        self._options = dispatcher.options
        self._worker = worker
        self._claim = claim
        self._folder = dispatcher.options.results / claim.folder
        self._live = Live(pid=worker.pid)
        now = clock.monotonic()
        self._began = self._heard = self._renewed = self._published = now
        self._stop: str | None = None
        self._stop_sent = 0.0
        self._fenced = False

    def supervise(self) -> None:
        """Send the order, receive messages until the run ends, commit."""
        self._dispatcher.live[self._claim.run_id] = self._live
        try:
            outcome = self._listen()
        except WorkerLostError as error:
            self._worker.kill()
            log.warning("run %s lost its worker: %s", self._claim.run_id, error)
            outcome = self._loss(str(error))
        except Exception as error:
            # the state of the worker is unknown: start another one
            self._worker.kill()
            log.error("run %s could not be supervised", self._claim.run_id, exc_info=error)
            outcome = self._loss(f"{type(error).__name__} while it was supervised")
        finally:
            self._dispatcher.live.pop(self._claim.run_id, None)
        state = None if self._fenced else self._commit(outcome)
        if state in (None, RunState.QUEUED) or outcome.result is None:
            shutil.rmtree(self._folder, ignore_errors=True)
        log.info("run %s attempt %d: %s", self._claim.run_id, self._claim.attempt, state)

    def _listen(self) -> Outcome:
        claim = self._claim
        self._worker.send(m.RunOrder(claim.document, dict(claim.overrides), str(self._folder)))
        while True:
            message = self._worker.hear(LISTEN_SECONDS)
            now = clock.monotonic()
            if message is not None:
                self._heard = now
            if isinstance(message, m.Done):
                return self._outcome(message)
            if isinstance(message, m.Started):
                self._fenced |= not self._queue.started(claim, message.total_steps)
            elif isinstance(message, m.Progress):
                self._note(message, now)
            self._watch(now)

    def _note(self, message: m.Progress, now: float) -> None:
        self._live.step = message.step
        self._live.real_time_factor = message.real_time_factor
        if now - self._published >= PUBLISH_SECONDS:
            self._published = now
            self._queue.changed(self._claim.run_id)

    def _watch(self, now: float) -> None:
        """Renew the lease; stop a cancelled or overdue run; end a process that does not respond."""
        if now - self._heard > self._options.silence_s:
            raise WorkerLostError(f"no sign of life for {self._options.silence_s:.0f} s")
        if self._stop is not None:
            if now - self._stop_sent > self._options.stop_grace_s:
                raise WorkerLostError("it did not stop when told")
        elif self._dispatcher.stopping.is_set():
            self._tell_to_stop(RunEvent.RELEASED, now)
        elif self._claim.timeout_s is not None and now - self._began > self._claim.timeout_s:
            self._tell_to_stop(RunEvent.TIMED_OUT, now)
        wanted = self._dispatcher.take_request(self._claim.run_id)
        if wanted or now - self._renewed >= self._options.renew_s:
            self._renewed = now
            self._renew(now)

    def _renew(self, now: float) -> None:
        try:
            state = self._queue.renew(self._claim, self._live.step, self._live.real_time_factor)
        except OperationalError as error:
            log.error("the lease of %s was not renewed: %s", self._claim.run_id, error.orig)
            return
        if state is None:
            self._fenced = True
        if state in (None, RunState.CANCELLING) and self._stop is None:
            self._tell_to_stop(RunEvent.CANCELLED, now)

    def _tell_to_stop(self, why: RunEvent, now: float) -> None:
        self._stop, self._stop_sent = why, now
        self._worker.send(m.StopRun(why))

    def _outcome(self, done: m.Done) -> Outcome:
        return Outcome(
            event=RunEvent(done.event),
            step=done.step,
            summary=done.summary,
            error=done.error,
            result=self._claim.folder if done.stored else None,
            real_time_factor=done.real_time_factor,
        )

    def _loss(self, how: str) -> Outcome:
        """Return the event of a lost process: the requested stop, if it ignored one."""
        if self._stop == RunEvent.TIMED_OUT:
            error = {
                "code": "timed_out",
                "message": "The run took longer than its timeout_s.",
                "retryable": True,
            }
            return Outcome(RunEvent.TIMED_OUT, self._live.step, error=error)
        if self._stop == RunEvent.RELEASED or self._worker.orphaned:
            # not caused by the run: the service stops, or the fork server died with all workers
            return Outcome(RunEvent.RELEASED)
        return Outcome(RunEvent.WORKER_LOST, self._live.step, error=worker_lost_error(how))

    def _commit(self, outcome: Outcome) -> RunState | None:
        """Write the outcome; a database that cannot be written now is tried again."""
        while True:
            try:
                return self._queue.finish(self._claim, outcome)
            except OperationalError as error:
                log.error("run %s is not committed yet: %s", self._claim.run_id, error.orig)
                if self._dispatcher.stopping.wait(1.0):
                    return None
