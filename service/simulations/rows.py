"""Rows of runs: queries, values written at the end, texts of errors."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    Float,
    RowMapping,
    Select,
    String,
    Table,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)

from cardan.service import clock
from cardan.service.simulations import locking
from cardan.service.simulations import tables as t
from cardan.service.simulations.states import ACTIVE, RunEvent, RunState

WORKER_LOST = "worker_lost"
# what a worker needs of the batch of a run
OF_BATCH = ("record", "on_failure", "measure", "max_parallel")

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended: `event`, and what it leaves behind.

    `progressed` says of a lost worker that it had made a checkpoint of its own.
    """

    event: RunEvent
    step: int = 0
    summary: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    result: str | None = None
    real_time_factor: float | None = None
    progressed: bool = False


def newest_first(
    query: Select[Any],
    table: Table,
    before: int | None,
    size: int,
    created_by: str | None,
) -> Select[Any]:
    """The rows of a query, newest first, with `seq < before`; all, or those of a key."""
    if created_by is not None:
        query = query.where(table.c.created_by == created_by)
    if before is not None:
        query = query.where(table.c.seq < before)
    return query.order_by(table.c.seq.desc()).limit(size)


def count_states(connection: Connection, batch_id: str) -> dict[RunState, int]:
    """Number of runs of a batch per state."""
    rows = connection.execute(
        select(t.runs.c.state, func.count())
        .where(t.runs.c.batch_id == batch_id)
        .group_by(t.runs.c.state)
    )
    return {RunState(state): count for state, count in rows}


def count_open(connection: Connection, most: int) -> int:
    """Number of runs that wait or are worked on, counted up to `most`."""
    open_ = t.runs.c.state.in_([RunState.QUEUED, *ACTIVE])
    some = select(t.runs.c.seq).where(open_).limit(most).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def failure_codes(connection: Connection, batch_id: str) -> dict[str, int]:
    """Number of failed and timed out runs of a batch per code of their error.

    Lost workers are left out, since they do not indicate a fault of the scenes.
    """
    code = t.runs.c.error["code"].as_string()
    failed = [RunState.FAILED, RunState.TIMED_OUT]
    rows = connection.execute(
        select(code, func.count())
        .where(t.runs.c.batch_id == batch_id, t.runs.c.state.in_(failed), code != WORKER_LOST)
        .group_by(code)
    )
    return {str(code): count for code, count in rows}


def worker_lost_error(how: str) -> dict[str, Any]:
    """The error of a run whose workers died too often."""
    return {
        "code": WORKER_LOST,
        "message": f"The process that computed this run was lost ({how}) on every attempt.",
        "retryable": True,
    }


def cancelled_error(message: str = "Cancelled on request.") -> dict[str, Any]:
    """The error of a cancelled run."""
    return {"code": "cancelled", "message": message, "retryable": True}


def last_values(state: RunState, outcome: Outcome, row: RowMapping) -> dict[str, Any]:
    """What is written into the row of a run that has ended."""
    error = None if state is RunState.SUCCEEDED else outcome.error
    if state is RunState.CANCELLED and outcome.event is not RunEvent.CANCELLED:
        error = cancelled_error()
    return {
        "finished_at": clock.now(),
        "step": max(outcome.step, row["step"]),
        "summary": outcome.summary,
        "error": error,
        "result": outcome.result,
        "real_time_factor": outcome.real_time_factor,
    }


def values_at_end(row: RowMapping, state: RunState, outcome: Outcome) -> dict[str, Any]:
    """What is written into the row of a run whose attempt has ended."""
    values: dict[str, Any] = {
        "state": state,
        "owner": None,
        "lease_until": None,
        "losses": row["losses"] + (outcome.event is RunEvent.WORKER_LOST),
    }
    if outcome.progressed:
        values["losses"] = 0
    if state is not RunState.QUEUED:
        return values | last_values(state, outcome, row)
    kept = ("finished_at", "summary", "error", "result")
    return values | {"step": 0, "real_time_factor": None} | {name: row[name] for name in kept}


def count_workers(connection: Connection, batch_id: str) -> int:
    """Number of workers that hold runs of a batch."""
    return int(connection.execute(_workers_of(batch_id)).scalar_one())


def _workers_of(batch_id: Any) -> Select[Any]:
    # a worker holds many runs, and computes one of them
    other = t.runs.alias("other")
    return select(func.count(other.c.owner.distinct())).where(
        other.c.batch_id == batch_id, other.c.state.in_(list(ACTIVE))
    )


