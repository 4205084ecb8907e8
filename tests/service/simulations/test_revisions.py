"""Revisions of the tables: what is opened, what is changed by scripts, what is refused."""

import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from cardan.service.simulations import revisions
from cardan.service.simulations.revisions import (
    HEAD,
    KNOWN,
    OWN_NUMBERS,
    UnknownVersionError,
    configuration,
    upgrade,
)
from cardan.service.simulations.rows import Outcome
from cardan.service.simulations.sqlite import open_database
from cardan.service.simulations.states import RunEvent
from cardan.service.simulations.tables import metadata
from tests.service.simulations.one_by_one import Queue
from tests.service.simulations.own_versions import VERSION_1, fill

WON = Outcome(RunEvent.SUCCEEDED, step=100, summary={"a": 1})


def differences(engine):
    """What Alembic would change to make the tables of a database those of the code."""
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "version_table": revisions.recorded.name,
    }
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def never_reused(engine):
    """Tables whose numbers are never given twice; a copy made without saying so loses that."""
    query = text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
    with engine.connect() as connection:
        return set(connection.execute(query).scalars())


ASKED_NEVER_REUSED = {
    name for name, table in metadata.tables.items() if table.kwargs.get("sqlite_autoincrement")
}


def said(path):
    """The revision that a file records, and the number of the former count."""
    with sqlite3.connect(path) as file:
        return (
            file.execute("SELECT version_num FROM cardan_revision").fetchall(),
            file.execute("PRAGMA user_version").fetchone()[0],
        )


def test_scripts_are_a_line_and_named_after_their_revisions():
    with create_engine("sqlite://").connect() as connection:
        scripts = list(ScriptDirectory.from_config(configuration(connection)).walk_revisions())
    assert [script.revision for script in scripts] == list(reversed(KNOWN))
    assert [script.down_revision for script in scripts] == [*reversed(KNOWN[:-1]), None]


def test_all_scripts_together_make_the_tables_of_the_code(tmp_path):
    by_scripts = create_engine(f"sqlite:///{tmp_path / 'scripts'}")
    with by_scripts.begin() as connection:
        upgrade(connection, HEAD)
    assert differences(by_scripts) == []
    assert never_reused(by_scripts) == ASKED_NEVER_REUSED
    assert "events" in ASKED_NEVER_REUSED
    with by_scripts.begin() as connection:
        connection.execute(text("DROP INDEX shares_by_resource"))
        connection.execute(text("ALTER TABLE runs DROP COLUMN trace"))
    assert len(differences(by_scripts)) == 2


def test_a_new_file_has_the_latest_revision_and_alembic_is_not_loaded(tmp_path):
    path = tmp_path / "queue.sqlite3"
    opening = (
        "import sys; from pathlib import Path;"
        "from cardan.service.simulations.sqlite import open_database;"
        f"open_database(Path({str(path)!r})); print('alembic' in sys.modules)"
    )
    for _ in ("it is made", "it is at the latest revision"):
        told = subprocess.run([sys.executable, "-c", opening], capture_output=True, check=True)
        assert told.stdout.split() == [b"False"]
        assert said(path) == ([(HEAD,)], 0)
    assert differences(open_database(path)) == []


@pytest.mark.parametrize("version", range(1, OWN_NUMBERS + 1))
@pytest.mark.parametrize("numbered", [True, False])
def test_a_file_of_a_numbered_version_is_brought_to_the_latest_and_goes_on(
    tmp_path, version, numbered
):
    path = tmp_path / "queue.sqlite3"
    with sqlite3.connect(path) as file:
        fill(file, version)
        if not numbered:
            file.execute("PRAGMA user_version=0")
        before = file.execute("SELECT id, state FROM runs ORDER BY seq").fetchall()
        attempts = file.execute("SELECT * FROM attempts").fetchall()
        batch = file.execute("SELECT id FROM batches").fetchone()[0]
    engine = open_database(path)
    assert said(path) == ([(HEAD,)], 0)
    assert differences(engine) == []
    assert never_reused(engine) == ASKED_NEVER_REUSED
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT id, record FROM batches").fetchall() == [(batch, "full")]
        assert file.execute("SELECT id, state FROM runs ORDER BY seq").fetchall() == before
        assert file.execute("SELECT * FROM attempts").fetchall() == attempts
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    waiting = [run for run, state in before if state == "queued"]
    queue = Queue(engine)
    group = queue.claim_group("me", lambda _batch, _waiting: 5)
    assert [claim.run_id for claim in group] == waiting
    assert set(queue.finish_all([(claim, WON) for claim in group])) == set(waiting)
    # a second opening finds nothing to do
    open_database(path).dispose()


