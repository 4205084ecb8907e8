"""Time spent in each phase of a step.

Reading the clock costs as much as a small phase: in a long run only every eighth step is timed.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import clock_ns, kernel
from cardan.engine.world.report import Report

# one step of so many is timed; in runs that are shorter all are
TIMED_EVERY = 8


@kernel
def choose_timed(report: Report, done: int, n_steps: int) -> None:
    """Decide whether the step after `done` of n_steps is timed.

    Writes  report.watched, timed_steps
    """
    due = n_steps < TIMED_EVERY or done % TIMED_EVERY == TIMED_EVERY - 1
    report.watched[0] = 1 if due else 0
    report.timed_steps[0] += report.watched[0]


@kernel
def read_clock(report: Report) -> int:
    """Now [ns] in a step that is timed, else 0."""
    return clock_ns() if report.watched[0] == 1 else 0


@kernel
def record_phase(report: Report, phase: int, since: int) -> int:
    """Add the time since `since` [ns] to a phase; returns now."""
    now = read_clock(report)
    report.phase_ns[phase] += now - since
    return now
