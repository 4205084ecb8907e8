import threading
from dataclasses import replace

import pytest
from sqlalchemy import Select

from cardan.service.simulations.admission import QueueFullError
from cardan.service.simulations.rows import Outcome, worker_lost_error
from cardan.service.simulations.states import RunEvent, RunState
from tests.service.simulations.one_by_one import Queue

WON = Outcome(RunEvent.SUCCEEDED, step=100, summary={"a": 1}, result="folder")
BAD = Outcome(RunEvent.FAILED, step=3, error={"code": "engine_diverged", "message": "m"})
LOST = Outcome(RunEvent.WORKER_LOST, error=worker_lost_error("signal 9"))


def test_a_run_goes_from_the_queue_to_its_result(desk):
    run = desk.simulation(name="first")
    claim = desk.queue.claim("me")
    assert (claim.run_id, claim.attempt, desk.state(run)) == (run, 1, "starting")
    assert desk.queue.started(claim, 100)
    assert desk.queue.renew(claim, 40, 2.5) is RunState.RUNNING
    row = desk.catalog.run(run)
    assert (row["step"], row["real_time_factor"]) == (40, 2.5)
    assert desk.queue.finish(claim, WON) is RunState.SUCCEEDED
    row = desk.catalog.run(run)
    assert (row["summary"], row["result"], row["step"]) == ({"a": 1}, "folder", 100)
    assert row["owner"] is None
    told = [event["data"]["status"] for event in desk.catalog.events(run)]
    assert told == ["queued", "starting", "running", "succeeded"]
    assert run in desk.changed


def test_runs_start_in_order_and_simulations_before_batches(desk):
    batch = desk.batch(2)
    first, second = desk.simulation(), desk.simulation()
    claimed = [desk.queue.claim("me").run_id for _ in range(4)]
    assert claimed == [first, second, *[row["id"] for row in desk.catalog.runs_of(batch)]]
    assert desk.queue.claim("me") is None


def test_positions_count_from_the_front(desk):
    runs = [desk.simulation() for _ in range(3)]
    rows = [desk.catalog.run(run) for run in runs]
    assert desk.catalog.positions(rows) == {runs[0]: 0, runs[1]: 1, runs[2]: 2}
    desk.queue.claim("me")
    rows = [desk.catalog.run(run) for run in runs]
    assert desk.catalog.positions(rows) == {runs[1]: 0, runs[2]: 1}
    assert desk.catalog.positions(rows[:1]) == {}


def test_the_fenced_cannot_write(desk):
    run = desk.simulation()
    old = desk.queue.claim("slow")
    desk.queue.started(old, 100)
    # its lease ends; somebody else takes the run
    assert desk.queue.recover(everything=True) == [run]
    new = desk.queue.claim("quick")
    assert new.attempt == 2
    assert new.folder != old.folder
    assert desk.queue.renew(old, 50) is None
    assert not desk.queue.started(old, 100)
    assert desk.queue.finish(old, WON) is None
    assert desk.state(run) == "starting"
    assert desk.queue.finish(new, WON) is RunState.SUCCEEDED
    assert desk.queue.finish(new, BAD) is None, "an end is committed once"


def test_leases_that_ended_are_taken_back_and_others_are_not(desk):
    run = desk.simulation()
    desk.queue.claim("me")
    assert desk.queue.recover(everything=False) == []
    short = Queue(desk.open(), lease_s=-1.0)
    other = desk.simulation()
    claim = short.claim("gone")
    assert claim is not None
    assert claim.run_id == other
    assert short.recover(everything=False) == [other]
    assert desk.state(run) == "starting"


def test_a_service_takes_no_runs_from_itself_whatever_the_clock_says(desk):
    queue = Queue(desk.open(), lease_s=-3600.0)
    run = desk.simulation()
    claim = queue.claim("service_a/0")
    assert claim is not None
    assert queue.recover(everything=False, slot="service_a/1") == []
    assert queue.renew(claim) is RunState.STARTING
    assert queue.recover(everything=False, slot="service_b/0") == [run]


