"""Nonsmooth nonlinear conjugate gradients (NNCG) on Gauss-Seidel sweeps.

The change -g of lam by a sweep serves as the negative gradient of the objective, and is conjugated
after Fletcher and Reeves:

    beta = |g_k|^2 / |g_(k-1)|^2;    beta > 1: restart
    lam <- sweep(lam) + beta p,      p <- beta p - g_k,      |g|^2 = sum D_i g_i^2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.cholesky import copy
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.system import (
    make_admissible,
    measure,
    note,
    refresh,
    start_sweeps,
    sweep,
    wants_history,
)
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from cardan.engine.solvers.sweeps.system import System


@kernel
def _gradient(system: System) -> float:
    """system.x[1] <- lam before the sweep minus lam now; returns sum D g^2."""
    old, g, D, lam = system.x[0], system.x[1], system.problem.diagonal, system.problem.lam
    total = 0.0
    for i in range(system.problem.count[0]):
        g[i] = old[i] - lam[i]
        total += D[i] * g[i] * g[i]
    return total


@kernel
def _extrapolate(system: System, beta: float) -> None:
    """lam += beta p projected on its set, p <- beta p - g."""
    g, p, lam = system.x[1], system.x[2], system.problem.lam
    for i in range(system.problem.count[0]):
        lam[i] += beta * p[i]
        p[i] = beta * p[i] - g[i]


@kernel
def nncg(system: System, rules: StoppingRules) -> tuple[int, int]:
    """Iterate until the residual is small enough; return STOPPED_..., sweeps.

    The result is the iterate with the smallest change by a sweep, taken directly after that sweep,
    so that it is admissible.

    Reads   problem.lam   guess
    Writes  problem.lam, system.history
    Source  Silcowitz-Hansen, Niebe and Erleben 2010, "A nonsmooth nonlinear conjugate gradient
            method for interactive contact force problems"
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem, x = system.problem, system.x
    n = problem.count[0]
    make_admissible(system)
    start_sweeps(system)
    for i in range(n):
        x[2][i] = 0.0
    least, before = np.inf, 0.0
    for k in range(rules.max_iterations):
        copy(problem.lam, n, x[0])
        change = sweep(system, 1.0)
        if change <= least:
            least = change
            copy(problem.lam, n, x[3])
        if change <= rules.residual or wants_history(system, k):
            error = measure(system)
            note(system, k, error)
            status = rule_that_applies(rules, error, change)
            if status != GOES_ON:
                return status, k + 1
        squared = _gradient(system)
        beta = squared / before if before > 0.0 else 0.0
        before = squared
        if not beta <= 1.0:
            beta = 0.0
        _extrapolate(system, beta)
        refresh(system)
    copy(x[3], n, problem.lam)
    refresh(system)
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
