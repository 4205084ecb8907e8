"""Report of a step: status, solver and timing; cleared by the next step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

CONTACTS_FULL = 1
NOT_FINITE = 4
DENSE_FULL = 8
PAIRS_FULL = 16
EVENTS_FULL = 32
SAMPLES_FULL = 64
# a trigger fired: its commands are due
TRIGGERED = 128


# report.solver_status
STOPPED_TOLERANCE, STOPPED_MAX_ITERATIONS, STOPPED_EXACT, STOPPED_STALLED, STOPPED_NO_SOLUTION = (
    0,
    1,
    2,
    3,
    4,
)
# their names
STOP_REASONS = ("tolerance", "max_iterations", "exact", "stalled", "no_solution")

# report.phase_ns
(
    PHASE_MOVE,
    PHASE_BROAD,
    PHASE_NARROW,
    PHASE_ROWS,
    PHASE_ASSEMBLE,
    PHASE_SOLVE,
    PHASE_APPLY,
    N_PHASES,
) = range(8)


@struct
class Report(NamedTuple):
    """Status, solver results and timing of one step."""

    status: NDArray  # (1,) int64            bits of report.py
    bad_body: NDArray  # (1,) int64          first body with a value that is not finite, else -1
    islands: NDArray  # (1,) int64           number of independent problems solved
    method: NDArray  # (1,) int64            SolverMethod that was used, on the largest island
    methods: NDArray  # (1,) int64           bits 1 << SolverMethod of all islands and steps so far
    solver_status: NDArray  # (1,) int64     STOPPED_..., the worst
    iterations: NDArray  # (1,) int64        of all islands
    residual: NDArray  # (1,) m/s            natural map of the Coulomb law, see problem/residual.py
    coulomb_error: NDArray  # (1,) m/s       natural map on the cone with De Saxce's correction
    phase_ns: NDArray  # (8,) int64 ns       cumulative over timed steps, by PHASE_...
    timed_steps: NDArray  # (1,) int64       number of timed steps
    watched: NDArray  # (1,) int64           1: this step is timed
    steps_asked: NDArray  # (1,) int64       steps that a call of `advance` is to do
    steps_begun: NDArray  # (1,) int64       of these, begun so far
