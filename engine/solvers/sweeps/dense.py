"""Projected Jacobi, Gauss-Seidel and SOR with a dense matrix, on boxes and friction sets.

    lam_i <- clamp(lam_i - (omega / A_ii) w_i, lo_i, hi_i),    w_i = (A lam + b)_i

With lo = -inf, hi = inf everywhere these are the classic iterations for A lam = -b.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.solvers.direct.cholesky import dot
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    write_velocities,
)
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import (
    STOPPED_MAX_ITERATIONS,
    STOPPED_STALLED,
    STOPPED_TOLERANCE,
)

# velocities along two rows
Pair = tuple[float, float]


class StoppingRules(NamedTuple):
    """Stopping rules, whichever applies first; a negative tolerance disables its rule."""

    max_iterations: int
    residual: float  # m/s or rad/s: largest natural map           -> STOPPED_TOLERANCE
    step: float  # m/s or rad/s: largest scale_i |change of lam_i| -> STOPPED_STALLED


@kernel
def block_diagonal(D1: float, D2: float, c: float) -> float:
    """Larger eigenvalue of [[D1, c], [c, D2]]; its inverse is a safe step for a tangent pair."""
    half = 0.5 * (D1 - D2)
    return 0.5 * (D1 + D2) + sqrt(half * half + c * c)


@kernel
def _box_step(dp: DenseProblem, i: int, w: float, relaxation: float) -> float:
    """Update row i; return the change of lam_i."""
    D = dp.A[i, i]
    if not D > 0.0:
        return 0.0
    old = dp.lam[i]
    dp.lam[i] = clamp(old - relaxation * w / D, dp.lo[i], dp.hi[i])
    return abs(dp.lam[i] - old) * dp.scale[i]


@kernel
def _pair_step(dp: DenseProblem, i: int, lam_n: float, w: Pair, relaxation: float) -> float:
    """Update rows i + 1, i + 2 together within mu lam_n, with velocities w; return the change."""
    A, lam = dp.A, dp.lam
    D = block_diagonal(A[i + 1, i + 1], A[i + 2, i + 2], A[i + 1, i + 2])
    if not D > 0.0:
        return 0.0
    old1 = lam[i + 1]
    old2 = lam[i + 2]
    step = relaxation / D
    radius = dp.mu[i + 1] * lam_n
    lam[i + 1], lam[i + 2] = project_pair(
        old1 - step * w[0], old2 - step * w[1], radius, dp.friction_kind, dp.directions
    )
    change = max(abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
    return change * max(dp.scale[i + 1], dp.scale[i + 2])


@kernel
def _bounded_step(dp: DenseProblem, i: int, lam_n: float, w: float, relaxation: float) -> float:
    """Update row i within mu lam_n; return the change."""
    dp.hi[i] = dp.mu[i] * lam_n
    dp.lo[i] = -dp.hi[i]
    return _box_step(dp, i, w, relaxation)


@kernel
def _velocity(dp: DenseProblem, i: int) -> float:
    """w_i at the current impulses."""
    return dp.b[i] + dot(dp.A[i], dp.lam, dp.n)


@kernel
def _sweep_pair(dp: DenseProblem, i: int, lam_n: float, relaxation: float) -> float:
    """Update rows i + 1, i + 2 within mu lam_n: together, or in a square one after the other."""
    if dp.friction_kind != FRICTION_BOX:
        w = (_velocity(dp, i + 1), _velocity(dp, i + 2))
        return _pair_step(dp, i, lam_n, w, relaxation)
    change = _bounded_step(dp, i + 1, lam_n, _velocity(dp, i + 1), relaxation)
    return max(change, _bounded_step(dp, i + 2, lam_n, _velocity(dp, i + 2), relaxation))


@kernel
def _answer_pair(dp: DenseProblem, i: int, lam_n: float, relaxation: float) -> float:
    """Update rows i + 1, i + 2 within mu lam_n, both from the stored dp.w."""
    if dp.friction_kind != FRICTION_BOX:
        return _pair_step(dp, i, lam_n, (dp.w[i + 1], dp.w[i + 2]), relaxation)
    change = _bounded_step(dp, i + 1, lam_n, dp.w[i + 1], relaxation)
    return max(change, _bounded_step(dp, i + 2, lam_n, dp.w[i + 2], relaxation))


@kernel
def sweep_rows(dp: DenseProblem, relaxation: float) -> float:
    """One Gauss-Seidel sweep; later rows use the updates of earlier ones."""
    change = 0.0
    for i in range(dp.first_dependent):
        change = max(change, _box_step(dp, i, _velocity(dp, i), relaxation))
    for i in range(dp.n_box, dp.n, 3):
        dp.lo[i] = 0.0
        change = max(change, _box_step(dp, i, _velocity(dp, i), relaxation))
        change = max(change, _sweep_pair(dp, i, dp.lam[i], relaxation))
    for i in range(dp.first_dependent, dp.n_box, 3):
        lam_n = dp.lam[dp.normal[i]]
        change = max(change, _bounded_step(dp, i, lam_n, _velocity(dp, i), relaxation))
        change = max(change, _sweep_pair(dp, i, lam_n, relaxation))
    return change


@kernel
def sweep_jacobi(dp: DenseProblem, relaxation: float) -> float:
    """One Jacobi sweep: all rows use the velocities from before the sweep."""
    write_velocities(dp)
    change = 0.0
    for i in range(dp.first_dependent):
        change = max(change, _box_step(dp, i, dp.w[i], relaxation))
    for i in range(dp.n_box, dp.n, 3):
        dp.lo[i] = 0.0
        change = max(change, _box_step(dp, i, dp.w[i], relaxation))
        change = max(change, _answer_pair(dp, i, dp.lam[i], relaxation))
    for i in range(dp.first_dependent, dp.n_box, 3):
        lam_n = dp.lam[dp.normal[i]]
        change = max(change, _bounded_step(dp, i, lam_n, dp.w[i], relaxation))
        change = max(change, _answer_pair(dp, i, lam_n, relaxation))
    return change


@kernel
def _rule(dp: DenseProblem, change: float, rules: StoppingRules) -> int:
    """STOPPED_... when a rule other than the count applies, else -1."""
    if rules.residual >= 0.0:
        write_velocities(dp)
        if dense_residual(dp) <= rules.residual:
            return STOPPED_TOLERANCE
    return STOPPED_STALLED if change <= rules.step else -1


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
        if status >= 0:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations


@kernel
def iterate_jacobi(dp: DenseProblem, relaxation: float, rules: StoppingRules) -> tuple[int, int]:
    """Iterate Jacobi; otherwise as `iterate`."""
    for k in range(rules.max_iterations):
        status = _rule(dp, sweep_jacobi(dp, relaxation), rules)
        if status >= 0:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
