"""What one service changes, the others of its database hear."""

import pytest
from sqlalchemy import text

from cardan.service.simulations.postgres import open_postgres
from cardan.service.simulations.signals import EVERYTHING, MOST_BYTES, Signals, packed
from tests.service.real_server import wait_for

# no notification of anybody else's tests
END = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def services(postgres):
    """Two services of one database: their signals, and what each has heard."""
    address = postgres.database()
    engines = [open_postgres(address) for _ in range(2)]
    heard: list[list[str]] = [[], []]
    signals = [Signals(engine, ears.append) for engine, ears in zip(engines, heard, strict=True)]
    for one in signals:
        one.start()
    # each wakes everybody once it listens, and once more when it can send
    wait_for(lambda: all(ears.count(EVERYTHING) >= 1 for ears in heard), what="two listeners")
    yield signals, heard, engines
    for one in signals:
        one.stop()
    for engine in engines:
        engine.dispose()


def test_changes_are_heard_by_others_and_not_by_oneself(services):
    (one, other), (at_one, at_other), _ = services
    ids = [f"sim_{number:020x}" for number in range(2000)]
    assert len(",".join(ids)) > 5 * MOST_BYTES
    for key in ids:
        one.send(key)
    other.send("batch_of_the_other")
    wait_for(lambda: set(ids) <= set(at_other), what="all ids")
    wait_for(lambda: "batch_of_the_other" in at_one, what="the id of the other")
    assert not set(ids) & set(at_one)
    assert "batch_of_the_other" not in at_other


def test_a_connection_that_breaks_is_made_again(services):
    (one, _), (at_one, at_other), engines = services
    before = [ears.count(EVERYTHING) for ears in (at_one, at_other)]
    with engines[0].connect() as connection:
        connection.execute(END)
    # who was deaf for a moment may have missed anything
    wait_for(lambda: at_other.count(EVERYTHING) > before[1], what="the second beginning")
    wait_for(lambda: at_one.count(EVERYTHING) > before[0], what="the second beginning")
    heard_again = iter(range(10**6))

    def heard():
        # sent again: what is sent into a broken connection is lost
        one.send(f"sim_{next(heard_again)}")
        return any(key.startswith("sim_") for key in at_other)

    wait_for(heard, what="a change after it")


def test_texts_are_packed_whole():
    ids = [f"sim_{number:020x}" for number in range(999)]
    texts = list(packed(ids, 100))
    assert ",".join(texts).split(",") == ids
    assert max(map(len, texts)) <= 100
    assert list(packed([], 100)) == []
