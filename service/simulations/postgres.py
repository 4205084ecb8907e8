"""The tables of the queue in a PostgreSQL database, for services of many machines.

It is brought to the latest revision, like a file, by whoever opens it first.
"""

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Table,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError

from cardan.service.simulations import locking
from cardan.service.simulations.revisions import (
    UnknownVersionError,
    bring_to_head,
    recorded_revision,
    refuse_unknown,
    revision_of_number,
)
from cardan.service.simulations.tables import dump_json, metadata

# a row that is locked so long is not waited for any more, and who holds it and hangs loses it
OPTIONS = "-c lock_timeout=15s -c idle_in_transaction_session_timeout=60s"
# seconds; a machine that is gone is noticed within a minute
KEEPALIVE = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 4,
}

counted = Table("cardan_version", MetaData(), Column("number", Integer, nullable=False))


class DatabaseAddressError(Exception):
    """The address of the database cannot be used; the text says why, without its password."""


def open_postgres(address: str, *, connections: int = 10) -> Engine:
    """Open a database `postgresql://user:password@host/name`, and bring its tables to the latest.

    Raises DatabaseAddressError and UnknownVersionError.
    """
    try:
        engine = create_engine(
            _url(address),
            json_serializer=dump_json,
            pool_size=connections,
            max_overflow=3 * connections,
            pool_pre_ping=True,
            connect_args=KEEPALIVE | {"options": OPTIONS},
        )
    except ModuleNotFoundError as error:
        raise DatabaseAddressError(
            f"{error.name} is not installed; it comes with: pip install 'cardan[cluster]'."
        ) from error

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("writes", False) is True:
            locking.lock_writers(connection)

    try:
        with engine.execution_options(writes=True).begin() as connection:
            _bring_to_head(connection, engine.url.render_as_string(hide_password=True))
    except BaseException:
        engine.dispose()
        raise
    return engine


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise DatabaseAddressError("It must be postgresql://USER:PASSWORD@HOST/NAME.") from error
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise DatabaseAddressError(
            f"It must be postgresql://USER:PASSWORD@HOST/NAME, not {url.get_backend_name()}://."
        )
    return url.set(drivername="postgresql+psycopg")


def _bring_to_head(connection: Connection, where: str) -> None:
    """Create the tables, or bring them to the latest revision. Raises UnknownVersionError."""
    names = set(inspect(connection).get_table_names())
    found = recorded_revision(connection)
    if found is None and counted.name in names:
        number = connection.execute(select(counted.c.number)).scalar_one()
        found = revision_of_number(number)
    if found is not None:
        refuse_unknown(found, where, "name another database")
    elif strangers := sorted(names & set(metadata.tables)):
        raise UnknownVersionError(
            f"The database {where} has tables {', '.join(strangers)} and no version: they are "
            "not Cardan's. Name another database; nothing in it was changed."
        )
    bring_to_head(connection, found)
    # a Cardan that knows numbers alone must not take the database for its own
    counted.drop(connection, checkfirst=True)
