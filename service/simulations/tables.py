"""The tables of the queue. Times are seconds since 1970 UTC; JSON columns hold plain values.

`scenes` are content-addressed: thousands of runs of one batch share one text. `stored_scenes` are
those that users keep, `scene_revisions` their earlier texts. A *run* is one simulation; a single
simulation is a run without a batch.

A change here needs a script in `migrations/versions`: `make revision` drafts it.
"""

import json
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

metadata = MetaData()

WHOLE = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts rows in columns of the type INTEGER alone, which hold 64 bits there."""


class Title(TypeDecorator[str]):
    """A name that a user gave; PostgreSQL keeps no NUL in texts, so no database does."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return what is stored."""
        return None if value is None else value.replace("\0", "\N{REPLACEMENT CHARACTER}")


scenes = Table(
    "scenes",
    metadata,
    Column("hash", String, primary_key=True),
    Column("document", Text, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("seq", WHOLE, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("name", Title),
    Column("scene_hash", ForeignKey("scenes.hash"), nullable=False, index=True),
    Column("parameters", JSON, nullable=False),  # pointers that vary, in order
    Column("metrics", JSON, nullable=False),
    Column("max_parallel", WHOLE),
    Column("on_failure", String, nullable=False),
    Column("record", String, nullable=False, server_default="full"),  # full, failed, metrics
    Column("study_id", String),  # the study whose evaluations the runs are
    Column("measure", JSON(none_as_null=True)),  # what the study asks of every run
    Column("stored_scene", JSON(none_as_null=True)),  # {id, revision} it was made from
    Column("stop_reason", String),  # set once: no queued run of this batch starts any more
    Column("created_by", String),  # name of the key; none: the service had no keys
    Column("created_at", Float, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("seq", WHOLE, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("batch_id", ForeignKey("batches.id")),
    Column("number", WHOLE, nullable=False),  # place within the batch, from 0
    Column("name", Title),
    Column("scene_hash", ForeignKey("scenes.hash"), nullable=False, index=True),
    Column("overrides", JSON, nullable=False),
    Column("timeout_s", Float),
    Column("state", String, nullable=False),
    Column("priority", WHOLE, nullable=False),  # 0 simulation, 1 run of a batch
    Column("attempt", WHOLE, nullable=False),
    Column("losses", WHOLE, nullable=False),  # attempts that ended with their worker
    Column("owner", String),
    Column("lease_until", Float),
    Column("step", WHOLE, nullable=False),
    Column("total_steps", WHOLE, nullable=False),
    Column("real_time_factor", Float),
    Column("error", JSON(none_as_null=True)),
    Column("summary", JSON(none_as_null=True)),
    Column("result", String),  # folder of the recording, named by run and attempt
    Column("created_by", String),
    Column("stored_scene", JSON(none_as_null=True)),  # {id, revision} it was made from
    Column("trace", String),  # context of the request that queued it, for traces
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("finished_at", Float),
    Index("runs_by_state", "state", "priority", "seq"),
    Index("runs_by_batch", "batch_id", "state"),
    Index("runs_by_number", "batch_id", "number"),
    sqlite_autoincrement=True,
)

attempts = Table(
    "attempts",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("attempt", WHOLE, primary_key=True),
    Column("owner", String, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("outcome", String),
)

events = Table(
    "events",
    metadata,
    Column("seq", WHOLE, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("type", String, nullable=False),
    Column("data", JSON, nullable=False),
    Column("at", Float, nullable=False),
    sqlite_autoincrement=True,
)

studies = Table(
    "studies",
    metadata,
    Column("seq", WHOLE, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("batch_id", ForeignKey("batches.id"), nullable=False),
    Column("name", Title),
    Column("asked", JSON, nullable=False),  # the request without its scene
    Column("method", String, nullable=False),
    Column("state", String, nullable=False),  # running, cancelling, succeeded, failed, cancelled
    Column("best", JSON(none_as_null=True)),
    Column("reason", String),
    Column("error", JSON(none_as_null=True)),
    Column("created_by", String),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    sqlite_autoincrement=True,
)

shares = Table(
    "shares",
    metadata,
    Column("id", String, primary_key=True),
    Column("digest", String, nullable=False, unique=True),  # SHA-256 of the token
    Column("kind", String, nullable=False),  # sessions, simulations, batches, scenes
    Column("resource", String, nullable=False),
    Column("name", Title, nullable=False),
    Column("created_by", String),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Index("shares_by_resource", "kind", "resource"),
)

stored_scenes = Table(
    "stored_scenes",
    metadata,
    Column("seq", WHOLE, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("name", Title, nullable=False),
    Column("document", LargeBinary, nullable=False),  # as its owner wrote it
    Column("digest", String, nullable=False),  # SHA-256 of the document
    Column("scene_hash", String, nullable=False),
    Column("bytes", WHOLE, nullable=False),
    Column("revision", WHOLE, nullable=False),  # from 1
    Column("created_by", String, index=True),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("used_at", Float, nullable=False),  # changed, or something was made from it
    sqlite_autoincrement=True,
)

scene_revisions = Table(
    "scene_revisions",  # earlier texts of stored scenes
    metadata,
    Column("scene_id", ForeignKey("stored_scenes.id", ondelete="CASCADE"), primary_key=True),
    Column("revision", WHOLE, primary_key=True),
    Column("name", Title, nullable=False),
    Column("digest", String, nullable=False),
    Column("scene_hash", String, nullable=False),
    Column("bytes", WHOLE, nullable=False),
    Column("updated_at", Float, nullable=False),  # when it was written
    Column("document", LargeBinary, nullable=False),  # last: lists read what is before it
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key", String, primary_key=True),
    Column("fingerprint", String, nullable=False),
    Column("resource", String),  # null while the first request is being answered
    Column("created_at", Float, nullable=False),
)


def dump_json(value: Any) -> str:
    """The text of a JSON column."""
    return json.dumps(value, separators=(",", ":"))
