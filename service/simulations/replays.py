"""Replays: recordings of runs that ended without one, made by running them again.

The same scene has the same bits on the same engine; the hash of the final state is compared with
that of the run, so that a recording is never that of another motion.
"""

import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from cardan.service import clock
from cardan.service.processes.worker import Worker, WorkerLostError
from cardan.service.simulations import messages as m

LISTEN_SECONDS = 0.2


class ReplayError(Exception):
    """The run could not be repeated; the text says why."""


@dataclass
class Replay:
    """One recording to make in `folder`."""

    item: m.RunItem
    document: str
    state_hash: str | None
    of_batch: bool
    future: "Future[None]" = field(default_factory=Future)

    def answer(self, worker: Worker, silence_s: float) -> None:
        """Run it on a worker; the future ends with a result or with ReplayError."""
        try:
            done = self._run(worker, silence_s)
        except WorkerLostError as error:
            worker.kill()
            self.future.set_exception(ReplayError(f"its worker was lost: {error}"))
            return
        except BaseException as error:
            worker.kill()
            self.future.set_exception(ReplayError(type(error).__name__))
            raise
        found = (done.summary or {}).get("state_hash") if done is not None else None
        if done is None or not done.stored:
            said = (done.error or {}).get("message") if done is not None else "it was not begun"
            self.future.set_exception(ReplayError(str(said)))
        elif found != self.state_hash:
            told = "it ends in another state now; another engine computed it"
            self.future.set_exception(ReplayError(told))
        else:
            self.future.set_result(None)

    def _run(self, worker: Worker, silence_s: float) -> m.Done | None:
        worker.send(m.RunOrder(self.document, (self.item,), of_batch=self.of_batch))
        done, heard = None, clock.monotonic()
        while True:
            message = worker.hear(LISTEN_SECONDS)
            now = clock.monotonic()
            if message is not None:
                heard = now
            elif now - heard > silence_s:
                raise WorkerLostError(f"no sign of life for {silence_s:.0f} s")
            if isinstance(message, m.Done):
                done = message
            elif isinstance(message, m.Finished):
                return done


class Replays:
    """Replays that wait for a slot, one per run; safe to use from many threads."""

    def __init__(self) -> None:
        """None waits."""
        self._waiting: deque[str] = deque()
        self._known: dict[str, Replay] = {}
        self._lock = threading.Lock()

    def request(self, run_id: str, replay: Replay) -> "Future[None]":
        """Queue a replay, or join the one of this run that waits or works."""
        with self._lock:
            known = self._known.get(run_id)
            if known is not None:
                return known.future
            self._known[run_id] = replay
            self._waiting.append(run_id)
        replay.future.add_done_callback(lambda _future: self._forget(run_id))
        return replay.future

    def next(self) -> Replay | None:
        """Take the one that waits longest."""
        with self._lock:
            return self._known[self._waiting.popleft()] if self._waiting else None

    def _forget(self, run_id: str) -> None:
        with self._lock:
            self._known.pop(run_id, None)
