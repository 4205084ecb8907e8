"""The queue: claims of runs and their outcomes. The row of a run is authoritative.

A claim raises the attempt and sets owner and lease; every later change says
`WHERE id AND owner AND attempt AND state`. When no row answers, the caller has been fenced out
(its lease ran out and somebody else has the run) and must throw its result away.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, func, or_, select, update

from cardan.service import clock
from cardan.service.simulations import locking
from cardan.service.simulations import tables as t
from cardan.service.simulations.claims import Claim, GroupSize, take_group
from cardan.service.simulations.failing import apply_failure_rule, cancel_waiting
from cardan.service.simulations.rows import (
    Outcome,
    active_runs,
    cancelled_error,
    close_attempts,
    event_of,
    first_of_owners,
    lapsed_runs,
    next_run,
    note,
    run_row,
    values_at_end,
    worker_lost_error,
    write_runs,
)
from cardan.service.simulations.states import (
    ACTIVE,
    RETRIED,
    TERMINAL,
    RunEvent,
    RunState,
    next_state,
)

Changed = Callable[[str], None]
Progressed = Callable[[str, int], bool]
"""Whether an attempt (id of the run, number) has made a checkpoint of its own."""
Reserve = Callable[[Connection, int, str | None], None]
"""Raises when so many more runs of a key are too many."""


class Queue:
    """Claims, progress and outcomes of runs; safe to use from many threads."""

    def __init__(
        self,
        engine: Engine,
        *,
        lease_s: float = 60.0,
        most_losses: int = 2,
        changed: Changed = lambda _key: None,
        progressed: Progressed = lambda _run_id, _attempt: False,
    ) -> None:
        """Work on an open database; `changed(id)` is called after every commit that matters.

        A run fails with one lost worker more than `most_losses`. Losses of attempts that
        `progressed` do not count.
        """
        self._reading = engine
        # alone (locking.py): what decides about many runs
        self._writing = engine.execution_options(writes=True)
        # of workers: beside each other, on the rows they hold
        self._working = engine.execution_options(writes="rows")
        self._lease_s = lease_s
        self._most_losses = most_losses
        self.changed = changed
        self._progressed = progressed
        self.wake = threading.Event()

    def claim_group(self, owner: str, size: GroupSize) -> list[Claim]:
        """Take the next run that may start, with further runs of its batch; none: there is none."""
        # an empty queue must not cost a write lock
        with self._reading.connect() as connection:
            if connection.execute(next_run()).first() is None:
                return []
        with self._working.begin() as connection:
            claims = take_group(connection, owner, size, self._lease_s)
        self._tell_all([(claim.run_id, claim.batch_id) for claim in claims])
        return claims

    def started(self, claim: Claim, total_steps: int, step: int = 0) -> bool:
        """The worker has built the engine and goes on from a step; False when fenced."""
        with self._working.begin() as connection:
            row = self._held(connection, claim)
            if row is None:
                return False
            state = next_state(RunState(row["state"]), RunEvent.STARTED)
            if state is None:
                return True
            self._write(connection, row, state=state, total_steps=total_steps, step=step)
            resumed = step or None
            note(
                connection,
                [event_of(claim.run_id, state, attempt=claim.attempt, resumed_step=resumed)],
            )
        # nothing may start that could not before: no slot looks for work
        self._signal([(claim.run_id, row["batch_id"])])
        return True

    def renew_all(
        self, claims: Sequence[Claim], progress: Mapping[str, tuple[int, float | None]]
    ) -> dict[str, RunState]:
        """Lengthen leases and note progress; states now by run, without those that are fenced."""
        with self._working.begin() as connection:
            rows = self._held_rows(connection, claims)
            until = locking.now(connection) + self._lease_s
            changes = []
            for run_id, row in rows.items():
                step, factor = progress.get(run_id, (0, None))
                changes.append(
                    (
                        row,
                        {
                            "lease_until": until,
                            "step": max(step, row["step"]),
                            "real_time_factor": factor,
                        },
                    )
                )
            write_runs(connection, changes)
        return {run_id: RunState(row["state"]) for run_id, row in rows.items()}

    def finish_all(self, ends: Sequence[tuple[Claim, Outcome]]) -> dict[str, RunState]:
        """Commit how attempts of one owner ended, in one transaction; states reached by run.

        Those that are fenced have none; runs that waited in a batch that this stopped have one.
        """
        with self._working.begin() as connection:
            bad = [c for c, outcome in ends if outcome.event is not RunEvent.SUCCEEDED]
            locking.lock_batches(connection, [claim.batch_id for claim in bad])
            rows = self._held_rows(connection, [claim for claim, _ in ends])
            held = [(rows[c.run_id], outcome) for c, outcome in ends if c.run_id in rows]
            states = self._end_all(connection, held)
        self._tell_ends(rows.values(), states)
        return states

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
            self._tell_all([(run_id, row["batch_id"])])
        return state

    def cancel_batch(self, batch_id: str, reason: str) -> bool:
        """Start no further run of the batch and cancel running ones; False if nothing is open."""
        of_batch = t.runs.c.batch_id == batch_id
        open_ = (of_batch, ~t.runs.c.state.in_(TERMINAL))
        # a search may add runs
        searched = (t.studies.c.batch_id == batch_id, t.studies.c.finished_at.is_(None))
        going_on = or_(
            select(t.runs.c.seq).where(*open_).exists(),
            select(t.studies.c.seq).where(*searched).exists(),
        )
        with self._writing.begin() as connection:
            stopped = connection.execute(
                update(t.batches)
                .where(t.batches.c.id == batch_id, going_on)
                .values(stop_reason=func.coalesce(t.batches.c.stop_reason, reason))
            )
            if stopped.rowcount == 0:
                return False
            connection.execute(locking.held(select(t.runs.c.seq).where(*open_))).all()
            queued = cancel_waiting(connection, batch_id, cancelled_error())
            active = connection.execute(
                select(t.runs).where(of_batch, t.runs.c.state.in_(list(ACTIVE)))
            ).mappings()
            touched = [row["id"] for row in active.all() if self._cancel_row(connection, row)]
            note(connection, [event_of(i, RunState.CANCELLED, attempt=n) for i, n in queued])
        for key in [*(run_id for run_id, _ in queued), *touched, batch_id]:
            self.changed(key)
        return True

    def retry_failed(self, batch_id: str, reserve: Reserve) -> list[str] | None:
        """Queue the batch's failed, timed out and cancelled runs again; `None` when unknown.

        The names of the results they had, which no row refers to any more. Raises what `reserve`
        raises, and nothing is queued.
        """
        chosen = (t.runs.c.batch_id == batch_id, t.runs.c.state.in_(RETRIED))
        with self._writing.begin() as connection:
            known = connection.execute(
                update(t.batches)
                .where(t.batches.c.id == batch_id)
                .values(stop_reason=None)
                .returning(t.batches.c.created_by)
            ).first()
            if known is None:
                return None
            had = select(t.runs.c.id, t.runs.c.attempt, t.runs.c.result).where(*chosen)
            runs = connection.execute(had).all()
            if runs:
                reserve(connection, len(runs), known.created_by)
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
            note(connection, [event_of(i, RunState.QUEUED, attempt=n) for i, n, _ in runs])
        self._tell_all([(run_id, None) for run_id, _, _ in runs])
        self.changed(batch_id)
        return [result for _, _, result in runs if result is not None]

    def recover(self, *, everything: bool, slot: str = "") -> list[str]:
        """Take back runs whose owner is gone: all that are held, or those with an ended lease.

        Other slots of the service of a `slot` (SERVICE/NUMBER) are there: a clock may be set, and a
        machine may have stood still. The slot itself holds nothing when it asks: what is its own
        was left when the database failed, or did not say that it had committed a claim.
        """
        lost_ones = active_runs() if everything else lapsed_runs()
        with self._reading.connect() as connection:
            whose: dict[str, Any] = {}
            if not everything:
                others = f"{slot.partition('/')[0]}/%"
                whose = {"moment": locking.now(connection), "others": others, "own": slot}
            found = connection.execute(lost_ones, whose).mappings().all()
            if not found:
                return []
        with self._working.begin() as connection:
            locking.lock_batches(connection, [row["batch_id"] for row in found])
            rows = connection.execute(locking.free(lost_ones), whose).mappings().all()
            begun, back = first_of_owners(rows), Outcome(RunEvent.RELEASED)
            ends = [(row, self._loss_of(row, slot) if row["id"] in begun else back) for row in rows]
            states = self._end_all(connection, ends)
        self._tell_ends(rows, states)
        return [row["id"] for row in rows]

    def _loss_of(self, row: RowMapping, slot: str) -> Outcome:
        """How an attempt ended that somebody left, perhaps the slot that finds it."""
        how = "its end was not stored" if row["owner"] == slot else "the service stopped"
        progressed = self._progressed(row["id"], row["attempt"])
        return Outcome(RunEvent.WORKER_LOST, error=worker_lost_error(how), progressed=progressed)

    def referenced_results(self) -> frozenset[str]:
        """The names of all results that rows refer to."""
        with self._reading.connect() as connection:
            found = connection.execute(select(t.runs.c.result).where(t.runs.c.result.is_not(None)))
            return frozenset(found.scalars())

    def refers_to(self, run_id: str, result: str) -> bool:
        """Whether the row of a run refers to a result."""
        query = select(t.runs.c.seq).where(t.runs.c.id == run_id, t.runs.c.result == result)
        with self._reading.connect() as connection:
            return connection.execute(query).first() is not None

    def unfinished(self) -> frozenset[str]:
        """Ids of all runs that have not ended."""
        with self._reading.connect() as connection:
            found = connection.execute(select(t.runs.c.id).where(~t.runs.c.state.in_(TERMINAL)))
            return frozenset(found.scalars())

    def adopt_result(self, run_id: str, result: str) -> bool:
        """Keep the name of a recording that was made after the end of a run; False: no such run."""
        ended = t.runs.c.state.in_([RunState.SUCCEEDED, RunState.FAILED])
        free = or_(t.runs.c.result.is_(None), t.runs.c.result == result)
        with self._writing.begin() as connection:
            kept = connection.execute(
                update(t.runs).where(t.runs.c.id == run_id, ended, free).values(result=result)
            )
        return bool(kept.rowcount)

    def forget_result(self, run_id: str, result: str) -> bool:
        """Forget the recording of an ended run; False when it has another one, or none."""
        with self._writing.begin() as connection:
            gone = connection.execute(
                update(t.runs)
                .where(t.runs.c.id == run_id, t.runs.c.result == result)
                .values(result=None)
            )
        return bool(gone.rowcount)

    def forget_old_keys(self, older_than_s: float, *, everything: bool) -> None:
        """Delete expired idempotency keys, and those that a dead service left unfinished.

        Without `everything` other services may still answer requests with unfinished ones.
        """
        old = t.idempotency.c.created_at < clock.now() - older_than_s
        gone = or_(old, t.idempotency.c.resource.is_(None)) if everything else old
        with self._writing.begin() as connection:
            connection.execute(delete(t.idempotency).where(gone))

    def _end_all(
        self, connection: Connection, ends: Sequence[tuple[RowMapping, Outcome]]
    ) -> dict[str, RunState]:
        """Write how attempts at these rows ended; the states of all runs that this changed."""
        states, changes, closed, story = {}, [], [], []
        for row, outcome in ends:
            before = RunState(row["state"])
            left = 1 if outcome.progressed else self._most_losses - row["losses"]
            state = next_state(before, outcome.event, left)
            states[row["id"]] = state or before
            if state is None:
                continue
            values = values_at_end(row, state, outcome)
            changes.append((row, values))
            closed.append((row, outcome))
            story.append(event_of(row["id"], state, attempt=row["attempt"], error=values["error"]))
        write_runs(connection, changes)
        close_attempts(connection, closed)
        # what may stop a batch, and what a stopped one would keep waiting for ever
        asks = (RunState.FAILED, RunState.TIMED_OUT, RunState.QUEUED)
        batches = {row["batch_id"] for row, _ in closed if states[row["id"]] in asks}
        for batch_id in sorted(batches - {None}):
            for run_id, attempt in apply_failure_rule(connection, batch_id):
                states[run_id] = RunState.CANCELLED
                story.append(event_of(run_id, RunState.CANCELLED, attempt=attempt))
        note(connection, story)
        return states

    def _cancel_row(self, connection: Connection, row: RowMapping) -> RunState:
        before = RunState(row["state"])
        state = next_state(before, RunEvent.CANCEL_REQUESTED)
        if state is None or state is before:
            return before
        values: dict[str, Any] = {"state": state}
        if state is RunState.CANCELLED:
            values |= {"finished_at": clock.now(), "error": cancelled_error()}
        self._write(connection, row, **values)
        note(connection, [event_of(row["id"], state, attempt=row["attempt"])])
        return state

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
    def _held_rows(connection: Connection, claims: Sequence[Claim]) -> dict[str, RowMapping]:
        """Rows of those claims of one owner that are not fenced, by run."""
        if not claims:
            return {}
        attempts = {claim.run_id: claim.attempt for claim in claims}
        of_owner = select(t.runs).where(
            t.runs.c.id.in_(list(attempts)),
            t.runs.c.owner == claims[0].owner,
            t.runs.c.state.in_(list(ACTIVE)),
        )
        rows = connection.execute(locking.held(of_owner)).mappings()
        return {row["id"]: row for row in rows if row["attempt"] == attempts[row["id"]]}

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

    def _tell_ends(self, rows: Collection[RowMapping], states: Mapping[str, RunState]) -> None:
        """Tell of runs whose attempts ended, and of others that this changed."""
        others = states.keys() - {row["id"] for row in rows}
        self._tell_all([(row["id"], row["batch_id"]) for row in rows] + [(i, None) for i in others])

    def _tell_all(self, runs: Sequence[tuple[str, str | None]]) -> None:
        """Signal changes of runs (id, id of the batch), and let slots look for work.

        A run that ended may let another of its batch start.
        """
        self._signal(runs)
        self.wake.set()

    def _signal(self, runs: Sequence[tuple[str, str | None]]) -> None:
        for run_id, _ in runs:
            self.changed(run_id)
        for batch_id in {batch_id for _, batch_id in runs if batch_id}:
            self.changed(batch_id)
