"""Time spent in each phase of a step.

Reading the clock costs as much as a small phase: in a long run only every eighth step is timed.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import clock_ns, kernel
from cardan.engine.world.report import Report

# one step of so many is timed; in runs that are shorter all are
TIMED_EVERY = 8


def begin_timing(report: Report, n_steps: int) -> None:
    """Prepare to time some of the next n_steps steps, from nothing."""
    for counts in (report.phase_ns, report.timed_steps, report.steps_begun):
        counts.fill(0)
    report.steps_asked.fill(n_steps)


@kernel
def choose_timed(report: Report) -> None:
    """Decide whether the next of the steps that were asked for is timed.

    Reads   report.steps_asked
    Writes  report.steps_begun, watched, timed_steps
    """
    report.steps_begun[0] += 1
    due = report.steps_asked[0] < TIMED_EVERY or report.steps_begun[0] % TIMED_EVERY == 0
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
