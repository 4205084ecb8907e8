"""Replays: recordings of runs that ended without one, made by running them again.

The same scene has the same bits on the same engine; the hash of the final state is compared with
that of the run, so that a recording is never that of another motion. It is kept whether or not
somebody still waits for it: who asks later finds it.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from cardan.service import clock
from cardan.service.processes.worker import Worker, WorkerLostError
from cardan.service.recordings.folder import remove_folder
from cardan.service.simulations import messages as m

LISTEN_SECONDS = 0.2


class ReplayError(Exception):
    """The run could not be repeated; the text says why."""


@dataclass
class Replay:
    """One recording to make; `keep` gives it to its run, or raises ReplayError."""

    item: m.RunItem
    document: str
    state_hash: str | None
    of_batch: bool
    keep: Callable[[], None]
    future: "Future[None]" = field(default_factory=Future)

    def answer(self, worker: Worker, silence_s: float, stopping: threading.Event) -> None:
        """Run it on a worker; the future ends with a result, or an error such as ReplayError.

        Nothing is lost by it, so a service that stops does not wait for its end.
        """
        try:
            self._check(self._run(worker, silence_s, stopping))
            self.keep()
        except WorkerLostError as error:
            worker.kill()
            self._fail(ReplayError(f"its worker was lost: {error}"))
        except (ReplayError, SQLAlchemyError) as error:
            self._fail(error)
        except BaseException as error:
            worker.kill()
            self._fail(ReplayError(type(error).__name__))
            raise
        else:
            self.future.set_result(None)

    def _fail(self, error: Exception) -> None:
        remove_folder(Path(self.item.folder))
        self.future.set_exception(error)

    def _check(self, done: m.Done | None) -> None:
        """Raise ReplayError when there is no recording, or one of another motion."""
        if done is None or not done.stored:
            said = (done.error or {}).get("message") if done is not None else "it was not begun"
            raise ReplayError(str(said))
        if (done.summary or {}).get("state_hash") != self.state_hash:
            raise ReplayError("it ends in another state now; another engine computed it")

    def _run(self, worker: Worker, silence_s: float, stopping: threading.Event) -> m.Done | None:
        worker.send(m.RunOrder(self.document, (self.item,), of_batch=self.of_batch))
        done, awake = None, clock.AwakeClock()
        heard = awake.look()
        while True:
            message = worker.hear(LISTEN_SECONDS)
            now = awake.look()
            if stopping.is_set():
                raise WorkerLostError("the service stops")
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
        """Begin without replays."""
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
