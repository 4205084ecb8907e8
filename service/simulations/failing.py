"""The failure rule of a batch, applied to its rows."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from cardan.service import clock
from cardan.service.simulations import locking
from cardan.service.simulations import tables as t
from cardan.service.simulations.rows import cancelled_error, count_states, failure_codes
from cardan.service.simulations.states import FailureRule, RunState


def apply_failure_rule(connection: Connection, batch_id: str) -> list[tuple[str, int]]:
    """Stop a batch when its failures say so; what waits of a stopped batch is cancelled.

    Runs come back to the queue after their batch was stopped, and no worker would take them:
    those whose worker was lost, and those of a group that were not begun. Returns what was
    cancelled, (id, attempt).
    """
    of_batch = t.batches.c.id == batch_id
    batch = connection.execute(select(t.batches).where(of_batch)).mappings().one()
    reason = batch["stop_reason"]
    if reason is None:
        broken = _broken_rule(connection, batch_id, FailureRule.parse(batch["on_failure"]))
        if broken is None:
            return []
        reason = f"The batch was stopped: {broken}."
        connection.execute(update(t.batches).where(of_batch).values(stop_reason=reason))
    return cancel_waiting(connection, batch_id, cancelled_error(f"Not computed. {reason}"))


def _broken_rule(connection: Connection, batch_id: str, rule: FailureRule) -> str | None:
    """Why the failures of a batch stop it now, or `None`."""
    succeeded = count_states(connection, batch_id).get(RunState.SUCCEEDED, 0)
    codes = failure_codes(connection, batch_id)
    return rule.stops(sum(codes.values()), succeeded, frozenset(codes))


def cancel_waiting(
    connection: Connection, batch_id: str, error: Mapping[str, Any]
) -> list[tuple[str, int]]:
    """Cancel the runs of a batch that wait; which, (id, attempt)."""
    waiting = (t.runs.c.batch_id == batch_id, t.runs.c.state == RunState.QUEUED)
    # held: one that is being claimed at this moment is not cancelled
    queued = locking.held(select(t.runs.c.id, t.runs.c.attempt).where(*waiting))
    found = connection.execute(queued).all()
    connection.execute(
        update(t.runs)
        .where(*waiting)
        .values(state=RunState.CANCELLED, finished_at=clock.now(), error=error)
    )
    return [(run_id, attempt) for run_id, attempt in found]
