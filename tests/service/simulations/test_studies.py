"""Studies go on whatever happens while their next evaluations are being looked for."""

from contextlib import contextmanager

import pytest
from sqlalchemy.exc import TimeoutError as AllInUseError

from cardan.service.compute.messages import Searched
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.simulations.admission import NewBatch, NewRun, NewStudy
from cardan.service.simulations.rows import Outcome
from cardan.service.simulations.states import RunEvent
from cardan.service.studies.coordinator import Studies
from cardan.service.studies.rows import StudyRows
from tests.service.real_server import wait_for
from tests.service.simulations.conftest import SCENE

WON = Outcome(RunEvent.SUCCEEDED, step=10, summary={"measures": {}})
BEST = {"run": 0, "values": {"/x": 0}, "objective": 1.0, "feasible": True}
MORE = Searched(BEST, [{"/x": 2}, {"/x": 3}])
OVER = Searched(BEST, [], "It is good enough.")


class Search:
    """Answers of the search, one after another; one may be an error, or what happens meanwhile."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def wait_for_answer(self, _order):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer


@pytest.fixture
def study(desk):
    """A study whose first two evaluations have ended."""
    batch = NewBatch("s", ["/x"], [], None, "continue", "metrics")
    new = NewStudy("s", {}, "nelder_mead")
    study_id = desk.admission.study(SCENE, new, batch, [NewRun({"/x": k}, 10) for k in range(2)])
    for _ in range(2):
        desk.queue.finish(desk.queue.claim("me"), WON)
    return study_id


@contextmanager
def looking_after(desk, rows, search):
    """Studies of a desk, whose search answers so."""
    studies = Studies(rows, desk.catalog, desk.queue, desk.admission, search, lambda: True)
    studies.start()
    try:
        yield studies
    finally:
        studies.stop()


def row_of(rows, study_id):
    row = rows.get(study_id)
    assert row is not None
    return row


def end_of(rows, study_id):
    return wait_for(
        lambda: (now := row_of(rows, study_id))["finished_at"] and now, 20, "the end of the study"
    )


def test_a_study_whose_batch_is_cancelled_during_the_search_ends(desk, study):
    rows = StudyRows(desk.open())
    batch = row_of(rows, study)["batch_id"]

    def cancelled_meanwhile():
        assert desk.queue.cancel_batch(batch, "Cancelled on request.")
        return MORE

    with looking_after(desk, rows, Search(cancelled_meanwhile)):
        assert end_of(rows, study)["state"] == "cancelled"
    # nobody would take runs of a batch that was stopped
    assert desk.states(batch) == ["succeeded"] * 2
    assert desk.catalog.batch_progress(desk.catalog.batch(batch))["finished_at"] is not None


@pytest.mark.parametrize("code", [ErrorCode.WARMING_UP, ErrorCode.ENGINE_NOT_READY])
def test_a_study_waits_for_kernels_that_are_being_compiled(desk, study, code):
    rows = StudyRows(desk.open())
    with looking_after(desk, rows, Search(ServiceError(code, "They come."), OVER)):
        ended = end_of(rows, study)
    assert (ended["state"], ended["reason"], ended["error"]) == ("succeeded", OVER.reason, None)


def test_a_search_that_is_too_slow_is_tried_again_but_not_for_ever(desk, study):
    rows = StudyRows(desk.open())
    # as when the machine stood still
    late = ServiceError(ErrorCode.COMPUTE_TIMED_OUT, "There was no answer.")
    with looking_after(desk, rows, Search(late, late, MORE, late, late, late)):
        wait_for(lambda: len(desk.states(row_of(rows, study)["batch_id"])) == 4, 20, "more runs")
        for _ in range(2):
            desk.queue.finish(desk.queue.claim("me"), WON)
        ended = end_of(rows, study)
    assert (ended["state"], ended["error"]["code"]) == ("failed", "compute_timed_out")
    assert ended["best"]["run"] == BEST["run"]


class BusyRows(StudyRows):
    """At first all connections to the database are in use."""

    def __init__(self, engine):
        super().__init__(engine)
        self.busy = ["open", "counts"]

    def _refuse(self, name):
        if self.busy and self.busy[0] == name:
            self.busy.pop(0)
            raise AllInUseError("QueuePool limit of size 5 overflow 10 reached")

    def open(self):
        self._refuse("open")
        return super().open()

    def counts(self, batch_id):
        self._refuse("counts")
        return super().counts(batch_id)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_busy_database_ends_neither_a_study_nor_the_thread_of_all(desk, study):
    rows = BusyRows(desk.open())
    with looking_after(desk, rows, Search(OVER)):
        assert end_of(rows, study)["state"] == "succeeded"
    assert not rows.busy


def test_who_follows_a_study_hears_that_it_is_being_cancelled(desk, study):
    rows = StudyRows(desk.open())
    batch = row_of(rows, study)["batch_id"]
    assert desk.admission.extend(batch, 2, [{"/x": 2}], None)
    claim = desk.queue.claim("me")
    with looking_after(desk, rows, Search()) as studies:
        wait_for(lambda: study in desk.changed, 20, "the first look")
        desk.changed.clear()
        # its only run is being computed: no count changes until it has stopped
        assert rows.cancel(study)
        studies.look()
        wait_for(lambda: study in desk.changed, 20, "a word of the cancellation")
        assert row_of(rows, study)["state"] == "cancelling"
        assert desk.queue.finish(claim, WON)
        assert end_of(rows, study)["state"] == "cancelled"
