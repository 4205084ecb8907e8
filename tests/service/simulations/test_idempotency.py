"""Keys of requests that may be sent again: one resource for each, and none that is stuck."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.responses import Response
from sqlalchemy.exc import OperationalError
from starlette.datastructures import Headers

from cardan.service import clock
from cardan.service.api.sessions import once
from cardan.service.simulations.admission import (
    ANSWERING_SECONDS,
    Admission,
    KeyInFlightError,
    KeyReusedError,
)


def test_idempotency_keys(desk):
    assert desk.admission.reserve("k", "payload") is None
    with pytest.raises(KeyInFlightError):
        desk.admission.reserve("k", "payload")
    run = desk.simulation(key="k")
    assert desk.admission.reserve("k", "payload") == run
    with pytest.raises(KeyReusedError):
        desk.admission.reserve("k", "another")
    desk.admission.release("k")
    assert desk.admission.reserve("k", "payload") == run, "a used key is not given back"


def test_a_key_given_back_is_new_again(desk):
    desk.admission.reserve("k", "one")
    desk.admission.release("k")
    assert desk.admission.reserve("k", "two") is None


class FullDisk:
    """A database that cannot be written."""

    def begin(self):
        raise OperationalError("BEGIN", {}, Exception("database or disk is full"))


def test_a_key_that_could_not_be_given_back_is_new_again(desk):
    desk.admission.reserve("k", "one")
    desk.admission.reserve("other", "one")
    writing, desk.admission._writing = desk.admission._writing, FullDisk()
    desk.admission.release("k")
    with pytest.raises(OperationalError):
        desk.admission.reserve("k", "one")
    desk.admission._writing = writing
    assert desk.admission.reserve("k", "one") is None
    for key in ("k", "other"):
        with pytest.raises(KeyInFlightError):
            desk.admission.reserve(key, "one")


def test_a_key_of_a_request_that_nobody_answers_any_more_is_new_again(desk, monkeypatch):
    admission = Admission(desk.open(), most_queued=1, key_lifetime_s=86_400.0)
    admission.reserve("k", "one")
    later = clock.now() + ANSWERING_SECONDS + 1.0
    monkeypatch.setattr(clock, "now", lambda: later)
    assert admission.reserve("k", "one") is None
    with pytest.raises(KeyInFlightError):
        admission.reserve("k", "one")


def test_old_keys_are_forgotten(desk, monkeypatch):
    desk.admission.reserve("k", "payload")
    desk.simulation(key="k")
    later = clock.now() + 61.0
    monkeypatch.setattr(clock, "now", lambda: later)
    assert desk.admission.reserve("k", "another") is None


class Sessions:
    """Those that are there."""

    def __init__(self):
        self.there = []

    async def make(self):
        self.there.append("session_a")
        return SimpleNamespace(id="session_a")

    async def delete(self, session_id):
        self.there.remove(session_id)


def test_a_session_whose_key_cannot_be_written_does_not_stay(desk, monkeypatch):
    def full(_key, _resource):
        raise OperationalError("UPDATE", {}, Exception("database or disk is full"))

    async def body():
        return b""

    monkeypatch.setattr(desk.admission, "bind", full)
    settings: Any = SimpleNamespace(stored_bytes_per_key=0)
    services: Any = SimpleNamespace(admission=desk.admission, settings=settings)
    sessions: Any = Sessions()
    request: Any = SimpleNamespace(
        headers=Headers({"idempotency-key": "k"}),
        scope={"path": "/v1/sessions"},
        query_params=SimpleNamespace(multi_items=list),
        body=body,
        state=SimpleNamespace(),
    )
    for _ in range(2):
        # the client may send it again
        with pytest.raises(OperationalError):
            asyncio.run(once(request, Response(), (sessions, services), sessions.make))
        assert sessions.there == []
