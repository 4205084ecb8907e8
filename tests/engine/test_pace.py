"""Which way of doing steps is chosen: the faster one, looked at again from time to time."""

from __future__ import annotations

import os

import pytest

from cardan.engine.interaction.threads import AGAIN, LARGE, MOST, TRIAL, Pace, threads_for


def ways_of(pace: Pace, alone: float, together: float, steps: int) -> list[int]:
    """The way of each step, where a step takes so long alone or together."""
    ways: list[int] = []
    while len(ways) < steps:
        n, way = pace.steps_before_a_look(), pace.way
        pace.note(n, n * (alone, together)[way])
        ways += [way] * n
    return ways


@pytest.mark.parametrize(("alone", "together"), [(2.0, 1.0), (1.0, 2.0)])
def test_the_faster_way_is_taken_for_most_steps(alone: float, together: float) -> None:
    ways = ways_of(Pace(), alone, together, 10 * AGAIN)
    share = sum(ways) / len(ways)
    assert share > 0.9 if together < alone else share < 0.1


def test_a_scene_that_changes_changes_the_way() -> None:
    pace = Pace()
    ways_of(pace, 2.0, 1.0, 3 * AGAIN)
    ways = ways_of(pace, 1.0, 2.0, 6 * AGAIN)
    assert sum(ways[-2 * AGAIN :]) <= 4 * TRIAL


def test_steps_that_were_not_done_say_nothing() -> None:
    pace = Pace()
    pace.note(0, 1.0)
    assert pace.steps == [0, 0]


def test_auto_takes_the_cores_there_are_for_large_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARDAN_THREADS", raising=False)
    cores = min(MOST, len(os.sched_getaffinity(0)))
    assert threads_for("auto", LARGE) == cores
    assert threads_for("auto", LARGE - 1) == 1
    assert threads_for(3, 10) == 3
    monkeypatch.setenv("CARDAN_THREADS", "2")
    assert threads_for(3, 10) == 2
