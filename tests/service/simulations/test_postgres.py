from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import inspect, text

from cardan.service.simulations.migrations import CHANGES, LATEST, TABLES
from cardan.service.simulations.postgres import DatabaseAddressError, open_postgres
from cardan.service.simulations.tables import UnknownVersionError, metadata


@pytest.fixture
def address(postgres):
    return postgres.database()


def columns(engine):
    found = inspect(engine)
    return {name: {c["name"] for c in found.get_columns(name)} for name in found.get_table_names()}


def test_a_database_is_brought_to_the_latest_version(address):
    engine = open_postgres(address)
    latest = columns(engine)
    with engine.begin() as connection:
        for number in range(LATEST, 1, -1):
            for change in CHANGES.get(number, ()):
                connection.execute(text(f"ALTER TABLE {change.table} DROP COLUMN {change.column}"))
            for table in TABLES.get(number, ()):
                connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("UPDATE cardan_version SET number = 1"))
    assert columns(engine) != latest
    engine.dispose()
    engine = open_postgres(address)
    assert columns(engine) == latest
    with engine.connect() as connection:
        assert connection.execute(text("SELECT number FROM cardan_version")).all() == [(LATEST,)]
    engine.dispose()


def test_services_that_start_together_create_one_database(address):
    with ThreadPoolExecutor(6) as threads:
        engines = list(threads.map(lambda _: open_postgres(address), range(6)))
    assert set(columns(engines[0])) == {*metadata.tables, "cardan_version"}
    for engine in engines:
        engine.dispose()


def test_a_database_of_another_version_is_refused_and_left_alone(address):
    engine = open_postgres(address)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE runs RENAME COLUMN losses TO lost"))
        connection.execute(text(f"UPDATE cardan_version SET number = {LATEST + 6}"))
    before = columns(engine)
    with pytest.raises(UnknownVersionError, match=f"it says version {LATEST + 6}, this one reads"):
        open_postgres(address)
    assert columns(engine) == before
    engine.dispose()


def test_tables_of_somebody_else_are_left_alone(address):
    engine = open_postgres(address)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE cardan_version"))
    with pytest.raises(UnknownVersionError, match=r"has tables attempts, .* and no version"):
        open_postgres(address)
    engine.dispose()


@pytest.mark.parametrize("address", ["", "queue.sqlite3", "sqlite:///queue.sqlite3", "mysql://h/d"])
def test_other_addresses_are_refused(address):
    with pytest.raises(DatabaseAddressError, match="must be postgresql://USER:PASSWORD@HOST/NAME"):
        open_postgres(address)
