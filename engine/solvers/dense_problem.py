"""The same law as world.problem.Problem, with the matrix at hand: what dense solvers know."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.kernel import kernel
from engine.solvers.linear import dot
from engine.solvers.projection import clamp, project_disk
from engine.solvers.residual import box_error
from engine.world.problem import FRICTION_CONE

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DenseProblem(NamedTuple):
    """w = A lam + b with boxes 0 .. n_box, then contacts of three rows, as in Problem."""

    A: NDArray  # (>= n, >= n)
    b: NDArray  # (>= n,) m/s or rad/s
    lo: NDArray  # (>= n,) N s or N m s     of tangent rows: scratch of the solver
    hi: NDArray  # (>= n,)                  of tangent rows: scratch of the solver
    mu: NDArray  # (>= n,) -                of tangent rows
    scale: NDArray  # (>= n,)               diagonal that turns lam into m/s for residuals
    lam: NDArray  # (>= n,)                 in: guess; out: answer
    w: NDArray  # (>= n,)                   out: A lam + b
    n: int  # rows
    n_box: int  # rows before the first contact
    friction_kind: int  # FRICTION_BOX or FRICTION_CONE


@kernel
def write_velocities(dp: DenseProblem) -> None:
    """dp.w = A lam + b."""
    for i in range(dp.n):
        dp.w[i] = dp.b[i] + dot(dp.A[i], dp.lam, dp.n)


@kernel
def project_guess(dp: DenseProblem) -> None:
    """Move lam into its set; what is not finite becomes 0."""
    for i in range(dp.n):
        if not np.isfinite(dp.lam[i]):
            dp.lam[i] = 0.0
    for i in range(dp.n_box):
        dp.lam[i] = clamp(dp.lam[i], dp.lo[i], dp.hi[i])
    for i in range(dp.n_box, dp.n, 3):
        dp.lam[i] = max(dp.lam[i], 0.0)
        limit1 = dp.mu[i + 1] * dp.lam[i]
        limit2 = dp.mu[i + 2] * dp.lam[i]
        if dp.friction_kind == FRICTION_CONE:
            dp.lam[i + 1], dp.lam[i + 2] = project_disk(dp.lam[i + 1], dp.lam[i + 2], limit1)
        else:
            dp.lam[i + 1] = clamp(dp.lam[i + 1], -limit1, limit1)
            dp.lam[i + 2] = clamp(dp.lam[i + 2], -limit2, limit2)


@kernel
def dense_residual(dp: DenseProblem) -> float:
    """Largest natural map, from dp.w as it stands; the definition of residual.py."""
    worst = 0.0
    for i in range(dp.n_box):
        worst = max(worst, box_error(dp.lam[i], dp.w[i], dp.lo[i], dp.hi[i], dp.scale[i]))
    for i in range(dp.n_box, dp.n, 3):
        worst = max(worst, box_error(dp.lam[i], dp.w[i], 0.0, np.inf, dp.scale[i]))
        limit = dp.mu[i + 1] * max(dp.lam[i], 0.0)
        if dp.friction_kind == FRICTION_CONE:
            D = max(dp.scale[i + 1], dp.scale[i + 2])
            y1 = D * dp.lam[i + 1]
            y2 = D * dp.lam[i + 2]
            z1, z2 = project_disk(y1 - dp.w[i + 1], y2 - dp.w[i + 2], D * limit)
            worst = max(worst, sqrt((y1 - z1) ** 2 + (y2 - z2) ** 2))
        else:
            for k in range(i + 1, i + 3):
                limit = dp.mu[k] * max(dp.lam[i], 0.0)
                error = box_error(dp.lam[k], dp.w[k], -limit, limit, dp.scale[k])
                worst = max(worst, error)
    return worst
