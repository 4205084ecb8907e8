"""What several processes that write at once must agree on. They can on PostgreSQL only.

SQLite has one writer at a time, and everything below holds by itself. On PostgreSQL a transaction
of the option `writes=True` waits until it is the only one of these; those of `writes="rows"`
(claims, progress, ends) go on beside it and lock the rows they change. Nothing waits in a circle:

1. the rows of batches, in the order of their ids, are locked before those of their runs;
2. runs are locked in the order of their `seq`; a claim takes those that nobody holds;
3. events are written last.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, func, select

from cardan.service import clock
from cardan.service.simulations import tables as t

# made once: it is asked for at every turn of every slot
DATABASE_CLOCK = select(func.extract("epoch", func.clock_timestamp()))

WRITERS, EVENTS, CLAIMS = 1, 2, 3
"""Advisory locks. CLAIMS is the first of two keys, the second is `seq` of a batch."""


def lock_writers(connection: Connection) -> None:
    """Be the only transaction of the option `writes=True`."""
    connection.execute(select(func.pg_advisory_xact_lock(WRITERS)))


def held(query: Select[Any]) -> Select[Any]:
    """The query for runs, which are locked until the transaction ends."""
    return query.order_by(t.runs.c.seq).with_for_update(of=t.runs, key_share=True)


def free(query: Select[Any]) -> Select[Any]:
    """The query for runs, without those that another transaction holds; they are locked."""
    return query.with_for_update(of=t.runs, key_share=True, skip_locked=True)


def lock_batches(connection: Connection, ids: Iterable[str | None]) -> None:
    """Hold these batches before runs of them are changed, if the end of one may stop the batch."""
    wanted = {batch_id for batch_id in ids if batch_id is not None}
    if wanted and _shared(connection):
        rows = select(t.batches.c.seq).where(t.batches.c.id.in_(wanted)).order_by(t.batches.c.id)
        connection.execute(rows.with_for_update(key_share=True)).all()


def lock_claims(connection: Connection, batch_seq: int) -> None:
    """Be the only one who counts, and then adds to, the workers of a batch."""
    if _shared(connection):
        connection.execute(select(func.pg_advisory_xact_lock(CLAIMS, batch_seq)))


def lock_events(connection: Connection) -> None:
    """Make events visible in the order of their `seq`: readers ask for those after one."""
    if _shared(connection):
        connection.execute(select(func.pg_advisory_xact_lock(EVENTS)))


def now(connection: Connection) -> float:
    """Seconds since 1970 UTC on the one clock by which leases end: that of the database."""
    if not _shared(connection):
        return clock.now()
    return float(connection.execute(DATABASE_CLOCK).scalar_one())


def _shared(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"
