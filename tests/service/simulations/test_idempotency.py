"""Keys of requests that may be sent again: one resource for each, and none that is stuck."""

import pytest
from sqlalchemy.exc import OperationalError

from cardan.service import clock
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
