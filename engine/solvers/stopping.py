"""When iterations stop, and the status of a solve: one set of rules for all methods.

A method ends by the first rule that applies; the report gives the rule that the measured residual
of its answer confirms (`confirmed`).
"""

from __future__ import annotations

from typing import NamedTuple

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.report import (
    STOPPED_EXACT,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
    STOPPED_TOLERANCE,
)

# in place of a STOPPED_... value: no rule applies yet
GOES_ON = -1


class StoppingRules(NamedTuple):
    """Stopping rules, whichever applies first; a negative number disables its rule."""

    max_iterations: int  #                                         -> STOPPED_MAX_ITERATIONS
    residual: float  # m/s or rad/s: largest natural map           -> STOPPED_TOLERANCE
    step: float  # m/s or rad/s: largest scale_i |change of lam_i| -> STOPPED_STALLED


@kernel
def rule_that_applies(rules: StoppingRules, residual: float, step: float) -> int:
    """STOPPED_... of the first rule that applies, else GOES_ON; what was not measured is inf.

    The number of iterations is the loop's own rule.
    """
    if residual <= rules.residual:
        return STOPPED_TOLERANCE
    return STOPPED_STALLED if step <= rules.step else GOES_ON


@kernel
def confirmed(status: int, residual: float, tolerance: float, exact: float) -> int:
    """Status of a solve that ended with `status`, by the residual measured of its answer.

    Reads   residual, tolerance [m/s or rad/s]; exact: residual of an exact answer up to rounding
    Check   tests/engine/solvers/test_stopping.py
    """
    if not residual < LARGEST:
        return STOPPED_NO_SOLUTION
    if status == STOPPED_EXACT and residual <= exact:
        return STOPPED_EXACT
    if residual <= tolerance:
        return STOPPED_TOLERANCE
    return STOPPED_STALLED if status in (STOPPED_EXACT, STOPPED_TOLERANCE) else status
