"""The law of world.problem.Problem with A as a dense matrix, for the dense solvers."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.problem.residual import box_error, larger
from cardan.engine.solvers.direct.cholesky import dot
from cardan.engine.world.problem import FRICTION_BOX

if TYPE_CHECKING:
    from numpy.typing import NDArray


@struct
class DenseProblem(NamedTuple):
    """w = A lam + b with boxes, dependent rows and contacts of three rows, as in Problem."""

    A: NDArray  # (>= n, >= n)
    b: NDArray  # (>= n,) m/s or rad/s
    lo: NDArray  # (>= n,) N s or N m s     of tangent and dependent rows: scratch of the solver
    hi: NDArray  # (>= n,)                  of tangent and dependent rows: scratch of the solver
    mu: NDArray  # (>= n,) - or m           of tangent and dependent rows
    scale: NDArray  # (>= n,)               diagonal that turns lam into m/s for residuals
    lam: NDArray  # (>= n,)                 in: guess; out: answer
    w: NDArray  # (>= n,)                   out: A lam + b
    n: int  # rows
    n_box: int  # rows before the first contact
    friction_kind: int  # FRICTION_BOX, FRICTION_CONE or FRICTION_POLYGON
    directions: int  # vertices of the polygon
    first_dependent: int  # first box row whose bounds follow a normal impulse; n_box: none
    normal: NDArray  # (>= n_box,) int64    of dependent rows: the row of that normal impulse


@kernel
def write_velocities(dp: DenseProblem) -> None:
    """dp.w = A lam + b."""
    for i in range(dp.n):
        dp.w[i] = dp.b[i] + dot(dp.A[i], dp.lam, dp.n)


@kernel
def _project_tangents(dp: DenseProblem, i: int, lam_n: float) -> None:
    """Project lam of the rows i + 1, i + 2 on the friction set of mu lam_n."""
    radius = dp.mu[i + 1] * lam_n
    dp.lam[i + 1], dp.lam[i + 2] = project_pair(
        dp.lam[i + 1], dp.lam[i + 2], radius, dp.friction_kind, dp.directions
    )


@kernel
def project_guess(dp: DenseProblem) -> None:
    """Project lam on its admissible set; replace values that are not finite by 0."""
    for i in range(dp.n):
        if not np.isfinite(dp.lam[i]):
            dp.lam[i] = 0.0
    for i in range(dp.first_dependent):
        dp.lam[i] = clamp(dp.lam[i], dp.lo[i], dp.hi[i])
    for i in range(dp.n_box, dp.n, 3):
        dp.lam[i] = max(dp.lam[i], 0.0)
        _project_tangents(dp, i, dp.lam[i])
    for i in range(dp.first_dependent, dp.n_box, 3):
        lam_n = dp.lam[dp.normal[i]]
        dp.lam[i] = clamp(dp.lam[i], -dp.mu[i] * lam_n, dp.mu[i] * lam_n)
        _project_tangents(dp, i, lam_n)


@kernel
def _bounded_error(dp: DenseProblem, i: int, lam_n: float) -> float:
    """Natural map of row i alone within mu lam_n."""
    limit = dp.mu[i] * max(lam_n, 0.0)
    return box_error(dp.lam[i], dp.w[i], -limit, limit, dp.scale[i])


@kernel
def _pair_error(dp: DenseProblem, i: int, lam_n: float) -> float:
    """Natural map of the rows i + 1, i + 2 within mu lam_n together."""
    if dp.friction_kind == FRICTION_BOX:
        return larger(_bounded_error(dp, i + 1, lam_n), _bounded_error(dp, i + 2, lam_n))
    D = max(dp.scale[i + 1], dp.scale[i + 2])
    y1 = D * dp.lam[i + 1]
    y2 = D * dp.lam[i + 2]
    radius = D * dp.mu[i + 1] * max(lam_n, 0.0)
    z1, z2 = project_pair(
        y1 - dp.w[i + 1], y2 - dp.w[i + 2], radius, dp.friction_kind, dp.directions
    )
    return sqrt((y1 - z1) ** 2 + (y2 - z2) ** 2)


@kernel
def dense_residual(dp: DenseProblem) -> float:
    """Largest natural map, from the stored dp.w; defined as in problem/residual.py.

    NaN when any value is NaN.
    """
    worst = 0.0
    for i in range(dp.first_dependent):
        worst = larger(worst, box_error(dp.lam[i], dp.w[i], dp.lo[i], dp.hi[i], dp.scale[i]))
    for i in range(dp.first_dependent, dp.n_box, 3):
        lam_n = dp.lam[dp.normal[i]]
        worst = larger(worst, _bounded_error(dp, i, lam_n))
        worst = larger(worst, _pair_error(dp, i, lam_n))
    for i in range(dp.n_box, dp.n, 3):
        worst = larger(worst, box_error(dp.lam[i], dp.w[i], 0.0, np.inf, dp.scale[i]))
        worst = larger(worst, _pair_error(dp, i, dp.lam[i]))
    return worst
