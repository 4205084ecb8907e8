"""Where the time of a step goes, by phases.

A look at the clock costs as much as a small phase: in a long run only every few steps are timed.
"""

from __future__ import annotations

from engine.kernel import clock_ns, kernel
from engine.world.report import Report

# one step of so many is timed; in runs that are shorter all are
TIMED_EVERY = 8


@kernel
def watch_step(report: Report, done: int, n_steps: int) -> None:
    """Whether the step after `done` of n_steps is timed.

    Writes  report.watched, timed_steps
    """
    due = n_steps < TIMED_EVERY or done % TIMED_EVERY == TIMED_EVERY - 1
    report.watched[0] = 1 if due else 0
    report.timed_steps[0] += report.watched[0]


@kernel
def look_at_clock(report: Report) -> int:
    """Now [ns] in a step that is timed, else 0."""
    return clock_ns() if report.watched[0] == 1 else 0


@kernel
def lap(report: Report, phase: int, since: int) -> int:
    """Book the time since `since` [ns] under a phase; returns now."""
    now = look_at_clock(report)
    report.phase_ns[phase] += now - since
    return now
