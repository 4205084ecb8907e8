"""Read access to the queue: runs, batches, events, pages."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, func, or_, select

from cardan.service.simulations import tables as t
from cardan.service.simulations.rows import count_states, newest_first
from cardan.service.simulations.states import RETRIED, TERMINAL, RunState, batch_state

Row = RowMapping


class Catalog:
    """Reads of the queue; safe to use from many threads."""

    def __init__(self, engine: Engine) -> None:
        """Read an open database."""
        self._engine = engine

    def run(self, run_id: str) -> Row | None:
        """One run, or `None`."""
        with self._engine.connect() as connection:
            found = connection.execute(select(t.runs).where(t.runs.c.id == run_id))
            return found.mappings().first()

    def scene_document(self, scene_hash: str) -> str:
        """The stored JSON of a scene."""
        with self._engine.connect() as connection:
            found = connection.execute(
                select(t.scenes.c.document).where(t.scenes.c.hash == scene_hash)
            )
            return str(found.scalar_one())

    def positions(self, rows: Sequence[Row]) -> dict[str, int]:
        """Places in the queue, 0 is next, of those of these runs that wait."""
        waiting = [row["id"] for row in rows if row["state"] == RunState.QUEUED]
        if not waiting:
            return {}
        place = func.row_number().over(order_by=(t.runs.c.priority, t.runs.c.seq))
        queue = (
            select(t.runs.c.id, (place - 1).label("place"))
            .where(t.runs.c.state == RunState.QUEUED)
            .subquery()
        )
        with self._engine.connect() as connection:
            found = connection.execute(select(queue).where(queue.c.id.in_(waiting)))
            return {run_id: int(number) for run_id, number in found}

    def simulations(
        self,
        *,
        before: int | None,
        size: int,
        status: str | None = None,
        created_by: str | None = None,
    ) -> Sequence[Row]:
        """Runs without a batch, newest first, with `seq < before`; all, or those of a key."""
        query = select(t.runs).where(t.runs.c.batch_id.is_(None))
        if status is not None:
            query = query.where(t.runs.c.state == status)
        query = newest_first(query, t.runs, before, size, created_by)
        with self._engine.connect() as connection:
            return connection.execute(query).mappings().all()

    def batch(self, batch_id: str) -> Row | None:
        """One batch, or `None`."""
        with self._engine.connect() as connection:
            found = connection.execute(select(t.batches).where(t.batches.c.id == batch_id))
            return found.mappings().first()

    def batches(
        self, *, before: int | None, size: int, created_by: str | None = None
    ) -> Sequence[Row]:
        """Batches, newest first, with `seq < before`; all, or those of a key."""
        query = newest_first(select(t.batches), t.batches, before, size, created_by)
        with self._engine.connect() as connection:
            return connection.execute(query).mappings().all()

    def batch_progress(self, batch: Row) -> dict[str, Any]:
        """State and counts of a batch, times of its first start and last end, why it stopped.

        Runs may have ended since its row was read.
        """
        with self._engine.connect() as connection:
            counts = count_states(connection, batch["id"])
            total = sum(counts.values())
            ended = sum(counts.get(state, 0) for state in TERMINAL)
            of_batch = t.runs.c.batch_id == batch["id"]
            # runs start in their order: this reads one row, and not all of them at every look
            began = of_batch, t.runs.c.started_at.is_not(None)
            first = connection.execute(
                select(t.runs.c.started_at).where(*began).order_by(t.runs.c.number).limit(1)
            ).scalar()
            last = None
            if ended == total:
                over = select(func.max(t.runs.c.finished_at)).where(of_batch)
                last = connection.execute(over).scalar()
            searching = connection.execute(
                select(t.studies.c.seq).where(
                    t.studies.c.id == batch["study_id"], t.studies.c.finished_at.is_(None)
                )
            ).first()
            # last: it is written together with the end of what it stops
            reason = connection.execute(
                select(t.batches.c.stop_reason).where(t.batches.c.id == batch["id"])
            ).scalar()
        stopping = reason is not None
        if searching and ended == total:
            # its study may add runs
            return {
                "status": "cancelling" if stopping else "running",
                "counts": {state.value: counts.get(state, 0) for state in RunState},
                "started_at": first,
                "finished_at": None,
                "progress": 1.0,
                "stop_reason": reason,
            }
        return {
            "status": batch_state(counts, stopping=stopping),
            "counts": {state.value: counts.get(state, 0) for state in RunState},
            "started_at": first,
            "finished_at": last,
            "progress": ended / total if total else 1.0,
            "stop_reason": reason,
        }

    def runs_of(
        self,
        batch_id: str,
        *,
        after: int | None = None,
        size: int | None = None,
        status: str | None = None,
    ) -> Sequence[Row]:
        """Runs of a batch in their order, with `number > after`."""
        query = select(t.runs).where(t.runs.c.batch_id == batch_id).order_by(t.runs.c.number)
        if after is not None:
            query = query.where(t.runs.c.number > after)
        if status is not None:
            query = query.where(t.runs.c.state == status)
        if size is not None:
            query = query.limit(size)
        with self._engine.connect() as connection:
            return connection.execute(query).mappings().all()

    def overrides_to_retry(self, batch_id: str) -> Sequence[dict[str, Any]]:
        """The overrides of the runs of a batch that `retry_failed` queues again."""
        chosen = (t.runs.c.batch_id == batch_id, t.runs.c.state.in_(RETRIED))
        with self._engine.connect() as connection:
            return connection.execute(select(t.runs.c.overrides).where(*chosen)).scalars().all()

    def counts(self) -> dict[str, int]:
        """Number of runs of every state."""
        query = select(t.runs.c.state, func.count()).group_by(t.runs.c.state)
        with self._engine.connect() as connection:
            found = {str(state): int(count) for state, count in connection.execute(query)}
        return {state.value: found.get(state.value, 0) for state in RunState}

    def ended_simulations(self, before: float) -> list[str]:
        """Simulations without a batch that ended before a time [s]."""
        query = select(t.runs.c.id).where(
            t.runs.c.batch_id.is_(None), t.runs.c.finished_at < before
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def ended_batches(self, before: float) -> list[str]:
        """Batches whose runs all ended before a time [s]; not those of studies."""
        later = or_(t.runs.c.finished_at.is_(None), t.runs.c.finished_at >= before)
        open_ = select(t.runs.c.seq).where(t.runs.c.batch_id == t.batches.c.id, later).exists()
        with self._engine.connect() as connection:
            study = select(t.studies.c.seq).where(t.studies.c.id == t.batches.c.study_id).exists()
            found = connection.execute(select(t.batches.c.id).where(~open_, ~study))
            return list(found.scalars())

    def recordings_of(self, key: str) -> list[str]:
        """Names of the recordings of an API key."""
        mine = (t.runs.c.created_by == key, t.runs.c.result.is_not(None))
        with self._engine.connect() as connection:
            return list(connection.execute(select(t.runs.c.result).where(*mine)).scalars())

    def recordings(self) -> list[tuple[str, str, bool]]:
        """Run, name, and whether it can be made again, of all recordings; first ended, first."""
        repeatable = [RunState.SUCCEEDED, RunState.FAILED]
        query = (
            select(t.runs.c.id, t.runs.c.result, t.runs.c.state, t.runs.c.summary.is_not(None))
            .where(t.runs.c.result.is_not(None), t.runs.c.finished_at.is_not(None))
            .order_by(t.runs.c.finished_at)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [(run, name, state in repeatable and told) for run, name, state, told in rows]

    def events(self, run_id: str, *, after: int = 0) -> Sequence[Row]:
        """Events of a run in their order, with `seq > after`."""
        with self._engine.connect() as connection:
            found = connection.execute(
                select(t.events)
                .where(t.events.c.run_id == run_id, t.events.c.seq > after)
                .order_by(t.events.c.seq)
            )
            return found.mappings().all()

    def attempts(self, run_id: str) -> Sequence[Row]:
        """Attempts at a run in their order."""
        query = select(t.attempts).where(t.attempts.c.run_id == run_id)
        with self._engine.connect() as connection:
            return connection.execute(query.order_by(t.attempts.c.attempt)).mappings().all()

    def batch_events(self, batch_id: str, *, after: int, size: int) -> list[dict[str, Any]]:
        """Events of the runs of a batch in their order, with `seq > after`: {seq, data}."""
        query = (
            select(t.events.c.seq, t.events.c.data, t.runs.c.number, t.runs.c.id)
            .join(t.runs, t.runs.c.id == t.events.c.run_id)
            .where(t.runs.c.batch_id == batch_id, t.events.c.seq > after)
            .order_by(t.events.c.seq)
            .limit(size)
        )
        with self._engine.connect() as connection:
            return [
                {"seq": seq, "data": {"run": number, "id": run_id, **data}}
                for seq, data, number, run_id in connection.execute(query)
            ]

    def remove_run(self, run_id: str) -> list[str] | None:
        """Delete an ended run; the recording it had, `None`: it has not ended or does not exist."""
        ended = t.runs.c.state.in_(list(TERMINAL))
        with self._engine.execution_options(writes=True).begin() as connection:
            gone = _delete_runs(connection, t.runs.c.id == run_id, ended)
            _remove_unused(connection, {row["scene_hash"] for row in gone})
        return _recordings(gone) if gone else None

    def remove_batch(self, batch_id: str, *, with_study: bool = False) -> list[str] | None:
        """Delete a batch with its runs, or all of a study; the recordings they had.

        `None` while one has not ended (or it is gone).
        """
        with self._engine.execution_options(writes=True).begin() as connection:
            counts = count_states(connection, batch_id)
            if any(state not in TERMINAL for state in counts):
                return None
            if with_study:
                connection.execute(delete(t.studies).where(t.studies.c.batch_id == batch_id))
            runs = _delete_runs(connection, t.runs.c.batch_id == batch_id)
            batch = delete(t.batches).where(t.batches.c.id == batch_id)
            gone = connection.execute(batch.returning(t.batches.c.scene_hash)).scalars().all()
            _remove_unused(connection, {*gone, *(row["scene_hash"] for row in runs)})
        return _recordings(runs) if gone else None


def _delete_runs(connection: Connection, *conditions: Any) -> Sequence[Row]:
    """Delete runs; the recordings and scenes that their rows referred to at that moment."""
    statement = delete(t.runs).where(*conditions)
    told = statement.returning(t.runs.c.result, t.runs.c.scene_hash)
    return connection.execute(told).mappings().all()


def _recordings(rows: Sequence[Row]) -> list[str]:
    return [row["result"] for row in rows if row["result"] is not None]


def _remove_unused(connection: Connection, hashes: Collection[str]) -> None:
    """Delete those of these scenes that nothing refers to any more."""
    uses = [
        select(table.c.seq).where(table.c.scene_hash == t.scenes.c.hash).exists()
        for table in (t.runs, t.batches)
    ]
    unused = [~use for use in uses]
    connection.execute(delete(t.scenes).where(t.scenes.c.hash.in_(hashes), *unused))
