"""Slots whose database fails at the worst moment: no run is stuck, and no recording is lost."""

from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import InternalError, OperationalError

from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop
from cardan.service.recordings.results import FolderResults
from cardan.service.simulations import messages as m
from cardan.service.simulations.admission import NewRun
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.dispatcher import Dispatcher, DispatcherOptions
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.states import TERMINAL, RunEvent
from tests.service.real_server import wait_for
from tests.service.simulations.conftest import SCENE


class Worker:
    """Ends every run at once, with a recording of one file."""

    pid = 1
    orphaned = False

    def __init__(self):
        self.alive = True
        self.said: deque[Any] = deque()

    def send(self, message):
        if isinstance(message, Stop | m.StopRun):
            return
        for number, item in enumerate(message.runs):
            Path(item.folder).mkdir(parents=True)
            (Path(item.folder) / "summary.json").touch()
            self.said += [
                m.Started(number, 10),
                m.Done(number, RunEvent.SUCCEEDED, 10, summary={"a": 1}, stored=True),
            ]
        self.said.append(m.Finished(0.1))

    def answers(self):
        return True

    def hear(self, _seconds):
        return self.said.popleft() if self.said else None

    def kill(self):
        self.alive = False

    def quit(self, _grace_s):
        self.kill()


class Storing(Worker):
    """Is told to stop while it stores what it has, for which it needs a while."""

    def send(self, message):
        if isinstance(message, m.StopRun):
            error = {"code": "cancelled", "message": "m"}
            done = m.Done(0, RunEvent.CANCELLED, 5, error=error, stored=True)
            self.said += [None] * 5 + [done, m.Finished(0.1)]
        elif isinstance(message, m.RunOrder):
            Path(message.runs[0].folder).mkdir(parents=True)
            self.said += [m.Started(0, 10), m.Storing(0)]


class Launcher(WorkerLauncher):
    """Starts such workers."""

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def start_ready(self, *_):
        return self._kind()


class Failing(Queue):
    """Fails once, before or after it has done what it is asked for."""

    failing = ""
    error: Exception = OperationalError("COMMIT", {}, Exception("the connection is lost"))

    def _fail(self, name):
        if self.failing == name:
            self.failing = ""
            raise self.error

    def claim_group(self, owner, size):
        claims = super().claim_group(owner, size)
        if claims:
            self._fail("after claim_group")
        return claims

    def started(self, claim, total_steps, step=0):
        self._fail("started")
        return super().started(claim, total_steps, step)

    def finish_all(self, ends):
        self._fail("finish_all")
        states = super().finish_all(ends)
        self._fail("after finish_all")
        return states


@pytest.fixture
def queue(desk):
    return Failing(desk.open())


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "results")


class Results(FolderResults):
    """Recordings; to keep one may be work."""

    def upload(self, work):
        self.shared, self._work = True, work

    def keep(self, name):
        self._work(name)

    def names(self):
        return {path.name for path in self.root.iterdir()}


@contextmanager
def one_slot(queue, results, renew_s=60.0, kind=Worker):
    """A dispatcher that works."""
    checkpoints = Checkpoints(results.root.with_name("checkpoints"))
    times = {"renew_s": renew_s, "stop_grace_s": 0.0}
    options = DispatcherOptions(1, results, WorkerLimits(2**32), checkpoints, **times)
    dispatcher = Dispatcher(queue, options, Launcher(kind))
    dispatcher.start()
    try:
        yield dispatcher
    finally:
        dispatcher.stop()
        for slot in dispatcher._slots:
            slot.thread.join()


def end_of(desk, run):
    return wait_for(lambda: (now := desk.catalog.run(run))["state"] in TERMINAL and now, 30)