def test_lost_workers_are_forgiven_twice(desk):
    run = desk.simulation()
    for attempt in (1, 2):
        claim = desk.queue.claim("me")
        assert claim.attempt == attempt
        assert desk.queue.finish(claim, LOST) is RunState.QUEUED
    assert desk.queue.finish(desk.queue.claim("me"), LOST) is RunState.FAILED
    assert desk.catalog.run(run)["error"]["code"] == "worker_lost"


def test_a_lost_worker_that_made_a_checkpoint_does_not_count(desk):
    run = desk.simulation()
    came_on = replace(LOST, progressed=True)
    for _ in range(10):
        assert desk.queue.finish(desk.queue.claim("me"), came_on) is RunState.QUEUED
    for _ in range(2):
        assert desk.queue.finish(desk.queue.claim("me"), LOST) is RunState.QUEUED
    assert desk.queue.finish(desk.queue.claim("me"), came_on) is RunState.QUEUED
    # progress makes good for the losses before it
    for _ in range(2):
        assert desk.queue.finish(desk.queue.claim("me"), LOST) is RunState.QUEUED
    assert desk.queue.finish(desk.queue.claim("me"), LOST) is RunState.FAILED
    assert desk.catalog.run(run)["error"]["code"] == "worker_lost"


def test_a_killed_service_counts_no_loss_of_runs_with_a_checkpoint(desk):
    engine = desk.open()
    kept, begun = desk.simulation(), desk.simulation()
    queue = Queue(engine, most_losses=0, progressed=lambda run, n: (run, n) == (kept, 1))
    claims = [queue.claim(who) for who in ("me", "another")]
    assert {claim.run_id for claim in claims if claim is not None} == {kept, begun}
    assert set(queue.recover(everything=True)) == {kept, begun}
    assert (desk.state(kept), desk.state(begun)) == ("queued", "failed")


def test_a_release_counts_as_no_loss(desk):
    desk.simulation()
    for _ in range(5):
        claim = desk.queue.claim("me")
        assert desk.queue.finish(claim, Outcome(RunEvent.RELEASED)) is RunState.QUEUED


def test_physics_is_not_tried_again(desk):
    run = desk.simulation()
    assert desk.queue.finish(desk.queue.claim("me"), BAD) is RunState.FAILED
    assert desk.queue.claim("me") is None
    assert desk.catalog.run(run)["error"]["code"] == "engine_diverged"


def test_cancelling_is_seen_by_the_owner_and_ends_when_it_stops(desk):
    run = desk.simulation()
    claim = desk.queue.claim("me")
    desk.queue.started(claim, 100)
    assert desk.queue.cancel(run) is RunState.CANCELLING
    assert desk.queue.renew(claim, 10) is RunState.CANCELLING
    stopped = Outcome(RunEvent.CANCELLED, step=10, error={"code": "cancelled"}, result="part")
    assert desk.queue.finish(claim, stopped) is RunState.CANCELLED
    assert desk.catalog.run(run)["result"] == "part"
    assert desk.queue.cancel(run) is RunState.CANCELLED
    assert desk.queue.cancel("sim_unknown") is None


def test_a_waiting_run_is_cancelled_at_once(desk):
    run = desk.simulation()
    assert desk.queue.cancel(run) is RunState.CANCELLED
    assert desk.queue.claim("me") is None


def test_two_owners_never_claim_the_same_run(desk):
    runs = {desk.simulation() for _ in range(40)}
    claimed, lock = [], threading.Lock()

    def work(number):
        queue = Queue(desk.open())
        while (claim := queue.claim(f"owner {number}")) is not None:
            with lock:
                claimed.append(claim.run_id)
            queue.finish(claim, WON)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == 40
    assert set(claimed) == runs


def test_max_parallel_holds_a_batch_back(desk):
    batch = desk.batch(4, max_parallel=2)
    first = desk.queue.claim("a")
    assert desk.queue.claim("b")
    assert desk.queue.claim("c") is None
    desk.queue.finish(first, WON)
    assert desk.queue.claim("c")
    assert desk.states(batch).count("starting") == 2


def test_stop_after_two_failures_cancels_what_waits(desk):
    batch = desk.batch(5, on_failure="stop_after:2")
    for _ in range(2):
        desk.queue.finish(desk.queue.claim("me"), BAD)
    assert desk.states(batch) == ["failed", "failed", "cancelled", "cancelled", "cancelled"]
    assert desk.queue.claim("me") is None
    row = desk.catalog.batch(batch)
    assert "2 of its runs failed" in row["stop_reason"]
    assert desk.catalog.batch_progress(row)["status"] == "failed"


