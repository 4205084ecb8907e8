"""The queue: claims of runs and their outcomes. The row of a run is authoritative.

A claim raises the attempt and sets owner and lease; every later change says
`WHERE id AND owner AND attempt AND state`. When no row answers, the caller has been fenced out
(its lease ran out and somebody else has the run) and must throw its result away.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, func, insert, or_, select, update

from cardan.service import clock
from cardan.service.simulations import tables as t
from cardan.service.simulations.rows import (
    Outcome,
    cancelled_error,
    count_states,
    failure_codes,
    last_values,
    next_run,
    note,
    run_row,
    worker_lost_error,
)
from cardan.service.simulations.states import (
    ACTIVE,
    FailureRule,
    RunEvent,
    RunState,
    next_state,
)

Changed = Callable[[str], None]


@dataclass(frozen=True)
class Claim:
    """One attempt at one run, held by one owner until the lease ends."""

    run_id: str
    attempt: int
    owner: str
    document: str  # the base scene, JSON
    overrides: Mapping[str, Any]
    timeout_s: float | None

    @property
    def folder(self) -> str:
        """The name of this attempt's result."""
        return f"{self.run_id}-{self.attempt}"


class Queue:
    """Claims, progress and outcomes of runs; safe to use from many threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        lease_s: float = 60.0,
        most_losses: int = 2,
        changed: Changed = lambda _key: None,
    ) -> None:
        """Work on an open database; `changed(id)` is called after every commit that matters."""
        self._reading = engine
        self._writing = engine.execution_options(writes=True)
        self._lease_s = lease_s
        self._most_losses = most_losses
        self.changed = changed
        self.wake = threading.Event()

    def claim(self, owner: str) -> Claim | None:
        """Take the next run that may start, or `None`."""
        # an empty queue must not cost a write lock
        with self._reading.connect() as connection:
            if connection.execute(next_run()).first() is None:
                return None
        with self._writing.begin() as connection:
            row = connection.execute(next_run()).mappings().first()
            if row is None:
                return None
            claim = Claim(
                run_id=row["id"],
                attempt=row["attempt"] + 1,
                owner=owner,
                document=row["document"],
                overrides=row["overrides"],
                timeout_s=row["timeout_s"],
            )
            now = clock.now()
            values = {
                "state": RunState.STARTING,
                "attempt": claim.attempt,
                "owner": owner,
                "lease_until": now + self._lease_s,
                "step": 0,
            }
            if row["started_at"] is None:
                values["started_at"] = now
            connection.execute(update(t.runs).where(t.runs.c.seq == row["seq"]).values(values))
            connection.execute(
                insert(t.attempts).values(
                    run_id=claim.run_id, attempt=claim.attempt, owner=owner, started_at=now
                )
            )
            note(connection, claim.run_id, RunState.STARTING, attempt=claim.attempt)
        self._tell(claim.run_id, row["batch_id"])
        return claim

    def started(self, claim: Claim, total_steps: int) -> bool:
        """The worker has built the engine and steps; False when fenced."""
        with self._writing.begin() as connection:
            row = self._held(connection, claim)
            if row is None:
                return False
            state = next_state(RunState(row["state"]), RunEvent.STARTED)
            if state is None:
                return True
            self._write(connection, row, state=state, total_steps=total_steps)
            note(connection, claim.run_id, state, attempt=claim.attempt)
        self._tell(claim.run_id, row["batch_id"])
        return True

    def renew(
        self, claim: Claim, step: int = 0, real_time_factor: float | None = None
    ) -> RunState | None:
        """Lengthen the lease and note the progress; the state now, or `None` when fenced."""
        with self._writing.begin() as connection:
            row = self._held(connection, claim)
            if row is None:
                return None
            self._write(
                connection,
                row,
                lease_until=clock.now() + self._lease_s,
                step=max(step, row["step"]),
                real_time_factor=real_time_factor,
            )
        return RunState(row["state"])

    def finish(self, claim: Claim, outcome: Outcome) -> RunState | None:
        """Commit how the attempt ended; the state reached, or `None` when fenced."""
        with self._writing.begin() as connection:
            row = self._held(connection, claim)
            if row is None:
                return None
            state = self._end(connection, row, outcome)
        self._tell(claim.run_id, row["batch_id"])
        return state

    def cancel(self, run_id: str) -> RunState | None:
        """Request the end of a run; return its present state, or `None` if it does not exist.

        Ended runs stay as they are.
        """
        with self._writing.begin() as connection:
            row = run_row(connection, t.runs.c.id == run_id)
            if row is None:
                return None
            before = RunState(row["state"])
            state = self._cancel_row(connection, row)
        if state is not before:
            self._tell(run_id, row["batch_id"])
        return state

    def cancel_batch(self, batch_id: str, reason: str) -> bool:
        """Start no further run of the batch and cancel running ones; return False if unknown."""
        with self._writing.begin() as connection:
            known = connection.execute(
                update(t.batches)
                .where(t.batches.c.id == batch_id)
                .values(stop_reason=func.coalesce(t.batches.c.stop_reason, reason))
            )
            if known.rowcount == 0:
                return False
            open_states = [RunState.QUEUED, *ACTIVE]
            rows = connection.execute(
                select(t.runs).where(t.runs.c.batch_id == batch_id, t.runs.c.state.in_(open_states))
            ).mappings()
            touched = [row["id"] for row in rows.all() if self._cancel_row(connection, row)]
        for key in [*touched, batch_id]:
            self.changed(key)
        return True

    def retry_failed(self, batch_id: str) -> list[str] | None:
        """Queue the batch's failed, timed out and cancelled runs again; `None` when unknown.

        The names of the results they had, which no row refers to any more.
        """
        again = [RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED]
        chosen = (t.runs.c.batch_id == batch_id, t.runs.c.state.in_(again))
        with self._writing.begin() as connection:
            known = connection.execute(
                update(t.batches).where(t.batches.c.id == batch_id).values(stop_reason=None)
            )
            if known.rowcount == 0:
                return None
            had = select(t.runs.c.result).where(*chosen, t.runs.c.result.is_not(None))
            results = [str(name) for name in connection.execute(had).scalars()]
            connection.execute(
                update(t.runs)
                .where(*chosen)
                .values(
                    state=RunState.QUEUED,
                    losses=0,
                    step=0,
                    error=None,
                    summary=None,
                    result=None,
                    finished_at=None,
                    real_time_factor=None,
                )
            )
        self.wake.set()
        self.changed(batch_id)
        return results

    def recover(self, *, everything: bool) -> list[str]:
        """Take back runs whose owner is gone: all that are held, or those with an ended lease."""
        held: list[Any] = [t.runs.c.state.in_(list(ACTIVE))]
        if not everything:
            held.append(t.runs.c.lease_until < clock.now())
        lost = Outcome(RunEvent.WORKER_LOST, error=worker_lost_error("the service stopped"))
        with self._reading.connect() as connection:
            if connection.execute(select(t.runs.c.id).where(*held).limit(1)).first() is None:
                return []
        with self._writing.begin() as connection:
            rows = connection.execute(select(t.runs).where(*held)).mappings().all()
            for row in rows:
                self._end(connection, row, lost)
        for row in rows:
            self._tell(row["id"], row["batch_id"])
        return [row["id"] for row in rows]

    def referenced_results(self) -> frozenset[str]:
        """The names of all results that rows refer to."""
        with self._reading.connect() as connection:
            found = connection.execute(select(t.runs.c.result).where(t.runs.c.result.is_not(None)))
            return frozenset(found.scalars())

    def forget_old_keys(self, older_than_s: float) -> None:
        """Delete expired idempotency keys, and those that a dead service left unfinished."""
        old = t.idempotency.c.created_at < clock.now() - older_than_s
        with self._writing.begin() as connection:
            connection.execute(
                delete(t.idempotency).where(or_(old, t.idempotency.c.resource.is_(None)))
            )

    def _end(self, connection: Connection, row: RowMapping, outcome: Outcome) -> RunState:
        before = RunState(row["state"])
        left = self._most_losses - row["losses"]
        state = next_state(before, outcome.event, left)
        if state is None:
            return before
        values: dict[str, Any] = {"state": state, "owner": None, "lease_until": None}
        if outcome.event is RunEvent.WORKER_LOST:
            values["losses"] = row["losses"] + 1
        if state is RunState.QUEUED:
            values |= {"step": 0, "real_time_factor": None}
        else:
            values |= last_values(state, outcome, row)
        self._write(connection, row, **values)
        connection.execute(
            update(t.attempts)
            .where(t.attempts.c.run_id == row["id"], t.attempts.c.attempt == row["attempt"])
            .values(ended_at=clock.now(), outcome=outcome.event)
        )
        note(connection, row["id"], state, attempt=row["attempt"], error=values.get("error"))
        if state in (RunState.FAILED, RunState.TIMED_OUT) and row["batch_id"]:
            self._apply_failure_rule(connection, row["batch_id"])
        return state

    def _cancel_row(self, connection: Connection, row: RowMapping) -> RunState:
        before = RunState(row["state"])
        state = next_state(before, RunEvent.CANCEL_REQUESTED)
        if state is None or state is before:
            return before
        values: dict[str, Any] = {"state": state}
        if state is RunState.CANCELLED:
            values |= {"finished_at": clock.now(), "error": cancelled_error()}
        self._write(connection, row, **values)
        note(connection, row["id"], state, attempt=row["attempt"])
        return state

    def _apply_failure_rule(self, connection: Connection, batch_id: str) -> None:
        batch = connection.execute(select(t.batches).where(t.batches.c.id == batch_id)).mappings()
        rule = FailureRule.parse(batch.one()["on_failure"])
        succeeded = count_states(connection, batch_id).get(RunState.SUCCEEDED, 0)
        codes = failure_codes(connection, batch_id)
        reason = rule.stops(sum(codes.values()), succeeded, frozenset(codes))
        if reason is None:
            return
        connection.execute(
            update(t.batches)
            .where(t.batches.c.id == batch_id, t.batches.c.stop_reason.is_(None))
            .values(stop_reason=f"The batch was stopped: {reason}.")
        )
        connection.execute(
            update(t.runs)
            .where(t.runs.c.batch_id == batch_id, t.runs.c.state == RunState.QUEUED)
            .values(
                state=RunState.CANCELLED,
                finished_at=clock.now(),
                error=cancelled_error(f"Not started: {reason}."),
            )
        )

    @staticmethod
    def _held(connection: Connection, claim: Claim) -> RowMapping | None:
        return run_row(
            connection,
            t.runs.c.id == claim.run_id,
            t.runs.c.owner == claim.owner,
            t.runs.c.attempt == claim.attempt,
            t.runs.c.state.in_(list(ACTIVE)),
        )

    @staticmethod
    def _write(connection: Connection, row: RowMapping, **values: Any) -> None:
        connection.execute(
            update(t.runs)
            .where(
                t.runs.c.id == row["id"],
                t.runs.c.attempt == row["attempt"],
                t.runs.c.state == row["state"],
            )
            .values(values)
        )

    def _tell(self, run_id: str, batch_id: str | None) -> None:
        self.changed(run_id)
        if batch_id:
            self.changed(batch_id)
        # a run that ended may let another of its batch start
        self.wake.set()