@functools.cache
def next_run() -> Select[Any]:
    """The query for the run that may start next, with its scene.

    It is made once: every slot asks it at every turn, and making it costs ten times its execution.
    """
    working = _workers_of(t.batches.c.id).correlate(t.batches).scalar_subquery()
    may_start = or_(
        t.batches.c.id.is_(None),
        t.batches.c.max_parallel.is_(None),
        working < t.batches.c.max_parallel,
    )
    return (
        select(
            t.runs,
            t.scenes.c.document,
            t.batches.c.seq.label("batch_seq"),
            *(t.batches.c[name] for name in OF_BATCH),
        )
        .join(t.scenes, t.scenes.c.hash == t.runs.c.scene_hash)
        .outerjoin(t.batches, t.batches.c.id == t.runs.c.batch_id)
        .where(t.runs.c.state == RunState.QUEUED, t.batches.c.stop_reason.is_(None), may_start)
        .order_by(t.runs.c.priority, t.runs.c.seq)
        .limit(1)
    )


@functools.cache
def next_free_run() -> Select[Any]:
    """The same query for a claim: the run is held, and those that others hold are left out."""
    return locking.free(next_run())


@functools.cache
def lapsed_runs() -> Select[Any]:
    """The query for runs whose lease ended before `moment` [s since 1970], but of owners like
    `others`, and for all of the owner `own`; made once."""
    lapsed = and_(
        t.runs.c.lease_until < bindparam("moment", type_=Float),
        t.runs.c.owner.not_like(bindparam("others", type_=String)),
    )
    return active_runs().where(or_(lapsed, t.runs.c.owner == bindparam("own", type_=String)))


@functools.cache
def active_runs() -> Select[Any]:
    """The query for runs that somebody holds; made once."""
    return select(t.runs).where(t.runs.c.state.in_(list(ACTIVE)))


def first_of_owners(rows: Sequence[RowMapping]) -> set[str]:
    """The runs that were being computed: of the group of an owner one, the others were not begun.

    Runs of a group are computed in their order, and their ends committed at least every second.
    """
    first: dict[str, RowMapping] = {}
    for row in rows:
        known = first.setdefault(row["owner"], row)
        if row["seq"] < known["seq"]:
            first[row["owner"]] = row
    return {row["id"] for row in first.values()}


def next_of_batch(batch_id: str, after: int, most: int) -> Select[Any]:
    """The query for further runs of a batch that may start together, with `seq > after`.

    A run whose worker was lost starts alone: it may be the cause.
    """
    return (
        select(t.runs)
        .where(
            t.runs.c.state == RunState.QUEUED,
            t.runs.c.priority == 1,
            t.runs.c.seq > after,
            t.runs.c.batch_id == batch_id,
            t.runs.c.losses == 0,
        )
        .order_by(t.runs.c.seq)
        .limit(most)
    )


def run_row(connection: Connection, *conditions: Any) -> RowMapping | None:
    """The row of a run under conditions, or `None`; it is held until the transaction ends."""
    return connection.execute(locking.held(select(t.runs).where(*conditions))).mappings().first()


def event_of(run_id: str, state: RunState, **data: Any) -> dict[str, Any]:
    """A state event of the story of a run, as a row."""
    kept = {key: value for key, value in data.items() if value is not None}
    return {
        "run_id": run_id,
        "type": "state",
        "data": {"status": state, **kept},
        "at": clock.now(),
    }


def note(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add state events to the stories of runs; nothing is locked after it."""
    if rows:
        locking.lock_events(connection)
        connection.execute(insert(t.events), rows)


def write_runs(connection: Connection, changes: Sequence[tuple[RowMapping, Values]]) -> None:
    """Write new values of runs that are still as their rows say; all change the same columns."""
    if not changes:
        return
    columns = list(changes[0][1])
    statement = (
        update(t.runs)
        .where(
            t.runs.c.id == bindparam("row_id"),
            t.runs.c.attempt == bindparam("row_attempt"),
            t.runs.c.state == bindparam("row_state"),
        )
        .values({name: bindparam(f"new_{name}", type_=t.runs.c[name].type) for name in columns})
    )
    connection.execute(
        statement,
        [
            {"row_id": row["id"], "row_attempt": row["attempt"], "row_state": row["state"]}
            | {f"new_{name}": value for name, value in values.items()}
            for row, values in changes
        ],
    )


def close_attempts(connection: Connection, ends: Sequence[tuple[RowMapping, Outcome]]) -> None:
    """Note how the present attempts at these runs ended."""
    if not ends:
        return
    now = clock.now()
    connection.execute(
        update(t.attempts)
        .where(
            t.attempts.c.run_id == bindparam("of_run"),
            t.attempts.c.attempt == bindparam("of_attempt"),
        )
        .values(ended_at=bindparam("at"), outcome=bindparam("how")),
        [
            {"of_run": row["id"], "of_attempt": row["attempt"], "at": now, "how": outcome.event}
            for row, outcome in ends
        ],
    )
