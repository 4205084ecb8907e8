"""Projected Gauss-Seidel and SOR on a System, with the residual as stopping criterion.

pgs.py does not measure the residual, which is too costly for steps with thousands of contacts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.sweeps.system import (
    make_admissible,
    measure,
    note,
    start_sweeps,
    sweep,
    wants_history,
)
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from cardan.engine.solvers.sweeps.system import System


@kernel
def iterate_sweeps(
    system: System, max_iterations: int, tolerance: float, relaxation: float
) -> tuple[int, int]:
    """Sweep until the residual is at most `tolerance`; return STOPPED_..., sweeps.

    The residual is measured when a sweep changed no more than `tolerance`, or a history is kept.

    Writes  problem.lam, system.history
    Source  Saad 2003, 4.1, with projection
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    make_admissible(system)
    start_sweeps(system)
    for k in range(max_iterations):
        change = sweep(system, relaxation)
        if change <= tolerance or wants_history(system, k):
            error = measure(system)
            note(system, k, error)
            if error <= tolerance:
                return STOPPED_TOLERANCE, k + 1
    return STOPPED_MAX_ITERATIONS, max_iterations
