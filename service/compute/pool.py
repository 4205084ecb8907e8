"""A worker process for requests: validation of scenes, cost of a step, complementarity problems,
algorithms in joint coordinates.

The service process loads no engine; faults such as an indefinite inertia are found here.
"""

import logging
import threading
from typing import Any, TypeVar

from cardan.service import clock
from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.worker_client import Worker, WorkerLimits, WorkerLostError

log = logging.getLogger("cardan.jobs")

WORKER = "cardan.service.compute.worker"
MOST_LOSSES = 2
LEAST_PAUSE_SECONDS = 0.1

Answer = TypeVar("Answer", m.Checked, m.Computed, m.Solved)


class ComputeBusyError(ServiceError):
    """No answer in time: the kernels are still being compiled, or the scene is very large."""

    def __init__(self, why: str) -> None:
        """Say why."""
        detail = f"This cannot be computed now: {why}."
        super().__init__(ErrorCode.ENGINE_NOT_READY, detail, retry_after_s=5)


class ComputePool:
    """One process that builds engines and discards them; callers take turns."""

    def __init__(self, launcher: WorkerLauncher, limits: WorkerLimits) -> None:
        """The process starts with the first request, or with `start`."""
        self._launcher = launcher
        self._limits = limits
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._closed = threading.Event()

    def check(
        self,
        document: str,
        overrides: dict[str, object] | None = None,
        *,
        probe_s: float = 0.0,
        within_s: float = 60.0,
    ) -> m.Checked:
        """Return the engine's report on a scene. Raises ComputeBusyError."""
        order = m.CheckOrder(document, dict(overrides or {}), probe_s)
        return self._in_turn(order, m.Checked, within_s)

    def compute(self, order: m.ComputeOrder, *, within_s: float = 60.0) -> m.Computed:
        """Compute in joint coordinates. Raises ComputeBusyError."""
        return self._in_turn(order, m.Computed, within_s)

    def solve(self, document: str, *, within_s: float = 60.0) -> m.Solved:
        """Solve a complementarity problem. Raises ComputeBusyError."""
        return self._in_turn(m.SolveOrder(document), m.Solved, within_s)

    def close(self) -> None:
        """End the process, even while it computes."""
        self._closed.set()
        worker = self._worker
        if worker is not None:
            worker.interrupt()
        with self._turn:
            if self._worker is not None:
                self._worker.quit(1.0)
                self._worker = None

    def _in_turn(self, order: Any, expected: type[Answer], within_s: float) -> Answer:
        until = clock.monotonic() + within_s
        if not self._turn.acquire(timeout=within_s):
            raise ComputeBusyError("others are being served")
        try:
            return self._ask(order, expected, until)
        finally:
            self._turn.release()

    def _ask(self, order: Any, expected: type[Answer], until: float) -> Answer:
        losses = 0
        while losses < MOST_LOSSES:
            worker = self._ready_worker(until)
            try:
                worker.send(order)
                answer = worker.hear(max(0.0, until - clock.monotonic()))
            except WorkerLostError:
                # an idle worker may have died long ago: use a fresh one
                losses += not worker.orphaned
                self._drop()
                continue
            if isinstance(answer, expected):
                return answer
            self._drop()
            raise ComputeBusyError("no answer in time")
        raise ComputeBusyError("the worker process was lost on this question")

    def _ready_worker(self, until: float) -> Worker:
        """Return the process, started if necessary; try again until the deadline."""
        pause = LEAST_PAUSE_SECONDS
        while not self._closed.is_set():
            if self._worker is not None and self._worker.alive:
                return self._worker
            self._drop()
            left = until - clock.monotonic()
            if left <= 0.0:
                raise ComputeBusyError("no worker process is ready")
            try:
                self._worker = Worker(
                    WORKER, self._launcher, self._limits, left, self._closed.is_set
                )
            except WorkerLostError as error:
                log.error("no worker: %s", error)
                self._closed.wait(min(pause, left))
                pause *= 2.0
        raise ComputeBusyError("the service is shutting down")

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