@pytest.mark.parametrize(
    ("when", "error", "attempts"),
    [
        # the claim is there, and nobody knows
        ("after claim_group", Failing.error, 2),
        # nothing that another try would make better
        ("finish_all", TypeError("not serializable"), 2),
        # the machine stood still in a transaction
        ("finish_all", InternalError("COMMIT", {}, Exception("idle in transaction")), 1),
    ],
)
def test_a_slot_takes_back_the_runs_that_it_left(desk, queue, results, when, error, attempts):
    run = desk.simulation()
    queue.failing, queue.error = when, error
    with one_slot(queue, results):
        row = end_of(desk, run)
    assert (row["state"], row["attempt"], row["losses"]) == ("succeeded", attempts, attempts - 1)
    assert not queue.failing


def test_an_end_that_was_committed_unheard_keeps_its_recording(desk, queue, results):
    run = desk.simulation()
    queue.failing = "after finish_all"
    with one_slot(queue, results):
        row = end_of(desk, run)
    assert (row["state"], row["attempt"], row["result"]) == ("succeeded", 1, f"{run}-1")
    assert results.names() == {row["result"]}


def test_a_start_that_cannot_be_written_is_told_later_and_costs_no_attempt(desk, queue, results):
    run = desk.simulation()
    queue.failing = "started"
    with one_slot(queue, results, renew_s=0.0):
        row = end_of(desk, run)
    assert (row["state"], row["attempt"], row["losses"]) == ("succeeded", 1, 0)
    told = [event["data"]["status"] for event in desk.catalog.events(run)]
    assert told == ["queued", "starting", "running", "succeeded"]


def test_a_run_whose_recording_is_being_uploaded_is_being_worked_on(desk, queue, results):
    seen = []
    with one_slot(queue, results) as dispatcher:
        results.upload(lambda name: seen.append(name.rpartition("-")[0] in dispatcher.live))
        run = desk.simulation()
        queue.wake.set()
        assert end_of(desk, run)["state"] == "succeeded"
    # else its member of a cluster is idle, and ended
    assert seen == [True]
    assert not dispatcher.live


def test_a_run_that_is_cancelled_while_it_stores_keeps_its_recording(desk, queue, results):
    run = desk.simulation()
    with one_slot(queue, results, renew_s=0.0, kind=Storing):
        wait_for(lambda: desk.state(run) == "running", 30)
        assert queue.cancel(run) == "cancelling"
        row = end_of(desk, run)
    assert (row["state"], row["result"]) == ("cancelled", f"{run}-1")
    assert results.names() == {row["result"]}


class Sharing(Worker):
    """Computes a run with three others, then alone; each word is a tenth of a second."""

    now = 0.0
    beside = alone = 0

    def send(self, message):
        if isinstance(message, m.RunOrder):
            self.said += [m.Started(0, 10), m.Progress(0, 1, 1.0, 4), *[None] * self.beside]
        if isinstance(message, m.RunOrder | m.Apart):
            if isinstance(message, m.Apart):
                self.said.clear()
            self.said += [m.Progress(0, 1, 1.0), *[None] * self.alone]
            self.said += [m.Done(0, RunEvent.SUCCEEDED, 10, summary={"a": 1}), m.Finished(0.1)]
        elif isinstance(message, m.StopRun):
            error = {"code": "timed_out", "message": "m"}
            self.said.clear()
            self.said += [m.Done(0, RunEvent(message.why), 5, error=error), m.Finished(0.1)]

    def hear(self, seconds):
        Sharing.now += 0.1
        return super().hear(seconds)


@pytest.mark.parametrize("beside", [35, 60])
@pytest.mark.parametrize(("alone", "state"), [(8, "succeeded"), (12, "timed_out")])
def test_the_time_of_a_run_is_not_that_of_its_neighbours(
    desk, queue, results, monkeypatch, beside, alone, state
):
    """Also where they take so long together that they are told to part."""
    monkeypatch.setattr(Sharing, "beside", beside)
    monkeypatch.setattr("cardan.service.clock.monotonic", lambda: Sharing.now)
    monkeypatch.setattr(Sharing, "alone", alone)
    run = desk.admission.simulation(SCENE, NewRun({}, 10, timeout_s=1.0))
    with one_slot(queue, results, kind=Sharing):
        assert end_of(desk, run)["state"] == state
