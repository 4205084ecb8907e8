"""Carries studies on: when all runs of a study have ended, its search is asked for the next ones.

Nothing of a study is in memory: its evaluations are rows, and the search takes the same way from
its beginning (`compute/searching.py`). A service that was killed goes on with the next turn.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

from cardan.service.compute.messages import Searched, SearchOrder
from cardan.service.compute.pool import ComputePool
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.simulations.admission import Admission
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.faults import PASSING, cause_of
from cardan.service.simulations.queue import Queue
from cardan.service.studies.rows import Row, StudyRows

log = logging.getLogger("cardan.studies")

IDLE_SECONDS = 1.0
# refusals that pass
LATER = (
    ErrorCode.QUEUE_FULL,
    ErrorCode.ENGINE_NOT_READY,
    ErrorCode.WARMING_UP,
    ErrorCode.WORKER_LOST,
)
# the machine may have stood still, or had other work
MOST_LATE = 3


class Studies:
    """One thread that looks after all studies."""

    def __init__(
        self,
        rows: StudyRows,
        catalog: Catalog,
        queue: Queue,
        admission: Admission,
        pool: ComputePool,
        has_space: Callable[[], bool],
    ) -> None:
        """`has_space` says whether there is disk space for further runs."""
        self.rows = rows
        self._catalog = catalog
        self._queue = queue
        self._admission = admission
        self._pool = pool
        self._has_space = has_space
        # what was told of each: its state, and counts of its runs
        self._told: dict[str, tuple[Any, ...]] = {}
        # how often in a row the search of each took too long
        self._late: dict[str, int] = {}
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="studies", daemon=True)

    def start(self) -> None:
        """Begin; studies of an earlier service go on."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._wake.set()
        if self._thread.ident:
            self._thread.join()

    def look(self) -> None:
        """Look at the studies now; from any thread."""
        self._wake.set()

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                for row in self.rows.open():
                    self._look_at(row)
            except PASSING as error:
                log.error("studies cannot be read: %s", cause_of(error))
            except Exception as error:
                # all studies would stand still from now on if the thread ended
                log.error("studies are looked at again", exc_info=error)
            self._wake.wait(IDLE_SECONDS)
            self._wake.clear()

    def _look_at(self, row: Row) -> None:
        """Do what is due for one study; an error of it is not one of the others."""
        try:
            self._carry_on(row)
            self._late.pop(row["id"], None)
        except ServiceError as error:
            if self._passes(row["id"], error.code) or self._stopping.is_set():
                log.info("study %s waits: %s", row["id"], error)
                return
            self._end(row, "failed", error=_error(error.code, error.detail))
        except PASSING as error:
            log.error("study %s cannot be written: %s", row["id"], cause_of(error))
        except Exception as error:
            log.exception("study %s failed", row["id"])
            self._end(row, "failed", error=_error("internal_error", type(error).__name__))

    def _passes(self, study_id: str, code: ErrorCode) -> bool:
        """Whether a refusal passes by itself."""
        if code != ErrorCode.COMPUTE_TIMED_OUT:
            return code in LATER
        self._late[study_id] = self._late.get(study_id, 0) + 1
        return self._late[study_id] < MOST_LATE

    def _carry_on(self, row: Row) -> None:
        batch = self._catalog.batch(row["batch_id"])
        if batch is None:
            self._end(row, "failed", error=_error("batch_gone", "Its runs were removed."))
            return
        counts = self.rows.counts(row["batch_id"])
        now = (row["state"], *counts)
        if now != self._told.get(row["id"]):
            self._told[row["id"]] = now
            self._queue.changed(row["id"])
        if row["state"] == "cancelling" and batch["stop_reason"] is None:
            self._queue.cancel_batch(row["batch_id"], "Cancelled on request.")
            return
        if counts[0] > counts[1]:
            return
        if row["state"] == "cancelling":
            self._end(row, "cancelled", reason="Cancelled on request.")
        elif batch["stop_reason"] is not None:
            self._stopped(row, str(batch["stop_reason"]))
        elif self._has_space():
            self._next(row)

    def _stopped(self, row: Row, reason: str) -> None:
        """End a study whose batch was cancelled, or whose first runs all failed alike."""
        cancelled = reason.startswith("Cancelled")
        error = None if cancelled else _error("evaluations_failed", reason)
        self._end(row, "cancelled" if cancelled else "failed", reason=reason, error=error)

    def _next(self, row: Row) -> None:
        runs = self.rows.evaluations(row["batch_id"])
        evaluated = [(run["overrides"], run["measures"]) for run in runs]
        found: Searched = self._pool.wait_for_answer(SearchOrder(row["asked"], evaluated))
        best: dict[str, Any] | None = None
        if found.best is not None:
            best = {**found.best, "simulation": runs[found.best["run"]]["id"]}
        if found.reason is None:
            if self._admission.extend(row["batch_id"], len(runs), found.runs, best):
                self._queue.wake.set()
        elif best is None:
            message = "No evaluation has a value of the objective."
            self._end(row, "failed", reason=found.reason, error=_error("no_value", message))
        elif not best["feasible"]:
            message = "No evaluation keeps all constraints; the best one violates them least."
            error = _error("infeasible", message)
            self._end(row, "failed", reason=found.reason, best=best, error=error)
        else:
            self._end(row, "succeeded", reason=found.reason, best=best)

    def _end(self, row: Row, state: str, **values: Any) -> None:
        self.rows.finish(row["id"], state, **values)
        self._told.pop(row["id"], None)
        self._late.pop(row["id"], None)
        log.info("study %s: %s", row["id"], state, extra={"study": row["id"]})
        self._queue.changed(row["id"])
        self._queue.changed(row["batch_id"])


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "retryable": False}
