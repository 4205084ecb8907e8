"""The failure rule of a batch, applied to its rows."""

from sqlalchemy import Connection, select, update

from cardan.service import clock
from cardan.service.simulations import tables as t
from cardan.service.simulations.rows import cancelled_error, count_states, failure_codes
from cardan.service.simulations.states import FailureRule, RunState


def apply_failure_rule(connection: Connection, batch_id: str) -> None:
    """Stop a batch, and cancel what waits of it, when its failures say so."""
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
