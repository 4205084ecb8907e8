"""Residual of the constraint law in m/s or rad/s, computed from (problem, lam) alone.

The code is independent of the solvers: w = A lam + b is recomputed in operator form. Every row is
measured by its natural map scaled by its own diagonal D, with y = D lam to avoid divisions:

    box row      | y - clamp(y - w, D lo, D hi) |
    normal       the same with lo = 0, hi = inf
    tangents     | y_t - P(y_t - w_t) |, P the projection on the disk or polygon of radius
                 D_t mu lam_n, D_t the larger diagonal of the two (square: each row by itself)
    dependent rows    spin: a box row with lo, hi = -+ mu lam_n; roll: as tangents

It is zero exactly where the true Coulomb law holds (friction opposes sliding, and the limit is
that of the present normal impulse).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up
from cardan.engine.problem.operator import body_velocities, first_dependent, row_velocity
from cardan.engine.problem.projection import clamp, project_cone, project_pair
from cardan.engine.world.problem import FRICTION_BOX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem

# replaces a diagonal of 0 to avoid 0 * inf; smaller than any real 1/mass
TINY_DIAGONAL = 1e-300


@kernel
def larger(worst: float, value: float) -> float:
    """The larger of two numbers; NaN counts as largest."""
    if value > worst or value != value:
        return value
    return worst


@kernel
def box_error(lam: float, w: float, lo: float, hi: float, diagonal: float) -> float:
    """Natural map of one box row [m/s or rad/s]."""
    D = max(diagonal, TINY_DIAGONAL)
    y = D * lam
    return abs(y - clamp(y - w, D * lo, D * hi))


@kernel
def bounded_error(problem: Problem, w: NDArray, i: int, lam_n: float) -> float:
    """Natural map of row i alone within mu lam_n [m/s or rad/s]."""
    limit = problem.mu[i] * max(lam_n, 0.0)
    return box_error(problem.lam[i], w[i], -limit, limit, problem.diagonal[i])


@kernel
def pair_error(problem: Problem, w: NDArray, i: int, lam_n: float) -> float:
    """Natural map of the rows i + 1, i + 2, which lie within mu lam_n together [m/s or rad/s]."""
    lam, D = problem.lam, problem.diagonal
    kind = problem.friction_kind[0]
    if kind == FRICTION_BOX:
        first = bounded_error(problem, w, i + 1, lam_n)
        return larger(first, bounded_error(problem, w, i + 2, lam_n))
    D_t = max(D[i + 1], D[i + 2], TINY_DIAGONAL)
    y1 = D_t * lam[i + 1]
    y2 = D_t * lam[i + 2]
    radius = D_t * problem.mu[i + 1] * max(lam_n, 0.0)
    directions = problem.friction_kind[1]
    z1, z2 = project_pair(y1 - w[i + 1], y2 - w[i + 2], radius, kind, directions)
    return sqrt((y1 - z1) ** 2 + (y2 - z2) ** 2)


@kernel
def _cone_error(problem: Problem, w: NDArray, i: int) -> float:
    """Natural map on K_mu of one contact with De Saxce's correction [m/s].

    u = (w_n + mu |w_t|, w_t),   | y - P_K(y - u) |,   y = D lam,  D the largest diagonal
    """
    lam, D = problem.lam, problem.diagonal
    mu = problem.mu[i + 1]
    D_c = max(D[i], D[i + 1], D[i + 2])
    y_n, y1, y2 = D_c * lam[i], D_c * lam[i + 1], D_c * lam[i + 2]
    u_n = w[i] + mu * sqrt(w[i + 1] ** 2 + w[i + 2] ** 2)
    z_n, z1, z2 = project_cone(y_n - u_n, y1 - w[i + 1], y2 - w[i + 2], mu)
    return sqrt((y_n - z_n) ** 2 + (y1 - z1) ** 2 + (y2 - z2) ** 2)


@kernel
def contact_errors(problem: Problem, w: NDArray, i: int) -> tuple[float, float]:
    """Natural map and Coulomb error of the contact with normal row i."""
    lam, D = problem.lam, problem.diagonal
    worst = larger(box_error(lam[i], w[i], 0.0, np.inf, D[i]), pair_error(problem, w, i, lam[i]))
    return worst, _cone_error(problem, w, i)


@kernel
def largest_errors(problem: Problem, w: NDArray) -> tuple[float, float]:
    """Largest natural map of all rows and largest Coulomb error, for w = A lam + b."""
    lam, D = problem.lam, problem.diagonal
    n_rows, n_box = problem.count[0], problem.count[1]
    worst = 0.0
    first = first_dependent(problem)
    for i in range(first):
        worst = larger(worst, box_error(lam[i], w[i], problem.lo[i], problem.hi[i], D[i]))
    for i in range(first, n_box, 3):
        lam_n = lam[problem.normal_row[i]]
        worst = larger(worst, bounded_error(problem, w, i, lam_n))
        worst = larger(worst, pair_error(problem, w, i, lam_n))
    coulomb = 0.0
    for i in range(n_box, n_rows, 3):
        natural, cone = contact_errors(problem, w, i)
        worst = larger(worst, natural)
        coulomb = larger(coulomb, cone)
    return worst, coulomb


@kernel
def residual(problem: Problem, v: NDArray) -> tuple[float, float]:
    """Return the largest natural map of all rows, and the largest Coulomb error of all contacts.

    The Coulomb error is always that of the round cone, also where a square or polygon was solved.

    Reads   problem, problem.lam
    Writes  problem.w          w = A lam + b
            v (n_bodies + 1, 6) scratch
    Source  De Saxce and Feng 1998 for the correction
    Check   tests/engine/problem/test_residual.py
    """
    body_velocities(problem, v)
    for i in range(problem.count[0]):
        problem.w[i] = row_velocity(problem, v, i)
    add_up(problem, problem.w)
    return largest_errors(problem, problem.w)
