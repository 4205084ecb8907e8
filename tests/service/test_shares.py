"""Links end: with their time, with a word, and with the key that made them."""

import asyncio

import pytest

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.keys import Key
from cardan.service.shares import MOST_SHARES, Shares
from cardan.service.simulations.sqlite import open_database


@pytest.fixture
def engine(tmp_path):
    engine = open_database(tmp_path / "cardan.db")
    yield engine
    engine.dispose()


def test_a_link_ends_with_its_time(engine, monkeypatch):
    shares = Shares(engine, ())
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    share, token = shares.issue("sessions", "ses_1", "a class", 100.0, None)
    assert shares.find(token) == share
    assert shares.listing("sessions", "ses_1") == [share]
    assert shares.listing("sessions", "ses_2") == shares.listing("simulations", "ses_1") == []
    now += 100.0
    assert shares.find(token) is None
    assert shares.listing("sessions", "ses_1") == []
    # and is forgotten with the next one
    shares.issue("sessions", "ses_1", "", 100.0, None)
    now -= 100.0
    assert shares.find(token) is None


def test_a_link_is_void_without_the_key_that_made_it(engine):
    def keys(*scopes):
        return [Key("ada", "", frozenset(scopes)), Key("bob", "", frozenset({"read"}))]

    _, token = Shares(engine, keys("read", "write")).issue("simulations", "sim_1", "", 99.0, "ada")
    assert Shares(engine, keys("read")).find(token) is not None
    assert Shares(engine, keys("compute")).find(token) is None
    assert Shares(engine, keys("read")[1:]).find(token) is None
    # what was made while there were no keys is nobody's once there are
    _, token = Shares(engine, ()).issue("simulations", "sim_1", "", 99.0, None)
    assert Shares(engine, ()).find(token) is not None
    assert Shares(engine, keys("read")).find(token) is None


def test_a_resource_has_so_many_links(engine):
    shares = Shares(engine, ())
    for _ in range(MOST_SHARES):
        shares.issue("sessions", "ses_1", "", 99.0, None)
    with pytest.raises(ServiceError) as caught:
        shares.issue("sessions", "ses_1", "", 99.0, None)
    assert caught.value.code is ErrorCode.TOO_MANY_SHARES
    shares.issue("sessions", "ses_2", "", 99.0, None)


def test_who_watches_hears_of_the_end(engine):
    shares = Shares(engine, ())

    async def watch():
        lasting, _ = shares.issue("sessions", "ses_1", "", 1e6, None)
        other, _ = shares.issue("sessions", "ses_1", "", 1e6, None)
        short, _ = shares.issue("sessions", "ses_1", "", 0.05, None)
        watching = {one.id: asyncio.create_task(shares.over(one)) for one in (lasting, other)}
        await asyncio.wait_for(shares.over(short), 30)
        assert not await shares.revoke("sessions", "ses_2", lasting.id)
        assert not any(task.done() for task in watching.values())
        assert await shares.revoke("sessions", "ses_1", lasting.id)
        await asyncio.wait_for(watching[lasting.id], 30)
        # one that was revoked before anybody listened is over as well
        await asyncio.wait_for(shares.over(lasting), 30)
        assert not watching[other.id].done()
        watching[other.id].cancel()

    asyncio.run(watch())
