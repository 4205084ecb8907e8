"""The loop of Gauss-Seidel and SOR on a System: sweep until a stopping rule applies.

The residual is measured only where a rule asks for it: steps with thousands of contacts end by the
change of a sweep alone.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.gradient.apgd import METRIC, SHIFT, relaxed_error, write_metric
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.matrix import MatrixProblem, sweep_relaxed
from cardan.engine.solvers.sweeps.system import (
    law_of,
    make_admissible,
    measure,
    multiply,
    note,
    start_sweeps,
    sweep,
    wants_history,
)
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from cardan.engine.solvers.sweeps.system import System


@kernel
def _start_relaxed(system: System) -> None:
    """Write the metric of the relaxed error, without De Saxce's shift."""
    write_metric(system.problem, system.x[METRIC])
    for i in range(system.problem.count[0]):
        system.x[SHIFT][i] = 0.0


@kernel
def _measure_relaxed(system: System) -> float:
    """Error of the relaxation at the current impulses [m/s or rad/s]; problem.w is scratch."""
    multiply(system, system.problem.lam, system.problem.w)
    return relaxed_error(system)


@kernel
def iterate_sweeps(
    system: System, rules: StoppingRules, relaxation: float, coulomb: int
) -> tuple[int, int]:
    """Sweep until a rule applies; return STOPPED_..., sweeps.

    The residual is measured when a sweep changed no more than its rule, or a history is kept.

    Reads   problem.lam   guess;   coulomb   1: Coulomb's law, 0: its convex relaxation on a matrix
    Writes  problem.lam, system.history; problem.w, lo and hi of tangents, system.v are scratch
    Source  Saad 2003, 4.1, with projection
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    make_admissible(system)
    if coulomb == 1:
        start_sweeps(system)
    else:
        _start_relaxed(system)
    for k in range(rules.max_iterations):
        if coulomb == 1:
            change = sweep(system, relaxation)
        else:
            problem = MatrixProblem(law_of(system), system.matrix)
            change = sweep_relaxed(problem, relaxation)
        error = inf
        if change <= rules.residual or wants_history(system, k):
            error = measure(system) if coulomb == 1 else _measure_relaxed(system)
            note(system, k, error)
        status = rule_that_applies(rules, error, change)
        if status != GOES_ON:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
