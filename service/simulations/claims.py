"""Claims: which runs an owner takes from the queue, one or a group of one batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, insert

from cardan.service.metrics import QUEUED
from cardan.service.simulations import locking
from cardan.service.simulations import tables as t
from cardan.service.simulations.rows import (
    count_states,
    count_workers,
    event_of,
    next_free_run,
    next_of_batch,
    note,
    write_runs,
)
from cardan.service.simulations.states import RunState

GroupSize = Callable[[str, int], int]
"""How many runs of a batch (its id) are claimed at once while so many of them wait."""


@dataclass(frozen=True)
class Claim:
    """One attempt at one run, held by one owner until the lease ends."""

    run_id: str
    attempt: int
    owner: str
    document: str  # the base scene, JSON
    overrides: Mapping[str, Any]
    timeout_s: float | None
    batch_id: str | None = None
    record: str = "full"
    on_failure: str = "continue"
    measure: Mapping[str, Any] | None = None
    queued_at: float = 0.0
    trace: str | None = None

    @property
    def folder(self) -> str:
        """The name of this attempt's result."""
        return f"{self.run_id}-{self.attempt}"


def record_of(rule: str, number: int) -> str:
    """What a run of a batch stores under its rule; a share is spread evenly over the runs.

    >>> [record_of("0.5", number) for number in range(4)]
    ['metrics', 'full', 'metrics', 'full']
    """
    if rule in ("full", "failed", "metrics"):
        return rule
    share = float(rule)
    return "full" if int((number + 1) * share) > int(number * share) else "metrics"


def take_group(connection: Connection, owner: str, size: GroupSize, lease_s: float) -> list[Claim]:
    """Claim the next run that may start, with further runs of its batch; empty: there is none."""
    first = connection.execute(next_free_run()).mappings().first()
    if first is None or not _may_start(connection, first):
        return []
    rows = [first, *_companions(connection, first, size)]
    claims = [_claim_of(row, first, owner) for row in rows]
    now = locking.now(connection)
    for row in rows:
        QUEUED.observe(max(0.0, now - row["created_at"]))
    values = {
        "state": RunState.STARTING,
        "owner": owner,
        "lease_until": now + lease_s,
        "step": 0,
    }
    write_runs(
        connection,
        [
            (row, values | {"attempt": row["attempt"] + 1, "started_at": row["started_at"] or now})
            for row in rows
        ],
    )
    connection.execute(
        insert(t.attempts),
        [
            {"run_id": c.run_id, "attempt": c.attempt, "owner": owner, "started_at": now}
            for c in claims
        ],
    )
    note(connection, [event_of(c.run_id, RunState.STARTING, attempt=c.attempt) for c in claims])
    return claims


def _may_start(connection: Connection, first: RowMapping) -> bool:
    """Whether the batch of a run may have one more worker, when no other claims of it."""
    if first["max_parallel"] is None:
        return True
    locking.lock_claims(connection, first["batch_seq"])
    return count_workers(connection, first["batch_id"]) < int(first["max_parallel"])


def _companions(connection: Connection, first: RowMapping, size: GroupSize) -> Sequence[RowMapping]:
    """Further runs that are claimed together with the first."""
    batch_id = first["batch_id"]
    if batch_id is None or first["losses"] > 0:
        return []
    waiting = count_states(connection, batch_id).get(RunState.QUEUED, 0)
    most = size(batch_id, waiting) - 1
    if most <= 0:
        return []
    further = locking.free(next_of_batch(batch_id, first["seq"], most))
    return connection.execute(further).mappings().all()


def _claim_of(row: RowMapping, first: RowMapping, owner: str) -> Claim:
    """The claim of a row; the first of a group has the scene and the rules of all."""
    return Claim(
        run_id=row["id"],
        attempt=row["attempt"] + 1,
        owner=owner,
        document=first["document"],
        overrides=row["overrides"],
        timeout_s=row["timeout_s"],
        batch_id=row["batch_id"],
        record=record_of(first["record"] or "full", row["number"]),
        on_failure=first["on_failure"] or "continue",
        measure=first["measure"],
        queued_at=row["created_at"],
        trace=row["trace"],
    )
