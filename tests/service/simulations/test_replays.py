"""A recording that is made again belongs to its run, whoever waits for it, or leaves nothing."""

import threading
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from cardan.service.simulations import messages as m
from cardan.service.simulations.admission import NewRun
from cardan.service.simulations.replays import ReplayError
from cardan.service.simulations.rows import Outcome
from cardan.service.simulations.states import RunEvent
from tests.service.simulations.conftest import SCENE

NEVER = threading.Event()


class Worker:
    """Leaves a recording of a run that ends in a state."""

    def __init__(self, state_hash):
        self.summary = {"state_hash": state_hash}
        self.said: deque[Any] = deque()

    def send(self, order):
        Path(order.runs[0].folder).mkdir(parents=True)
        done = m.Done(0, RunEvent.SUCCEEDED, 10, summary=self.summary, stored=True)
        self.said += [done, m.Finished(0.1)]

    def hear(self, _seconds):
        return self.said.popleft()

    def kill(self):
        self.said.clear()


@pytest.fixture
def asked(services):
    """A run without recording, for which somebody has waited in vain."""
    run = services.admission.simulation(SCENE, NewRun({}, 10))
    claims = services.queue.claim_group("me", lambda _batch, _waiting: 1)
    won = Outcome(RunEvent.SUCCEEDED, step=10, summary={"state_hash": "same"})
    services.queue.finish_all([(claims[0], won)])
    with pytest.raises(TimeoutError):
        services.replayed(services.catalog.run(run), 0.0)
    return run


def recordings(services):
    return [path.name for path in services.results.root.iterdir()]


def test_a_recording_is_kept_when_nobody_waits_for_it_any_more(services, asked):
    services.dispatcher.replays.next().answer(Worker("same"), 60.0, NEVER)
    made = services.catalog.run(asked)["result"]
    assert made.startswith(f"{asked}-1-")
    assert recordings(services) == [made]


def test_a_recording_that_is_made_again_while_an_old_one_is_removed_stays(services, asked):
    services.dispatcher.replays.next().answer(Worker("same"), 60.0, NEVER)
    old = services.catalog.run(asked)["result"]
    # beyond the bytes that are kept: no row refers to it any more, and then it is removed
    assert services.queue.forget_result(asked, old)
    with pytest.raises(TimeoutError):
        services.replayed(services.catalog.run(asked), 0.0)
    services.dispatcher.replays.next().answer(Worker("same"), 60.0, NEVER)
    services.discard_result(old)
    assert recordings(services) == [services.catalog.run(asked)["result"]]


def test_a_recording_that_another_service_has_made_is_that_of_the_run(services, asked):
    replay = services.dispatcher.replays.next()
    assert services.queue.adopt_result(asked, f"{asked}-1-7")
    replay.answer(Worker("same"), 60.0, NEVER)
    assert replay.future.result(0.0) is None
    assert recordings(services) == []
    assert services.catalog.run(asked)["result"] == f"{asked}-1-7"


def test_who_waits_is_told_of_another_motion_which_leaves_nothing(services, asked):
    replay = services.dispatcher.replays.next()
    replay.answer(Worker("another"), 60.0, NEVER)
    with pytest.raises(ReplayError, match="another state"):
        replay.future.result(0.0)
    assert services.catalog.run(asked)["result"] is None
    assert recordings(services) == []


def test_a_service_that_stops_waits_for_no_recording(services, asked):
    replay, worker, stopping = services.dispatcher.replays.next(), Worker("same"), threading.Event()
    stopping.set()
    replay.answer(worker, 60.0, stopping)
    with pytest.raises(ReplayError, match="the service stops"):
        replay.future.result(0.0)
    assert not worker.said
    assert recordings(services) == []


def test_a_recording_of_a_run_that_was_removed_meanwhile_goes_too(services, asked):
    replay = services.dispatcher.replays.next()
    assert services.catalog.remove_run(asked) == []
    replay.answer(Worker("same"), 60.0, NEVER)
    with pytest.raises(ReplayError, match="removed"):
        replay.future.result(0.0)
    assert recordings(services) == []
