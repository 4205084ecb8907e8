from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import ProgrammingError

from cardan.service.simulations.postgres import DatabaseAddressError, open_postgres
from cardan.service.simulations.revisions import (
    HEAD,
    KNOWN,
    OWN_NUMBERS,
    UnknownVersionError,
    recorded_revision,
    upgrade,
)
from cardan.service.simulations.tables import metadata
from tests.service.simulations.own_versions import statements
from tests.service.simulations.test_revisions import differences


@pytest.fixture
def address(postgres):
    return postgres.database()


def columns(engine):
    found = inspect(engine)
    return {name: {c["name"] for c in found.get_columns(name)} for name in found.get_table_names()}


def recorded_in(engine):
    with engine.connect() as connection:
        return recorded_revision(connection)


@pytest.mark.parametrize("version", range(4, OWN_NUMBERS + 1))
def test_a_database_of_a_numbered_version_is_brought_to_the_latest(address, version):
    plain = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    with plain.begin() as connection:
        for statement in statements("own_versions_postgresql.sql", version):
            connection.execute(text(statement))
        connection.execute(text("CREATE TABLE cardan_version (number INTEGER NOT NULL)"))
        connection.execute(text(f"INSERT INTO cardan_version VALUES ({version})"))
    with ThreadPoolExecutor(6) as threads:
        engines = list(threads.map(lambda _: open_postgres(address), range(6)))
    assert differences(plain) == []
    assert set(columns(plain)) == {*metadata.tables, "cardan_revision"}
    assert recorded_in(plain) == HEAD
    for engine in [*engines, plain]:
        engine.dispose()


def test_scripts_and_code_make_the_same_tables(address):
    plain = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    with plain.begin() as connection:
        upgrade(connection, HEAD)
    assert differences(plain) == []
    plain.dispose()


def test_a_change_that_dies_leaves_the_database_as_it_was(address):
    plain = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    with plain.begin() as connection:
        upgrade(connection, KNOWN[2])
        # what the last script adds is there already, so that its statement fails
        connection.execute(text("CREATE TABLE scene_revisions (id INTEGER)"))
    before = columns(plain)
    with pytest.raises(ProgrammingError, match="already exists"):
        open_postgres(address)
    assert columns(plain) == before
    assert recorded_in(plain) == KNOWN[2]
    plain.dispose()


def test_services_that_start_together_create_one_database(address):
    with ThreadPoolExecutor(6) as threads:
        engines = list(threads.map(lambda _: open_postgres(address), range(6)))
    assert set(columns(engines[0])) == {*metadata.tables, "cardan_revision"}
    assert differences(engines[0]) == []
    for engine in engines:
        engine.dispose()


def test_a_database_of_another_version_is_refused_and_left_alone(address):
    engine = open_postgres(address)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE runs RENAME COLUMN losses TO lost"))
        connection.execute(text("UPDATE cardan_revision SET version_num = '0099'"))
    before = columns(engine)
    with pytest.raises(UnknownVersionError, match="it says version 99, this one reads"):
        open_postgres(address)
    assert columns(engine) == before
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE cardan_revision"))
        connection.execute(text("CREATE TABLE cardan_version AS SELECT 8 AS number"))
    with pytest.raises(UnknownVersionError, match="it says version 8, this one reads"):
        open_postgres(address)
    engine.dispose()


def test_tables_of_somebody_else_are_left_alone(address):
    engine = open_postgres(address)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE cardan_revision"))
    with pytest.raises(UnknownVersionError, match=r"has tables attempts, .* and no version"):
        open_postgres(address)
    engine.dispose()


@pytest.mark.parametrize("address", ["", "queue.sqlite3", "sqlite:///queue.sqlite3", "mysql://h/d"])
def test_other_addresses_are_refused(address):
    with pytest.raises(DatabaseAddressError, match="must be postgresql://USER:PASSWORD@HOST/NAME"):
        open_postgres(address)
