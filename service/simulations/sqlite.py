"""The tables of the queue in a file, for one service.

WAL lets readers work beside the one writer; writers take the lock at BEGIN IMMEDIATE, so that a
transaction never fails half-way; synchronous FULL keeps a commit through a power cut.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event

from cardan.service.simulations.revisions import (
    bring_to_head,
    columns_of,
    recorded_revision,
    refuse_unknown,
    revision_of_columns,
    revision_of_number,
)
from cardan.service.simulations.tables import dump_json


def open_database(path: Path) -> Engine:
    """Open or create the database file, with the latest tables.

    A change of the tables is one transaction: a file is of the revision before or of the latest,
    also when the process dies between. Raises UnknownVersionError, and leaves the file as it is.
    """
    found = _revision_of(path)
    preparing = _engine(path, foreign_keys=False)
    with preparing.execution_options(writes=True).begin() as connection:
        bring_to_head(connection, found)
        # a Cardan that knows numbers alone must not take the file for its own
        connection.exec_driver_sql("PRAGMA user_version=0")
    preparing.dispose()
    return _engine(path, foreign_keys=True)


def _engine(path: Path, foreign_keys: bool) -> Engine:
    engine = create_engine(f"sqlite:///{path}", json_serializer=dump_json)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "busy_timeout=15000",
            f"foreign_keys={'ON' if foreign_keys else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _revision_of(path: Path) -> str | None:
    """Revision of the file, read before anything writes; none: it is new.

    Raises UnknownVersionError.
    """
    if not path.exists():
        return None
    engine = create_engine(f"sqlite:///file:{quote(str(path))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            found = recorded_revision(connection)
            if found is None:
                number = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
                columns = columns_of(connection)
                if not number and not columns:
                    return None
                found = revision_of_number(number) if number else revision_of_columns(columns)
    finally:
        engine.dispose()
    refuse_unknown(found, str(path), "choose another folder with --data")
    return found
