"""The law of a dense problem as one equation F(lam) = 0 per row: the natural map in N s.

With rho = 1 / A_ii and s = lam - rho w:

    box        F_i = lam_i - clamp(s_i, lo_i, hi_i)
    normal     F_n = lam_n - max(s_n, 0)
    disk       F_t = lam_t - P(s_t),  P on the disk of radius r = mu max(s_n, 0)
    polygon    the same, P on the polygon inscribed in that disk
    square     F_k = lam_k - clamp(s_k, -mu max(s_n, 0), mu max(s_n, 0)); spin alike
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.projection import project_pair
from cardan.engine.problem.residual import larger
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.world.problem import FRICTION_BOX

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def rho_of(dp: DenseProblem, i: int) -> float:
    """1 / A_ii; 0 for a row with A_ii = 0."""
    return 1.0 / dp.A[i, i] if dp.A[i, i] > 0.0 else 0.0


@kernel
def unlimited(dp: DenseProblem, n: int) -> float:
    """s_n of the normal row n, 0 where it pulls: the friction limit is mu s_n."""
    return max(dp.lam[n] - rho_of(dp, n) * dp.w[n], 0.0)


@kernel
def _within(dp: DenseProblem, i: int, lo: float, hi: float) -> float:
    """F of row i within [lo, hi]."""
    rho = rho_of(dp, i)
    s = dp.lam[i] - rho * dp.w[i]
    if s <= lo:
        return dp.lam[i] - lo
    return dp.lam[i] - hi if s >= hi else rho * dp.w[i]


@kernel
def _write_pair(dp: DenseProblem, F: NDArray, i: int, s_n: float) -> None:
    """F of the rows i, i + 1 within mu s_n together."""
    k = i + 1
    if dp.friction_kind == FRICTION_BOX:
        F[i] = _within(dp, i, -dp.mu[i] * s_n, dp.mu[i] * s_n)
        F[k] = _within(dp, k, -dp.mu[k] * s_n, dp.mu[k] * s_n)
        return
    D = max(dp.A[i, i], dp.A[k, k])
    rho = 1.0 / D if D > 0.0 else 0.0
    s1, s2 = dp.lam[i] - rho * dp.w[i], dp.lam[k] - rho * dp.w[k]
    p1, p2 = project_pair(s1, s2, dp.mu[i] * s_n, dp.friction_kind, dp.directions)
    inside = p1 == s1 and p2 == s2
    F[i] = rho * dp.w[i] if inside else dp.lam[i] - p1
    F[k] = rho * dp.w[k] if inside else dp.lam[k] - p2


@kernel
def write_natural_map(dp: DenseProblem, F: NDArray) -> float:
    """F at dp.lam and dp.w; returns the merit sum (A_ii F_i)^2."""
    for i in range(dp.first_dependent):
        F[i] = _within(dp, i, dp.lo[i], dp.hi[i])
    for i in range(dp.first_dependent, dp.n_box, 3):
        s_n = unlimited(dp, dp.normal[i])
        F[i] = _within(dp, i, -dp.mu[i] * s_n, dp.mu[i] * s_n)
        _write_pair(dp, F, i + 1, s_n)
    for i in range(dp.n_box, dp.n, 3):
        F[i] = _within(dp, i, 0.0, np.inf)
        _write_pair(dp, F, i + 1, unlimited(dp, i))
    merit = 0.0
    for i in range(dp.n):
        merit += (dp.A[i, i] * F[i]) ** 2
    return merit


@kernel
def map_error(dp: DenseProblem, F: NDArray) -> float:
    """Largest A_ii |F_i| [m/s or rad/s]; of tangents together. At a solution it is the residual's.

    NaN when any value is NaN.
    """
    worst = 0.0
    for i in range(dp.n_box):
        worst = larger(worst, abs(dp.A[i, i] * F[i]))
    for i in range(dp.n_box, dp.n, 3):
        worst = larger(worst, abs(dp.A[i, i] * F[i]))
        D = max(dp.A[i + 1, i + 1], dp.A[i + 2, i + 2])
        worst = larger(worst, D * sqrt(F[i + 1] * F[i + 1] + F[i + 2] * F[i + 2]))
    return worst
