"""Revisions of the tables: read by a plain query, changed by Alembic.

A database names its revision in `cardan_revision`. Alembic is imported only where that is not the
latest: a start that has nothing to change does not pay for it.

Versions 1 to OWN_NUMBERS were counted otherwise, by SQLite's `user_version` and by a table
`cardan_version` on PostgreSQL; the revision of the same number has their tables.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_engine,
    insert,
    inspect,
    select,
)

from cardan.service.simulations.tables import metadata

SCRIPTS = Path(__file__).parent / "migrations"

KNOWN = tuple(sorted(path.name[1:5] for path in SCRIPTS.glob("versions/v[0-9]*.py")))
"""Names of all revisions, first to last; scripts are named after them."""

HEAD = KNOWN[-1]

OWN_NUMBERS = 7

recorded = Table(
    "cardan_revision",  # as Alembic makes it
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="cardan_revision_pkc"),
)


class UnknownVersionError(Exception):
    """The tables of the database are not those of this Cardan; the text says so."""


def revision_of_number(number: int) -> str:
    """The revision that a version of the former count is."""
    return f"{number:04}" if number <= OWN_NUMBERS else str(number)


def recorded_revision(connection: Connection) -> str | None:
    """What the database says; none: it does not."""
    if not inspect(connection).has_table(recorded.name):
        return None
    return str(connection.execute(select(recorded.c.version_num)).scalar_one())


def refuse_unknown(found: str | None, where: str, otherwise: str) -> None:
    """Raise UnknownVersionError for a revision that is not known; `otherwise`: what else to do."""
    if found in KNOWN:
        return
    said = "says no version and has other tables"
    if found is not None:
        said = f"says version {found.lstrip('0') or 0}"
    raise UnknownVersionError(
        f"The database {where} was written by another version of Cardan: it {said}, this one "
        f"reads versions 1 to {int(HEAD)}. Serve it with the Cardan that wrote it, or {otherwise}; "
        "nothing in it was changed."
    )


def bring_to_head(connection: Connection, found: str | None) -> None:
    """Give a database the latest tables; `found` is its known revision, none: it has no tables.

    All is done within the transaction of the connection. SQLite must not enforce foreign keys
    meanwhile: a table that is replaced by a changed copy would take with it what refers to its
    rows.
    """
    if recorded_revision(connection) is None:
        if found is None:
            metadata.create_all(connection)
        recorded.create(connection)
        connection.execute(insert(recorded).values(version_num=found or HEAD))
    if found not in (None, HEAD):
        upgrade(connection, HEAD)


def upgrade(connection: Connection, target: str) -> None:
    """Run the scripts up to a revision, from the recorded one or from nothing."""
    from alembic import command

    command.upgrade(configuration(connection), target)


def configuration(connection: Connection) -> Any:
    """What Alembic's commands take to work on this connection: an `alembic.config.Config`."""
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("file_template", "v%%(rev)s_%%(slug)s")
    return config


def revision_of_columns(found: dict[str, set[str]]) -> str | None:
    """The first revision whose tables have exactly these columns.

    That is what tells files without a number: from before there was one, or restored from a text.
    """
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        for revision in KNOWN:
            upgrade(connection, revision)
            if found == columns_of(connection):
                return revision
    return None


def columns_of(connection: Connection) -> dict[str, set[str]]:
    """Names of the columns of each table, without the record of the revision."""
    seen = inspect(connection)
    return {
        name: {column["name"] for column in seen.get_columns(name)}
        for name in seen.get_table_names()
        if name != recorded.name
    }
