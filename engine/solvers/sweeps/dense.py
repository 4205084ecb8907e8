"""Projected Gauss-Seidel and SOR with a dense matrix, on boxes and friction sets.

    lam_i <- clamp(lam_i - (omega / A_ii) w_i, lo_i, hi_i),    w_i = (A lam + b)_i

With lo = -inf, hi = inf everywhere it is the classic iteration for A lam = -b.
"""

from __future__ import annotations

from math import inf

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.solvers.direct.cholesky import dot
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    write_velocities,
)
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.steps import block_diagonal
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS


@kernel
def _velocity(dp: DenseProblem, i: int) -> float:
    """w_i at the current impulses."""
    return dp.b[i] + dot(dp.A[i], dp.lam, dp.n)


@kernel
def _box_step(dp: DenseProblem, i: int, relaxation: float) -> float:
    """Update row i; return the change of lam_i."""
    D, w = dp.A[i, i], _velocity(dp, i)
    if not D > 0.0:
        return 0.0
    old = dp.lam[i]
    dp.lam[i] = clamp(old - relaxation * w / D, dp.lo[i], dp.hi[i])
    return abs(dp.lam[i] - old) * dp.scale[i]


@kernel
def _pair_step(dp: DenseProblem, i: int, lam_n: float, relaxation: float) -> float:
    """Update rows i + 1, i + 2 together within mu lam_n; return the change."""
    A, lam = dp.A, dp.lam
    w1, w2 = _velocity(dp, i + 1), _velocity(dp, i + 2)
    D = block_diagonal(A[i + 1, i + 1], A[i + 2, i + 2], A[i + 1, i + 2])
    if not D > 0.0:
        return 0.0
    old1 = lam[i + 1]
    old2 = lam[i + 2]
    step = relaxation / D
    radius = dp.mu[i + 1] * lam_n
    lam[i + 1], lam[i + 2] = project_pair(
        old1 - step * w1, old2 - step * w2, radius, dp.friction_kind, dp.directions
    )
    change = max(abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
    return change * max(dp.scale[i + 1], dp.scale[i + 2])


@kernel
def _bounded_step(dp: DenseProblem, i: int, lam_n: float, relaxation: float) -> float:
    """Update row i within mu lam_n; return the change."""
    dp.hi[i] = dp.mu[i] * lam_n
    dp.lo[i] = -dp.hi[i]
    return _box_step(dp, i, relaxation)


@kernel
def _sweep_pair(dp: DenseProblem, i: int, lam_n: float, relaxation: float) -> float:
    """Update rows i + 1, i + 2 within mu lam_n: together, or in a square one after the other."""
    if dp.friction_kind != FRICTION_BOX:
        return _pair_step(dp, i, lam_n, relaxation)
    change = _bounded_step(dp, i + 1, lam_n, relaxation)
    return max(change, _bounded_step(dp, i + 2, lam_n, relaxation))


@kernel
def sweep_rows(dp: DenseProblem, relaxation: float) -> float:
    """One Gauss-Seidel sweep; later rows use the updates of earlier ones."""
    change = 0.0
    for i in range(dp.first_dependent):
        change = max(change, _box_step(dp, i, relaxation))
    for i in range(dp.n_box, dp.n, 3):
        dp.lo[i] = 0.0
        change = max(change, _box_step(dp, i, relaxation))
        change = max(change, _sweep_pair(dp, i, dp.lam[i], relaxation))
    for i in range(dp.first_dependent, dp.n_box, 3):
        lam_n = dp.lam[dp.normal[i]]
        change = max(change, _bounded_step(dp, i, lam_n, relaxation))
        change = max(change, _sweep_pair(dp, i, lam_n, relaxation))
    return change


@kernel
def _rule(dp: DenseProblem, change: float, rules: StoppingRules) -> int:
    """As rule_that_applies; the residual is measured where there is a rule for it."""
    if rules.residual < 0.0:
        return rule_that_applies(rules, inf, change)
    write_velocities(dp)
    return rule_that_applies(rules, dense_residual(dp), change)


@kernel
def iterate(dp: DenseProblem, relaxation: float, rules: StoppingRules) -> tuple[int, int]:
    """Iterate Gauss-Seidel (relaxation 1) or SOR until a rule applies; STOPPED_..., sweeps.

    The guess in dp.lam must lie in its set (project_guess).

    Writes  dp.lam; dp.w is scratch
    Source  Saad 2003, 4.1, with projection
    Check   tests/engine/solvers/sweeps/test_gauss_seidel.py
    """
    for k in range(rules.max_iterations):
        status = _rule(dp, sweep_rows(dp, relaxation), rules)
        if status != GOES_ON:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
