"""New work: simulations and batches enter the queue in one transaction, capacity included.

An Idempotency-Key is reserved before the request is judged and bound to the new resource in the
same transaction that creates it, so a repeated request never creates a second one.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    RowMapping,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from cardan.service import clock, tracing
from cardan.service.errors import ErrorCode, QuotaError, ServiceError
from cardan.service.intake import SceneText
from cardan.service.simulations import locking
from cardan.service.simulations import tables as t
from cardan.service.simulations.faults import PASSING, cause_of
from cardan.service.simulations.states import TERMINAL, RunState

log = logging.getLogger("cardan.jobs")

# no request is answered for longer: the service that reserved its key is gone
ANSWERING_SECONDS = 900.0


@dataclass(frozen=True)
class NewRun:
    """One run to queue: what differs from the base scene."""

    overrides: Mapping[str, Any]
    total_steps: int
    timeout_s: float | None = None
    created_by: str | None = None
    stored_scene: Mapping[str, Any] | None = None
    """Id and revision of the stored scene it is made from."""


@dataclass(frozen=True)
class NewBatch:
    """What a batch has beside its runs."""

    name: str | None
    parameters: Sequence[str]
    metrics: Sequence[str]
    max_parallel: int | None
    on_failure: str
    record: str = "full"
    study_id: str | None = None
    measure: Mapping[str, Any] | None = None
    created_by: str | None = None


@dataclass(frozen=True)
class NewStudy:
    """What a study has beside its batch and first runs."""

    name: str
    asked: Mapping[str, Any]
    method: str


class QueueFullError(ServiceError):
    """More runs would wait than the service admits."""

    def __init__(self, waiting: int, asked: int, limit: int) -> None:
        """Say the figures."""
        detail = f"{waiting} runs wait already; {asked} more would exceed the limit of {limit}."
        super().__init__(ErrorCode.QUEUE_FULL, detail, retry_after_s=10)


class KeyInFlightError(Exception):
    """The first request with this Idempotency-Key is still being answered."""


class KeyReusedError(Exception):
    """This Idempotency-Key came with another payload before."""


class Admission:
    """Reserves keys and creates runs."""

    def __init__(
        self,
        engine: Engine,
        *,
        most_queued: int,
        key_lifetime_s: float,
        most_unfinished: int = 0,
    ) -> None:
        """Write to an open database; one API key may have `most_unfinished` runs; 0: any number."""
        self._writing = engine.execution_options(writes=True)
        self._most_queued = most_queued
        self._most_unfinished = most_unfinished
        self._key_lifetime_s = key_lifetime_s
        # reserved, and to be given back, but the database could not be written
        self._left: set[str] = set()

    def reserve(self, key: str, fingerprint: str) -> str | None:
        """Reserve a key: `None` when it is new, else the id of what it created.

        Raises KeyInFlightError or KeyReusedError.
        """
        left = key in self._left
        self._left.discard(key)
        try:
            row = self._reserved(key, fingerprint, left)
        except PASSING:
            if left:
                self._left.add(key)
            raise
        if row is None:
            return None
        if row["fingerprint"] != fingerprint:
            raise KeyReusedError
        if row["resource"] is None:
            raise KeyInFlightError
        return str(row["resource"])

    def _reserved(self, key: str, fingerprint: str, left: bool) -> RowMapping | None:
        """The row of a key, or `None` when it is reserved now; one that was left is new."""
        with self._writing.begin() as connection:
            made, now = t.idempotency.c.created_at, clock.now()
            unanswered = made < now - ANSWERING_SECONDS
            unfinished = and_(t.idempotency.c.resource.is_(None), true() if left else unanswered)
            old = or_(made < now - self._key_lifetime_s, unfinished)
            connection.execute(delete(t.idempotency).where(t.idempotency.c.key == key, old))
            found = connection.execute(
                select(t.idempotency).where(t.idempotency.c.key == key)
            ).mappings()
            row = found.first()
            if row is None:
                connection.execute(
                    insert(t.idempotency).values(key=key, fingerprint=fingerprint, created_at=now)
                )
        return row

    def release(self, key: str) -> None:
        """Give a reserved key back: its request created nothing.

        When the database cannot be written, the next request with it is as the first.
        """
        try:
            with self._writing.begin() as connection:
                connection.execute(
                    delete(t.idempotency).where(
                        t.idempotency.c.key == key, t.idempotency.c.resource.is_(None)
                    )
                )
        except PASSING as error:
            log.error("an Idempotency-Key is given back later: %s", cause_of(error))
            self._left.add(key)

    def bind(self, key: str | None, resource: str) -> None:
        """Remember what the request with a reserved key created."""
        if key is None:
            return
        with self._writing.begin() as connection:
            bind_key(connection, key, resource)

    def simulation(
        self,
        scene: SceneText,
        run: NewRun,
        *,
        name: str | None = None,
        key: str | None = None,
    ) -> str:
        """Queue one simulation; its id. Raises QueueFullError or QuotaError."""
        run_id = clock.new_id("sim")
        with self._writing.begin() as connection:
            self.reserve_capacity(connection, 1, run.created_by)
            _keep_scene(connection, scene)
            connection.execute(
                insert(t.runs).values(_row(scene.hash, run) | {"id": run_id, "name": name})
            )
            _queued_event(connection, [run_id])
            bind_key(connection, key, run_id)
        return run_id

    def batch(
        self, scene: SceneText, batch: NewBatch, runs: Sequence[NewRun], *, key: str | None = None
    ) -> str:
        """Queue all runs of a batch; its id. Raises QueueFullError or QuotaError."""
        with self._writing.begin() as connection:
            self.reserve_capacity(connection, len(runs), batch.created_by)
            batch_id = _insert_batch(connection, scene, batch, runs)
            bind_key(connection, key, batch_id)
        return batch_id

    def study(
        self,
        scene: SceneText,
        study: NewStudy,
        batch: NewBatch,
        runs: Sequence[NewRun],
        *,
        key: str | None = None,
    ) -> str:
        """Create a study with a batch of its first evaluations; its id.

        Raises QueueFullError or QuotaError.
        """
        study_id = clock.new_id("study")
        with self._writing.begin() as connection:
            self.reserve_capacity(connection, len(runs), batch.created_by)
            batch_id = _insert_batch(connection, scene, replace(batch, study_id=study_id), runs)
            connection.execute(
                insert(t.studies).values(
                    id=study_id,
                    batch_id=batch_id,
                    name=study.name,
                    asked=dict(study.asked),
                    method=study.method,
                    state="running",
                    created_by=batch.created_by,
                    created_at=clock.now(),
                )
            )
            bind_key(connection, key, study_id)
        return study_id

    def extend(
        self, batch_id: str, first_number: int, runs: Sequence[Mapping[str, Any]], best: Any
    ) -> bool:
        """Queue further evaluations of a study that runs, like its first; False: it does not.

        They are counted from `first_number`; False, too, when another service has queued them, and
        when its batch was stopped meanwhile: they would wait for ever. `best` is its best
        evaluation so far. Raises QueueFullError.
        """
        going_on = (t.batches.c.id == batch_id, t.batches.c.stop_reason.is_(None))
        running = (
            t.studies.c.batch_id == batch_id,
            t.studies.c.state == "running",
            select(t.batches.c.seq).where(*going_on).exists(),
        )
        like = select(t.runs).where(t.runs.c.batch_id == batch_id, t.runs.c.number == 0)
        count = select(func.count()).where(t.runs.c.batch_id == batch_id)
        with self._writing.begin() as connection:
            if connection.execute(count).scalar_one() != first_number:
                return False
            kept = connection.execute(update(t.studies).where(*running).values(best=best))
            if kept.rowcount == 0:
                return False
            self.reserve_capacity(connection, len(runs), None)
            first = connection.execute(like).mappings().one()
            new = [
                NewRun(
                    overrides,
                    first["total_steps"],
                    first["timeout_s"],
                    first["created_by"],
                    first["stored_scene"],
                )
                for overrides in runs
            ]
            _insert_runs(connection, first["scene_hash"], batch_id, new, first_number)
        return True

    def reserve_capacity(self, connection: Connection, asked: int, owner: str | None) -> None:
        """Raise QueueFullError, or QuotaError when a key would have too many runs."""
        waiting = connection.execute(
            select(func.count()).where(t.runs.c.state == RunState.QUEUED)
        ).scalar_one()
        if waiting + asked > self._most_queued:
            raise QueueFullError(waiting, asked, self._most_queued)
        if owner is None or not self._most_unfinished:
            return
        unfinished = connection.execute(
            select(func.count()).where(
                t.runs.c.created_by == owner, t.runs.c.state.not_in(TERMINAL)
            )
        ).scalar_one()
        if unfinished + asked > self._most_unfinished:
            raise QuotaError(
                "unfinished_runs", "unfinished runs", unfinished, asked, self._most_unfinished
            )


def _insert_batch(
    connection: Connection, scene: SceneText, batch: NewBatch, runs: Sequence[NewRun]
) -> str:
    """Insert a batch with its runs; its id."""
    batch_id = clock.new_id("batch")
    _keep_scene(connection, scene)
    connection.execute(
        insert(t.batches).values(
            id=batch_id,
            name=batch.name,
            scene_hash=scene.hash,
            parameters=list(batch.parameters),
            metrics=list(batch.metrics),
            max_parallel=batch.max_parallel,
            on_failure=batch.on_failure,
            record=batch.record,
            study_id=batch.study_id,
            measure=batch.measure,
            created_by=batch.created_by,
            stored_scene=next((run.stored_scene for run in runs), None),
            created_at=clock.now(),
        )
    )
    _insert_runs(connection, scene.hash, batch_id, runs, 0)
    return batch_id


def _insert_runs(
    connection: Connection, scene_hash: str, batch_id: str, runs: Sequence[NewRun], number: int
) -> None:
    """Insert runs of a batch, counted from a number."""
    rows = [
        _row(scene_hash, run)
        | {"id": clock.new_id("sim"), "batch_id": batch_id, "number": place, "priority": 1}
        for place, run in enumerate(runs, number)
    ]
    connection.execute(insert(t.runs), rows)
    _queued_event(connection, [row["id"] for row in rows])


def _row(scene_hash: str, run: NewRun) -> dict[str, Any]:
    return {
        "batch_id": None,
        "number": 0,
        "priority": 0,
        "scene_hash": scene_hash,
        "overrides": dict(run.overrides),
        "timeout_s": run.timeout_s,
        "state": RunState.QUEUED,
        "attempt": 0,
        "losses": 0,
        "step": 0,
        "total_steps": run.total_steps,
        "created_by": run.created_by,
        "stored_scene": run.stored_scene,
        "trace": tracing.present(),
        "created_at": clock.now(),
    }


def _keep_scene(connection: Connection, scene: SceneText) -> None:
    known = select(t.scenes.c.hash).where(t.scenes.c.hash == scene.hash)
    if connection.execute(known).first() is None:
        connection.execute(insert(t.scenes).values(hash=scene.hash, document=scene.document))


def _queued_event(connection: Connection, run_ids: Sequence[str]) -> None:
    now = clock.now()
    locking.lock_events(connection)
    connection.execute(
        insert(t.events),
        [
            {"run_id": run_id, "type": "state", "data": {"status": RunState.QUEUED}, "at": now}
            for run_id in run_ids
        ],
    )


def bind_key(connection: Connection, key: str | None, resource: str) -> None:
    """Remember what a reserved key created, in the transaction that creates it."""
    if key is not None:
        connection.execute(
            update(t.idempotency).where(t.idempotency.c.key == key).values(resource=resource)
        )
