"""Asks a worker process: is a scene accepted, what does a step cost, what solves a problem, what
do algorithms in joint coordinates give.

The service itself loads no physics; faults such as an indefinite inertia are found here.
"""

import threading
from typing import Any, TypeVar

from service import clock
from service.jobs import messages as m
from service.jobs.worker import Worker, WorkerLostError
from service.workers.process import WorkerLauncher

Answer = TypeVar("Answer", m.Checked, m.Computed, m.Solved)


class CheckerBusyError(Exception):
    """No answer in time: the kernels are still being compiled, or the scene is very large."""


class Checker:
    """One process that builds engines and throws them away; callers take turns."""

    def __init__(self, launcher: WorkerLauncher, limits: m.WorkerLimits) -> None:
        """Nothing starts before the first question, or `start`."""
        self._launcher = launcher
        self._limits = limits
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._closed = False

    def check(
        self,
        document: str,
        overrides: dict[str, object] | None = None,
        *,
        probe_s: float = 0.0,
        within_s: float = 60.0,
    ) -> m.Checked:
        """What the engine says about a scene. Raises CheckerBusyError."""
        order = m.CheckOrder(document, dict(overrides or {}), probe_s)
        return self._in_turn(order, m.Checked, within_s)

    def compute(self, order: m.ComputeOrder, *, within_s: float = 60.0) -> m.Computed:
        """The answer in joint coordinates. Raises CheckerBusyError."""
        return self._in_turn(order, m.Computed, within_s)

    def solve(self, document: str, *, within_s: float = 60.0) -> m.Solved:
        """The answer to a complementarity problem. Raises CheckerBusyError."""
        return self._in_turn(m.SolveOrder(document), m.Solved, within_s)

    def close(self) -> None:
        """End the process, also while it is asked."""
        self._closed = True
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
            raise CheckerBusyError("others are being served")
        try:
            return self._ask(order, expected, until)
        finally:
            self._turn.release()

    def _ask(self, order: Any, expected: type[Answer], until: float) -> Answer:
        for _ in range(2):
            left = until - clock.monotonic()
            if left <= 0.0:
                break
            try:
                worker = self._ready_worker(left)
                worker.send(order)
                answer = worker.hear(max(0.0, until - clock.monotonic()))
            except WorkerLostError:
                # an idle worker may have died long ago: ask a fresh one, once
                self._drop()
                continue
            if isinstance(answer, expected):
                return answer
            self._drop()
            raise CheckerBusyError("no answer in time")
        raise CheckerBusyError("no worker process is ready")

    def _ready_worker(self, within_s: float) -> Worker:
        if self._closed:
            raise CheckerBusyError("the service is shutting down")
        if self._worker is None or not self._worker.alive:
            self._worker = Worker(self._launcher, self._limits, within_s, lambda: self._closed)
        return self._worker

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
