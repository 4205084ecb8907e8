import pytest

from cardan.service.simulations.states import (
    ACTIVE,
    TERMINAL,
    FailureRule,
    RunEvent,
    RunState,
    batch_state,
    next_state,
)

S, E = RunState, RunEvent


def test_ended_runs_never_change():
    for state in TERMINAL:
        for event in RunEvent:
            assert next_state(state, event, losses_left=9) is None


def test_every_active_state_has_an_answer_to_every_end():
    for state in ACTIVE:
        for event in (E.SUCCEEDED, E.FAILED, E.TIMED_OUT, E.WORKER_LOST, E.RELEASED):
            assert next_state(state, event, losses_left=1) is not None


def test_cancel_tells_the_truth():
    assert next_state(S.QUEUED, E.CANCEL_REQUESTED) is S.CANCELLED
    assert next_state(S.RUNNING, E.CANCEL_REQUESTED) is S.CANCELLING
    assert next_state(S.CANCELLING, E.CANCELLED) is S.CANCELLED
    # the worker was faster than the wish
    assert next_state(S.CANCELLING, E.SUCCEEDED) is S.SUCCEEDED
    # nobody may be cancelled who was not told to stop
    assert next_state(S.RUNNING, E.CANCELLED) is None


def test_only_lost_workers_are_tried_again():
    assert next_state(S.RUNNING, E.WORKER_LOST, losses_left=1) is S.QUEUED
    assert next_state(S.RUNNING, E.WORKER_LOST, losses_left=0) is S.FAILED
    assert next_state(S.CANCELLING, E.WORKER_LOST, losses_left=1) is S.CANCELLED
    assert next_state(S.RUNNING, E.FAILED, losses_left=9) is S.FAILED


def test_a_claimed_run_cannot_be_claimed_again():
    assert next_state(S.STARTING, E.CLAIMED) is None
    assert next_state(S.RUNNING, E.CLAIMED) is None


@pytest.mark.parametrize(
    ("counts", "stopping", "expected"),
    [
        ({S.QUEUED: 3}, False, "queued"),
        ({S.QUEUED: 2, S.SUCCEEDED: 1}, False, "running"),
        ({S.RUNNING: 1}, False, "running"),
        ({S.RUNNING: 1, S.CANCELLED: 2}, True, "cancelling"),
        ({S.SUCCEEDED: 3}, False, "succeeded"),
        ({S.SUCCEEDED: 1, S.FAILED: 2}, False, "partially_succeeded"),
        ({S.SUCCEEDED: 1, S.CANCELLED: 2}, True, "partially_succeeded"),
        ({S.FAILED: 2, S.CANCELLED: 1}, True, "failed"),
        ({S.CANCELLED: 3}, True, "cancelled"),
    ],
)
def test_state_of_a_batch(counts, stopping, expected):
    assert batch_state(counts, stopping=stopping) == expected


@pytest.mark.parametrize("text", ["never", "stop_after:0", "stop_after:", "stop_after:x", ""])
def test_unknown_failure_rules_are_refused(text):
    with pytest.raises(ValueError, match="stop_after"):
        FailureRule.parse(text)


def test_failure_rules():
    one, other = frozenset({"a"}), frozenset({"a", "b"})
    assert FailureRule.parse("stop").stops(1, 7, one)
    assert not FailureRule.parse("stop_after:3").stops(2, 0, one)
    assert FailureRule.parse("stop_after:3").stops(3, 9, other)
    keep = FailureRule.parse("continue")
    assert not keep.stops(4, 0, one)
    assert keep.stops(5, 0, one), "the first five fail alike"
    assert not keep.stops(5, 1, one), "one has succeeded: the batch itself is right"
    assert not keep.stops(5, 0, other), "they fail for different reasons"
