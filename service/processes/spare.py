"""A worker that is started before anybody needs it: whoever takes it does not wait for a fork."""

import logging
import threading
from collections.abc import Callable

from cardan.service.processes.launcher import WARM_SECONDS
from cardan.service.processes.worker import Worker, WorkerLostError

log = logging.getLogger("cardan.workers")


class SpareWorker:
    """At most one started worker without a task; used by several threads."""

    def __init__(self, start: Callable[[], Worker], prepare: object) -> None:
        """Begin without one; `start` starts it, and `prepare` is its first message."""
        self._start = start
        self._prepare = prepare
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the spare, for operators and tests."""
        worker = self._worker
        return None if worker is None else worker.pid

    def take(self) -> Worker:
        """The spare, if it answers, or a worker that is started now. Raises WorkerLostError."""
        worker = self._swap(None)
        if worker is None:
            return self._start()
        if worker.answers():
            return worker
        log.warning("the spare worker %d does not answer: another is started", worker.pid)
        worker.kill()
        return self._start()

    def refill(self) -> None:
        """Start a spare if there is none; when none can be started, there is none."""
        if self._worker is not None or self._closed:
            return
        try:
            worker = self._start()
        except WorkerLostError as error:
            log.warning("no spare worker: %s", error)
            return
        try:
            # one that still loads its kernels could not answer when it is taken
            worker.wait_ready(WARM_SECONDS, lambda: self._closed)
            worker.send(self._prepare)
        except WorkerLostError as error:
            log.warning("no spare worker: %s", error)
            worker.kill()
            return
        surplus = self._swap(worker)
        if surplus is not None:
            surplus.kill()

    def close(self) -> None:
        """End the spare; there will be no other."""
        self._closed = True
        worker = self._swap(None)
        if worker is not None:
            worker.kill()

    def _swap(self, worker: Worker | None) -> Worker | None:
        """Put a worker in the place of the spare, and return the one that was there; after `close`
        none is put there, and a given one is returned."""
        with self._lock:
            if self._closed and worker is not None:
                return worker
            before, self._worker = self._worker, worker
            return before