def test_a_file_of_an_earlier_revision_is_brought_to_the_latest(tmp_path):
    path = tmp_path / "queue.sqlite3"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        upgrade(connection, KNOWN[-2])
    assert len(differences(engine)) == 2
    engine.dispose()
    engine = open_database(path)
    assert said(path) == ([(HEAD,)], 0)
    assert differences(engine) == []


def test_a_change_that_dies_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "queue.sqlite3"
    with sqlite3.connect(path) as file:
        fill(file, 3)
        # what a later change adds is there already, so that its statement fails
        file.execute("ALTER TABLE runs ADD COLUMN trace VARCHAR")
    with sqlite3.connect(path) as file:
        before = list(file.iterdump())
    with pytest.raises(Exception, match="duplicate column"):
        open_database(path)
    with sqlite3.connect(path) as file:
        assert list(file.iterdump()) == before
        assert file.execute("PRAGMA user_version").fetchone() == (3,)


COPYING = '''"""Replaces the table of runs by a copy."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = {down!r}


def upgrade() -> None:
    with op.batch_alter_table("runs", recreate="always") as runs:
        runs.alter_column("owner", new_column_name="held_by")
'''


def test_a_table_that_is_copied_keeps_what_refers_to_its_rows(tmp_path, monkeypatch):
    path = tmp_path / "queue.sqlite3"
    with sqlite3.connect(path) as file:
        fill(file, OWN_NUMBERS)
        attempts = file.execute("SELECT * FROM attempts").fetchall()
        events = file.execute("SELECT count(*) FROM events").fetchone()
    assert attempts
    tmp_path.joinpath("v9999_copies.py").write_text(COPYING.format(down=HEAD), encoding="utf-8")

    def with_one_more(connection):
        config = configuration(connection)
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", f"{revisions.SCRIPTS / 'versions'}\n{tmp_path}")
        return config

    monkeypatch.setattr(revisions, "HEAD", "9999")
    monkeypatch.setattr(revisions, "configuration", with_one_more)
    open_database(path).dispose()
    with sqlite3.connect(path) as file:
        columns = {row[1] for row in file.execute("PRAGMA table_info(runs)")}
        assert "held_by" in columns
        assert "owner" not in columns
        assert file.execute("SELECT * FROM attempts").fetchall() == attempts
        assert file.execute("SELECT count(*) FROM events").fetchone() == events
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("PRAGMA user_version={}", "it says version {}, this one reads versions 1 to"),
        ("UPDATE cardan_revision SET version_num='{:04}'", "it says version {}, this one reads"),
    ],
)
@pytest.mark.parametrize("version", [int(HEAD) + 1, 99])
def test_a_file_of_another_version_is_refused_and_left_alone(tmp_path, change, said, version):
    path = tmp_path / "queue.sqlite3"
    open_database(path).dispose()
    with sqlite3.connect(path) as file:
        if "user_version" in change:
            file.execute("DROP TABLE cardan_revision")
        file.execute(change.format(version))
        file.execute("ALTER TABLE runs RENAME COLUMN losses TO lost")
    before = path.read_bytes()
    with pytest.raises(UnknownVersionError, match=said.format(version)):
        open_database(path)
    assert path.read_bytes() == before


def test_a_file_of_other_tables_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "queue.sqlite3"
    with sqlite3.connect(path) as file:
        file.executescript(VERSION_1.read_text(encoding="utf-8"))
        file.execute("ALTER TABLE runs RENAME COLUMN losses TO lost")
    before = path.read_bytes()
    with pytest.raises(UnknownVersionError, match="says no version and has other tables"):
        open_database(path)
    assert path.read_bytes() == before