def test_what_comes_back_to_a_stopped_batch_is_cancelled(desk):
    # a group of four: two fail, and what was not begun comes back in a later transaction
    batch = desk.batch(6, on_failure="stop_after:2")
    claims = desk.queue.claim_group("me", lambda _batch, _waiting: 4)
    other = desk.queue.claim("another")
    states = desk.queue.finish_all([(claim, BAD) for claim in claims[:2]])
    last = desk.catalog.runs_of(batch)[-1]["id"]
    assert states[last] is RunState.CANCELLED
    assert desk.states(batch) == ["failed"] * 2 + ["starting"] * 3 + ["cancelled"]
    released = Outcome(RunEvent.RELEASED)
    states = desk.queue.finish_all([(claim, released) for claim in claims[2:]])
    assert set(states.values()) == {RunState.CANCELLED}
    # the other worker is lost: nobody would take its run
    assert desk.queue.finish(other, LOST) is RunState.CANCELLED
    assert desk.states(batch) == ["failed"] * 2 + ["cancelled"] * 4
    assert desk.catalog.batch_progress(desk.catalog.batch(batch))["status"] == "failed"
    for run in [*(claim.run_id for claim in claims[2:]), other.run_id, last]:
        assert desk.catalog.events(run)[-1]["data"]["status"] == "cancelled"
        assert "2 of its runs failed" in desk.catalog.run(run)["error"]["message"]


def test_a_success_after_the_stop_starts_nothing_again(desk):
    # the first five fail alike; then a sixth, of another worker, succeeds
    batch = desk.batch(8)
    slow, lost = desk.queue.claim("slow"), desk.queue.claim("lost")
    for _ in range(5):
        desk.queue.finish(desk.queue.claim("me"), BAD)
    desk.queue.finish(slow, WON)
    desk.queue.finish(lost, LOST)
    assert desk.states(batch) == ["succeeded", "cancelled"] + ["failed"] * 5 + ["cancelled"]


def test_the_breaker_stops_a_batch_that_only_fails(desk):
    batch = desk.batch(9)
    row = desk.catalog.batch(batch)
    for _ in range(5):
        desk.queue.finish(desk.queue.claim("me"), BAD)
    assert desk.states(batch).count("cancelled") == 4
    # whoever read its row while it ran sees why it is over, as soon as it is
    found = desk.catalog.batch_progress(row)
    assert (row["stop_reason"], found["status"]) == (None, "failed")
    assert "its first 5 runs all failed" in found["stop_reason"]


def test_a_batch_begins_with_its_first_run_and_is_over_with_its_last(desk):
    batch = desk.catalog.batch(desk.batch(3))

    def times():
        found = desk.catalog.batch_progress(batch)
        return found["started_at"], found["finished_at"]

    assert times() == (None, None)
    claims = [desk.queue.claim("me") for _ in range(3)]
    first = desk.catalog.run(claims[0].run_id)["started_at"]
    for claim in reversed(claims):
        assert times() == (first, None)
        desk.queue.finish(claim, WON)
    assert times() == (first, desk.catalog.run(claims[0].run_id)["finished_at"])


def test_a_cancelled_batch_starts_nothing_and_can_be_retried(desk):
    batch = desk.batch(3)
    claim = desk.queue.claim("me")
    assert desk.queue.cancel_batch(batch, "enough")
    assert desk.states(batch) == ["cancelling", "cancelled", "cancelled"]
    assert desk.catalog.batch_progress(desk.catalog.batch(batch))["status"] == "cancelling"
    desk.queue.finish(claim, WON)
    assert desk.queue.retry_failed(batch, desk.admission.reserve_capacity) == []
    assert desk.states(batch) == ["succeeded", "queued", "queued"]
    again = desk.catalog.runs_of(batch)[1]["id"]
    told = [event["data"]["status"] for event in desk.catalog.events(again)]
    assert told == ["queued", "cancelled", "queued"]
    assert desk.changed.count(again) == 2
    assert desk.queue.claim("me").attempt == 1
    assert desk.queue.retry_failed("batch_unknown", desk.admission.reserve_capacity) is None


