"""Groups of runs: claimed and ended together, fenced one by one."""

from cardan.service.simulations.pace import MOST_RUNS, Pace
from cardan.service.simulations.rows import Outcome, worker_lost_error
from cardan.service.simulations.states import RunEvent, RunState

WON = Outcome(RunEvent.SUCCEEDED, step=100, summary={"a": 1})
BAD = Outcome(RunEvent.FAILED, step=3, error={"code": "engine_diverged", "message": "m"})
LOST = Outcome(RunEvent.WORKER_LOST, error=worker_lost_error("signal 9"))
RELEASED = Outcome(RunEvent.RELEASED)


def of_five(_batch, _waiting):
    return 5


def test_a_group_is_of_one_batch_and_in_its_order(desk):
    first, second = desk.batch(3), desk.batch(4)
    alone = desk.simulation()
    assert [c.run_id for c in desk.queue.claim_group("me", of_five)] == [alone]
    group = desk.queue.claim_group("me", of_five)
    assert [c.run_id for c in group] == [row["id"] for row in desk.catalog.runs_of(first)]
    assert {c.attempt for c in group} == {1}
    assert [c.overrides for c in group] == [{"/x": 0}, {"/x": 1}, {"/x": 2}]
    group = desk.queue.claim_group("you", of_five)
    assert [c.run_id for c in group] == [row["id"] for row in desk.catalog.runs_of(second)]
    assert desk.queue.claim_group("me", of_five) == []


def test_ends_of_a_group_are_committed_together_and_each_is_fenced(desk):
    batch = desk.batch(4)
    group = desk.queue.claim_group("me", of_five)
    # one lease ends, and somebody else has that run
    desk.queue.finish(group[1], RELEASED)
    other = desk.queue.claim("you")
    assert other.run_id == group[1].run_id
    states = desk.queue.finish_all([(claim, WON) for claim in group])
    assert states == {c.run_id: RunState.SUCCEEDED for c in group if c is not group[1]}
    assert desk.states(batch) == ["succeeded", "starting", "succeeded", "succeeded"]
    assert desk.queue.finish_all([(claim, BAD) for claim in group]) == {}
    assert desk.queue.finish(other, WON) is RunState.SUCCEEDED
    for claim in group:
        told = [event["data"]["status"] for event in desk.catalog.events(claim.run_id)]
        assert told.count("succeeded") == 1


def test_a_lost_worker_costs_one_run_a_loss_and_the_others_an_attempt(desk):
    batch = desk.batch(4)
    group = desk.queue.claim_group("me", of_five)
    outcomes = [WON, LOST, RELEASED, RELEASED]
    desk.queue.finish_all(list(zip(group, outcomes, strict=True)))
    assert desk.states(batch) == ["succeeded", "queued", "queued", "queued"]
    rows = desk.catalog.runs_of(batch)
    assert [row["losses"] for row in rows] == [0, 1, 0, 0]
    # the run that may be the cause starts alone
    assert [c.run_id for c in desk.queue.claim_group("me", of_five)] == [rows[1]["id"]]
    rest = desk.queue.claim_group("me", of_five)
    assert [(c.run_id, c.attempt) for c in rest] == [(rows[2]["id"], 2), (rows[3]["id"], 2)]


def test_a_killed_service_costs_one_run_of_each_group_a_loss(desk):
    first, second = desk.batch(4), desk.batch(3)
    groups = [desk.queue.claim_group(who, lambda _batch, _waiting: 3) for who in "abc"]
    desk.queue.finish(groups[0][0], WON)
    desk.queue.cancel(groups[0][2].run_id)
    claimed = {claim.run_id for group in groups for claim in group} - {groups[0][0].run_id}
    assert set(desk.queue.recover(everything=True)) == claimed
    assert desk.states(first) == ["succeeded", "queued", "cancelled", "queued"]
    assert [row["losses"] for row in desk.catalog.runs_of(first)] == [0, 1, 0, 1]
    assert [row["losses"] for row in desk.catalog.runs_of(second)] == [1, 0, 0]


def test_what_was_not_begun_is_cancelled_by_the_failure_rule(desk):
    batch = desk.batch(6, on_failure="stop")
    group = desk.queue.claim_group("me", lambda _batch, _waiting: 4)
    assert {c.on_failure for c in group} == {"stop"}
    desk.queue.finish_all(list(zip(group, [WON, BAD, RELEASED, RELEASED], strict=True)))
    assert desk.states(batch) == ["succeeded", "failed", *["cancelled"] * 4]


def test_cancelling_a_batch_reaches_runs_of_a_group_and_runs_that_wait(desk):
    batch = desk.batch(5)
    group = desk.queue.claim_group("me", lambda _batch, _waiting: 2)
    assert desk.queue.cancel_batch(batch, "enough")
    assert desk.states(batch) == ["cancelling"] * 2 + ["cancelled"] * 3
    states = desk.queue.renew_all(group, {})
    assert set(states.values()) == {RunState.CANCELLING}
    desk.queue.finish_all([(group[0], WON), (group[1], RELEASED)])
    assert desk.states(batch) == ["succeeded", *["cancelled"] * 4]
    for row in desk.catalog.runs_of(batch)[2:]:
        told = [event["data"]["status"] for event in desk.catalog.events(row["id"])]
        assert told == ["queued", "cancelled"]
        assert row["id"] in desk.changed


def test_max_parallel_counts_workers(desk):
    desk.batch(6, max_parallel=2)
    pairs = [desk.queue.claim_group(who, lambda _batch, _waiting: 2) for who in "ab"]
    assert [len(pair) for pair in pairs] == [2, 2]
    assert desk.queue.claim_group("c", of_five) == []
    desk.queue.finish_all([(claim, WON) for claim in pairs[0]])
    assert len(desk.queue.claim_group("c", of_five)) == 2


def test_a_group_is_about_a_second_of_work():
    pace = Pace(slots=2)
    assert pace.group_size("b", 1000) == 1
    pace.note("b", seconds=0.5, runs=50)
    assert pace.group_size("b", 1000) == 100
    assert pace.group_size("b", 30) == 15, "others have work too"
    assert pace.group_size("b", 1) == 1
    pace.note("b", seconds=30.0, runs=1)
    assert pace.group_size("b", 1000) == 1
    pace.note("b", seconds=0.0, runs=10)
    assert pace.group_size("b", 10_000) == MOST_RUNS


def test_a_recording_is_adopted_by_the_run_that_lacks_it(desk):
    run = desk.simulation()
    assert not desk.queue.adopt_result(run, "made")
    desk.queue.finish(desk.queue.claim("me"), WON)
    assert desk.queue.adopt_result(run, "made")
    assert desk.queue.adopt_result(run, "made")
    assert not desk.queue.adopt_result(run, "another")
    assert desk.catalog.run(run)["result"] == "made"
