"""An attempt: a group of claimed runs of one scene, worked on by one process.

The worker does them one after another and tells how each ended. Ends are committed together, at
least every second; a run that was not begun goes back to the queue without a loss.
"""

import logging
import shutil
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from cardan.service import clock, metrics, tracing
from cardan.service.processes.worker import Worker, WorkerLostError
from cardan.service.recordings.folder import remove_folder
from cardan.service.recordings.results import ResultsError
from cardan.service.simulations import messages as m
from cardan.service.simulations.claims import Claim
from cardan.service.simulations.faults import PASSING, cause_of
from cardan.service.simulations.rows import Outcome, worker_lost_error
from cardan.service.simulations.states import TERMINAL, RunEvent, RunState

if TYPE_CHECKING:
    from cardan.service.simulations.dispatcher import Dispatcher

log = logging.getLogger("cardan.jobs")

LISTEN_SECONDS = 0.05
PUBLISH_SECONDS = 0.2


@dataclass
class Live:
    """Progress of a run between two writes to its row."""

    step: int = 0
    real_time_factor: float | None = None
    pid: int = 0
    together: int = 1
    """Runs that share the time of the worker with it, itself included."""


class Attempt:
    """Claims of one owner being worked on by one process."""

    def __init__(self, dispatcher: "Dispatcher", worker: Worker, claims: list[Claim]) -> None:
        """Prepare an attempt of a slot at claims of runs with one base scene."""
        self._dispatcher = dispatcher
        self._queue = dispatcher.queue
        self._options = dispatcher.options
        self._worker = worker
        self._claims = claims
        self._ended: list[tuple[Claim, Outcome]] = []  # not committed yet
        self._n_ended = 0
        self._live = Live(pid=worker.pid)
        self._clock = clock.AwakeClock()
        now = self._clock.look()
        self._first = self._began = self._heard = self._renewed = self._published = now
        self._stops: dict[int, tuple[RunEvent, float]] = {}
        self._fenced: set[str] = set()
        self._untold: m.Started | None = None
        self._storing = False
        self._spans = {claim.run_id: _span_of(claim) for claim in claims}
        self._working = tracing.Span()

    def supervise(self) -> None:
        """Send the order, receive messages until the runs end, commit."""
        how = None
        try:
            self._note_pace(self._listen())
        except WorkerLostError as error:
            metrics.WORKERS_LOST.inc()
            self._worker.kill()
            log.warning("run %s lost its worker: %s", self._present.run_id, error)
            how = str(error)
        except Exception as error:
            # the state of the worker is unknown: start another one
            self._worker.kill()
            log.error("run %s could not be supervised", self._present.run_id, exc_info=error)
            how = f"{type(error).__name__} while it was supervised"
        finally:
            for claim in self._claims:
                self._dispatcher.live.pop(claim.run_id, None)
        self._give_back(how)
        self._commit(wait=True)

    @property
    def _present(self) -> Claim:
        """The run that is computed, or the last one."""
        return self._claims[min(self._n_ended, len(self._claims) - 1)]

    @property
    def _timeout_s(self) -> float | None:
        """Time allowed for the present run and those that are computed beside it [s]."""
        timeout_s = self._present.timeout_s
        return None if timeout_s is None else timeout_s * self._live.together

    def _note_pace(self, processor_s: float) -> None:
        """Groups are so much work, and not so much time: where others work they would be small."""
        batch_id = self._claims[0].batch_id
        if batch_id is not None and self._n_ended:
            self._dispatcher.pace.note(batch_id, processor_s, self._n_ended)

    def _listen(self) -> float:
        """Receive messages until the order is over; the processor time [s] that it took."""
        first = self._claims[0]
        items = [
            m.RunItem(
                dict(claim.overrides),
                str(self._options.results.root / claim.folder),
                claim.record,
                str(self._options.checkpoints.of(claim.run_id, claim.attempt).path),
            )
            for claim in self._claims
        ]
        stops = first.on_failure != "continue"
        every = self._options.checkpoint_s
        of_batch = first.batch_id is not None
        self._worker.send(m.RunOrder(first.document, items, stops, every, first.measure, of_batch))
        self._begin()
        while True:
            message = self._worker.hear(LISTEN_SECONDS)
            now = self._clock.look()
            if message is not None:
                self._heard = now
            if isinstance(message, m.Finished):
                return message.processor_s
            if isinstance(message, m.Done):
                self._take(message)
            elif isinstance(message, m.Started):
                self._mark_started(message)
            elif isinstance(message, m.Progress):
                self._note(message, now)
            elif isinstance(message, m.Storing):
                self._storing = True
            self._watch(now)

    def _begin(self) -> None:
        """The next run is being worked on."""
        self._began = self._clock.look()
        self._storing = False
        self._live = Live(pid=self._worker.pid)
        self._dispatcher.live[self._present.run_id] = self._live
        ids = {"run": self._present.run_id, "worker": self._worker.pid}
        self._working = self._spans[self._present.run_id].child(
            "worker", run=self._present.run_id, worker=self._worker.pid
        )
        log.info("run %(run)s begins in worker %(worker)d", ids, extra=ids)

    def _take(self, done: m.Done) -> None:
        claim = self._claims[done.number]
        outcome = Outcome(
            event=RunEvent(done.event),
            step=done.step,
            summary=done.summary,
            error=done.error,
            result=claim.folder if done.stored else None,
            real_time_factor=done.real_time_factor,
        )
        metrics.note_end(done.event, done.real_time_factor, done.summary)
        self._working.end(_fault_of(outcome))
        # still live: a member of a cluster that uploads a recording is not idle
        self._ended.append((claim, self._kept(claim, outcome)))
        self._dispatcher.live.pop(claim.run_id, None)
        self._n_ended = done.number + 1
        if self._n_ended < len(self._claims):
            self._begin()

    def _kept(self, claim: Claim, outcome: Outcome) -> Outcome:
        """The outcome when its recording is where all can read it, or could not be."""
        if outcome.result is None:
            return outcome
        try:
            self._keep(outcome.result)
        except OSError as error:
            log.error("the recording of %s was not kept: %s", claim.run_id, error)
            said = f"The recording could not be stored: {error}"
            failed = {"code": "storage_failed", "message": said, "retryable": True}
            return Outcome(RunEvent.FAILED, outcome.step, error=failed)
        return outcome

    def _keep(self, name: str) -> None:
        """Keep a recording; while that takes time the leases are renewed. Raises OSError."""
        results = self._options.results
        if not results.shared:
            return
        with ThreadPoolExecutor(1) as thread:
            keeping = thread.submit(results.keep, name)
            while not wait([keeping], self._options.renew_s).done:
                self._renew(self._clock.look())
            keeping.result()

    def _discard(self, claim: Claim) -> None:
        """Remove the recording of an attempt that was fenced.

        It was not when the database did commit its end, and the connection broke before it said so.
        """
        try:
            if not self._queue.refers_to(claim.run_id, claim.folder):
                self._options.results.discard(claim.folder)
        except (ResultsError, SQLAlchemyError) as error:
            # if nothing refers to it, it goes when the service starts again
            log.error("a recording was not removed: %s", error)

    def _mark_started(self, started: m.Started) -> None:
        metrics.CLAIM_TO_START.observe(self._clock.look() - self._first)
        self._untold = started
        self._tell_start()

    def _tell_start(self) -> None:
        """Write into its row that the present run has started, once the database takes it."""
        started = self._untold
        if started is None or started.number < self._n_ended:
            return
        try:
            held = self._queue.started(self._present, started.total_steps, started.step)
        except PASSING as error:
            log.error("the start of %s is not told yet: %s", self._present.run_id, cause_of(error))
            return
        self._untold = None
        if not held:
            self._fenced.add(self._present.run_id)

    def _note(self, message: m.Progress, now: float) -> None:
        if message.together < self._live.together:
            # it is computed alone, from its start
            self._began = now
        self._live.together = message.together
        self._live.step = message.step
        self._live.real_time_factor = message.real_time_factor
        if now - self._published >= PUBLISH_SECONDS:
            self._published = now
            self._queue.changed(self._present.run_id)

    def _watch(self, now: float) -> None:
        """Renew leases; stop a cancelled or overdue run; end a process that does not respond."""
        if now - self._heard > self._options.silence_s:
            raise WorkerLostError(f"no sign of life for {self._options.silence_s:.0f} s")
        stop = self._stops.get(self._n_ended)
        timeout_s = self._timeout_s
        if stop is not None:
            # it has stopped when it stores what it has; a service that ends does not wait for that
            stopped = self._storing and stop[0] != RunEvent.RELEASED
            if not stopped and now - max(stop[1], self._began) > self._options.stop_grace_s:
                raise WorkerLostError("it did not stop when told")
        elif self._dispatcher.stopping.is_set():
            self._stop_all(RunEvent.RELEASED, now)
        elif timeout_s is not None and now - self._began > timeout_s:
            self._end_time(now)
        wanted = self._dispatcher.take_requests(self._spans)
        if wanted or now - self._renewed >= self._options.renew_s:
            self._renewed = now
            self._tell_start()
            self._commit()
            self._renew(now)

    def _end_time(self, now: float) -> None:
        """Stop the present run; runs that are computed together go on one by one instead."""
        if self._live.together == 1:
            self._stop(self._n_ended, RunEvent.TIMED_OUT, now)
            return
        self._began = now
        self._worker.send(m.Apart())

    def _renew(self, now: float) -> None:
        live = self._live
        progress = {self._present.run_id: (live.step, live.real_time_factor)}
        unfinished = self._claims[self._n_ended :]
        try:
            states = self._queue.renew_all(unfinished, progress)
        except PASSING as error:
            log.error("the lease of %s was not renewed: %s", self._present.run_id, cause_of(error))
            return
        for number, claim in enumerate(unfinished, self._n_ended):
            state = states.get(claim.run_id)
            if state is None:
                self._fenced.add(claim.run_id)
            if state in (None, RunState.CANCELLING) and number not in self._stops:
                self._stop(number, RunEvent.CANCELLED, now)

    def _stop(self, number: int, why: RunEvent, now: float) -> None:
        self._stops[number] = (why, now)
        self._worker.send(m.StopRun(why, number))

    def _stop_all(self, why: RunEvent, now: float) -> None:
        for number in range(self._n_ended, len(self._claims)):
            self._stops[number] = (why, now)
        self._worker.send(m.StopRun(why))

    def _give_back(self, how: str | None) -> None:
        """Add outcomes of the runs that did not end; `how` the worker was lost, if it was."""
        unfinished = self._claims[self._n_ended :]
        for place, claim in enumerate(unfinished):
            lost = how is not None and place == 0
            outcome = self._loss(str(how)) if lost else Outcome(RunEvent.RELEASED)
            if place == 0:
                self._working.end(_fault_of(outcome))
            self._ended.append((claim, outcome))

    def _loss(self, how: str) -> Outcome:
        """Return the event of a lost process: the requested stop, if it ignored one."""
        stop, _ = self._stops.get(self._n_ended, (None, 0.0))
        if stop == RunEvent.TIMED_OUT:
            error = {
                "code": "timed_out",
                "message": "The run took longer than its timeout_s.",
                "retryable": True,
            }
            return Outcome(RunEvent.TIMED_OUT, self._live.step, error=error)
        if stop == RunEvent.RELEASED or self._worker.orphaned:
            # not caused by the run: the service stops, or the fork server died with all workers
            return Outcome(RunEvent.RELEASED)
        present = self._present
        return Outcome(
            RunEvent.WORKER_LOST,
            self._live.step,
            error=worker_lost_error(how),
            progressed=self._options.checkpoints.of(present.run_id, present.attempt).progressed,
        )

    def _commit(self, *, wait: bool = False) -> None:
        """Write the outcomes so far; with `wait` a database that cannot be written is tried again.

        Ends of runs that were fenced are thrown away.
        """
        ends = [(claim, how) for claim, how in self._ended if claim.run_id not in self._fenced]
        while ends:
            try:
                states = self._queue.finish_all(ends)
                break
            except PASSING as error:
                log.error("ends of %d runs are not committed yet: %s", len(ends), cause_of(error))
                if not wait:
                    return
                if self._dispatcher.stopping.wait(1.0):
                    ends = []
        else:
            states = {}
        for claim, outcome in self._ended:
            state = states.get(claim.run_id)
            if outcome.result is None:
                remove_folder(self._options.results.root / claim.folder)
            elif state in (None, RunState.QUEUED):
                self._discard(claim)
            if state in TERMINAL:
                kept = self._options.checkpoints.of(claim.run_id, claim.attempt)
                shutil.rmtree(kept.path, ignore_errors=True)
            self._spans[claim.run_id].end(_fault_of(outcome))
            ids = {"run": claim.run_id, "batch": claim.batch_id, "worker": self._worker.pid}
            log.info("run %s attempt %d: %s", claim.run_id, claim.attempt, state, extra=ids)
        self._ended = []


def _span_of(claim: Claim) -> tracing.Span:
    """The span of an attempt that begins; what a run waited for its first one is a span before."""
    run, batch = claim.run_id, claim.batch_id
    if claim.attempt == 1:
        tracing.begin("queue", claim.trace, claim.queued_at, run=run, batch=batch).end()
    return tracing.begin("run", claim.trace, None, run=run, batch=batch, attempt=claim.attempt)


def _fault_of(outcome: Outcome) -> str | None:
    """What a trace says of an attempt that failed."""
    return None if outcome.error is None else str(outcome.error["code"])