def test_a_batch_that_has_ended_is_not_cancelled(desk):
    batch = desk.batch(1)
    desk.queue.finish(desk.queue.claim("me"), WON)
    assert not desk.queue.cancel_batch(batch, "too late")
    assert desk.catalog.batch_progress(desk.catalog.batch(batch))["stop_reason"] is None
    assert not desk.queue.cancel_batch("batch_unknown", "too late")


def test_a_retried_run_gives_its_old_result_away(desk):
    batch = desk.batch(1)
    failed = Outcome(RunEvent.FAILED, error={"code": "c"}, result="old-1")
    desk.queue.finish(desk.queue.claim("me"), failed)
    assert desk.queue.retry_failed(batch, desk.admission.reserve_capacity) == ["old-1"]
    assert desk.queue.referenced_results() == frozenset()
    assert desk.queue.claim("me").attempt == 2


def test_capacity_is_reserved_when_retried(desk):
    batch = desk.batch(2)
    desk.queue.cancel_batch(batch, "enough")
    full = desk.batch(49)
    with pytest.raises(QueueFullError, match="49 runs wait"):
        desk.queue.retry_failed(batch, desk.admission.reserve_capacity)
    assert desk.states(batch) == ["cancelled"] * 2
    assert desk.catalog.batch_progress(desk.catalog.batch(batch))["stop_reason"] == "enough"
    # nothing to do again takes no room
    assert desk.queue.retry_failed(full, desk.admission.reserve_capacity) == []


def test_capacity_is_reserved_when_admitted(desk):
    desk.batch(49)
    desk.simulation()
    with pytest.raises(QueueFullError, match="50 runs wait"):
        desk.simulation()
    with pytest.raises(QueueFullError):
        desk.batch(2)
    desk.queue.claim("me")
    desk.simulation()


def test_only_ended_runs_are_removed(desk):
    run = desk.simulation()
    assert desk.catalog.remove_run(run) is None
    desk.queue.finish(desk.queue.claim("me"), WON)
    assert desk.catalog.remove_run(run) == ["folder"]
    assert desk.catalog.run(run) is None
    assert desk.catalog.events(run) == []


def test_what_is_committed_survives_another_opening(desk):
    run = desk.simulation()
    desk.queue.finish(desk.queue.claim("me"), WON)
    again = Queue(desk.open())
    assert again.referenced_results() == {"folder"}
    assert again.claim("me") is None
    assert run


def test_lost_workers_never_trip_the_breaker(desk):
    batch = desk.batch(7)
    for _ in range(6 * 3):
        assert desk.queue.finish(desk.queue.claim("me"), LOST)
    assert desk.states(batch) == ["failed"] * 6 + ["queued"]
    assert desk.catalog.batch(batch)["stop_reason"] is None


def test_a_lost_worker_is_no_failure_that_stops_a_batch(desk):
    batch = desk.batch(3, on_failure="stop")
    for _ in range(3):
        desk.queue.finish(desk.queue.claim("me"), LOST)
    assert desk.states(batch) == ["failed", "queued", "queued"]
    desk.queue.finish(desk.queue.claim("me"), BAD)
    assert desk.states(batch) == ["failed", "failed", "cancelled"]


def test_looking_for_work_makes_no_statement_and_a_start_calls_nobody(desk, monkeypatch):
    run_id = desk.simulation()
    claim = desk.queue.claim("a")
    desk.queue.claim("b")
    desk.queue.recover(everything=False)
    made = []
    monkeypatch.setattr(Select, "__init__", lambda *_, **__: made.append(1))
    # every slot does this at every turn: making the statements costs ten times their execution
    assert desk.queue.claim("b") is None
    assert desk.queue.recover(everything=False) == []
    assert not made
    monkeypatch.undo()
    desk.changed.clear()
    desk.queue.wake.clear()
    assert desk.queue.started(claim, 100)
    assert run_id in desk.changed
    assert not desk.queue.wake.is_set()
    desk.queue.finish(claim, Outcome(RunEvent.SUCCEEDED))
    assert desk.queue.wake.is_set()
