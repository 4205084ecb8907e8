"""Arrays for the report of a step."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.report import N_PHASES, Report


def empty_report() -> Report:
    """An empty report."""
    return Report(
        status=np.zeros(1, np.int64),
        bad_body=np.full(1, -1, np.int64),
        islands=np.zeros(1, np.int64),
        method=np.zeros(1, np.int64),
        methods=np.zeros(1, np.int64),
        solver_status=np.zeros(1, np.int64),
        iterations=np.zeros(1, np.int64),
        residual=np.zeros(1),
        coulomb_error=np.zeros(1),
        phase_ns=np.zeros(N_PHASES + 1, np.int64),
        timed_steps=np.zeros(1, np.int64),
        watched=np.zeros(1, np.int64),
        steps_asked=np.zeros(1, np.int64),
        steps_begun=np.zeros(1, np.int64),
    )
