"""The tables of the queue. Times are seconds since 1970 UTC; JSON columns hold plain values.

`scenes` are content-addressed: thousands of runs of one batch share one text. `stored_scenes` are
those that users keep, `scene_revisions` their earlier texts. A *run* is one simulation; a single
simulation is a run without a batch.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Connection,
    Dialect,
    Engine,
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
    create_engine,
    event,
    inspect,
)

from cardan.service.simulations.migrations import LATEST, changes_since, columns_at

VERSION = LATEST
"""Of the tables below, kept in the file as `user_version`; 0 is a file from before it was."""

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


class UnknownVersionError(Exception):
    """The tables of the file are not those of this Cardan; the text says so."""


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
    Column("scene_hash", ForeignKey("scenes.hash"), nullable=False),
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
    Column("scene_hash", ForeignKey("scenes.hash"), nullable=False),
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


def open_database(path: Path) -> Engine:
    """Open or create the database file.

    WAL lets readers work beside the one writer; writers take the lock at BEGIN IMMEDIATE, so
    that a transaction never fails half-way; synchronous FULL keeps a commit through a power cut.
    Raises UnknownVersionError, and leaves the file as it is.
    """
    version = _version_of(path)
    engine = create_engine(f"sqlite:///{path}", json_serializer=dump_json)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "busy_timeout=15000",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    with engine.execution_options(writes=True).begin() as connection:
        for statement in changes_since(version):
            connection.exec_driver_sql(statement)
        metadata.create_all(connection)
        connection.exec_driver_sql(f"PRAGMA user_version={VERSION}")
    return engine


def _version_of(path: Path) -> int:
    """Version of the file; VERSION of one that is new. Raises UnknownVersionError.

    It is read before anything writes. A file without a number has the version of its columns.
    """
    if not path.exists():
        return VERSION
    engine = create_engine(f"sqlite:///file:{quote(str(path))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            version = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
        found = {
            name: {column["name"] for column in inspect(engine).get_columns(name)}
            for name in inspect(engine).get_table_names()
        }
    finally:
        engine.dispose()
    if version == 0:
        known = {name: set(table.columns.keys()) for name, table in metadata.tables.items()}
        fitting = [v for v in range(1, VERSION + 1) if found == columns_at(v, known)]
        version = fitting[0] if fitting else VERSION if not found else 0
    if not 1 <= version <= VERSION:
        said = f"says version {version}" if version else "says no version and has other tables"
        raise UnknownVersionError(
            f"The database {path} was written by another version of Cardan: it {said}, this one "
            f"reads versions 1 to {VERSION}. Serve it with the Cardan that wrote it, or choose "
            "another folder with --data; nothing in it was changed."
        )
    return version


def dump_json(value: Any) -> str:
    """The text of a JSON column."""
    return json.dumps(value, separators=(",", ":"))
