"""Phases are timed in few of many steps, and in all of few."""

from __future__ import annotations

import pytest

from cardan.engine.build.report import empty_report
from cardan.engine.simulation import Simulation
from cardan.engine.step.timing import (
    TIMED_EVERY,
    begin_timing,
    choose_timed,
    read_clock,
    record_phase,
)
from cardan.engine.world.report import PHASE_SOLVE
from cardan.schemas import load_scene
from cardan.schemas.examples import example_text


def timed(n_steps: int) -> list[int]:
    """Which of n_steps steps are timed."""
    report = empty_report()
    begin_timing(report, n_steps)
    found = []
    for done in range(n_steps):
        choose_timed(report)
        if report.watched[0] == 1:
            found.append(done)
    assert report.timed_steps[0] == len(found)
    return found


@pytest.mark.parametrize("n_steps", [1, 2, TIMED_EVERY - 1])
def test_all_of_few(n_steps: int) -> None:
    assert timed(n_steps) == list(range(n_steps))


def test_few_of_many() -> None:
    assert len(timed(10 * TIMED_EVERY)) == 10


def test_laps_are_booked_in_timed_steps_only() -> None:
    report = empty_report()
    record_phase(report, PHASE_SOLVE, read_clock(report))
    assert (report.phase_ns == 0).all()
    report.watched[0] = 1
    began = read_clock(report)
    ended = record_phase(report, PHASE_SOLVE, began)
    assert began > 0
    assert report.phase_ns[PHASE_SOLVE] == ended - began


def test_a_simulation_tells_the_mean_of_the_steps_that_were_timed() -> None:
    simulation = Simulation(load_scene(example_text("box-tower")))
    simulation.advance(4 * TIMED_EVERY)
    assert simulation.report.timed_steps[0] == 4
    phases = simulation.solver_report()["phases"]
    assert 1e-3 * simulation.report.phase_ns[PHASE_SOLVE] / 4 == pytest.approx(phases["solve"])
