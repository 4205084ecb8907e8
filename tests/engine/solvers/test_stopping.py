"""The rules by which iterations stop, and what is said of a solve."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.solvers.stopping import (
    GOES_ON,
    StoppingRules,
    confirmed,
    rule_that_applies,
)
from cardan.engine.world.report import (
    STOPPED_EXACT,
    STOPPED_MAX_ITERATIONS,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
    STOPPED_TOLERANCE,
)


@pytest.mark.parametrize(
    ("residual", "step", "expected"),
    [
        (1e-7, 1e-13, STOPPED_TOLERANCE),
        (1e-5, 1e-13, STOPPED_STALLED),
        (1e-5, 1e-3, GOES_ON),
        (np.inf, 0.0, STOPPED_STALLED),
        (np.nan, np.nan, GOES_ON),
    ],
)
def test_the_first_rule_that_applies(residual, step, expected):
    assert rule_that_applies(StoppingRules(10, 1e-6, 1e-12), residual, step) == expected


def test_a_negative_number_disables_its_rule():
    assert rule_that_applies(StoppingRules(10, -1.0, -1.0), 0.0, 0.0) == GOES_ON


@pytest.mark.parametrize(
    ("ended", "residual", "expected"),
    [
        (STOPPED_EXACT, 1e-12, STOPPED_EXACT),
        (STOPPED_EXACT, 1e-7, STOPPED_TOLERANCE),
        (STOPPED_EXACT, 1e-3, STOPPED_STALLED),
        (STOPPED_TOLERANCE, 1e-3, STOPPED_STALLED),
        (STOPPED_STALLED, 1e-7, STOPPED_TOLERANCE),
        (STOPPED_STALLED, 1e-3, STOPPED_STALLED),
        (STOPPED_MAX_ITERATIONS, 1e-7, STOPPED_TOLERANCE),
        (STOPPED_MAX_ITERATIONS, 1e-3, STOPPED_MAX_ITERATIONS),
        (STOPPED_NO_SOLUTION, 1e-3, STOPPED_NO_SOLUTION),
        (STOPPED_TOLERANCE, np.nan, STOPPED_NO_SOLUTION),
        (STOPPED_EXACT, np.inf, STOPPED_NO_SOLUTION),
    ],
)
def test_what_is_said_is_what_was_measured(ended, residual, expected):
    assert confirmed(ended, residual, 1e-6, 1e-10) == expected
