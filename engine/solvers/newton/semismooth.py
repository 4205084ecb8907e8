"""Semismooth Newton method on the natural map, for high accuracy where sweeps converge slowly.

The law is one equation F(lam) = 0 per row, with rho = 1 / A_ii and s = lam - rho w:

    box        F_i = lam_i - clamp(s_i, lo_i, hi_i)
    normal     F_n = lam_n - max(s_n, 0)
    disk       F_t = lam_t - P(s_t),  P on the disk of radius r = mu max(s_n, 0)
    polygon    the same, P on the polygon inscribed in that disk
    square     F_k = lam_k - clamp(s_k, -mu max(s_n, 0), mu max(s_n, 0)); spin alike

F is piecewise smooth; a Newton step uses the piece that is active at lam. Redundant contacts make
the matrix singular: A_ii is raised by a share alpha in the matrix alone (Levenberg, Marquardt),
more after a step that failed, less after one that succeeded. The step is halved until the merit
sum (A_ii F_i)^2 decreases, with w linear along it, so that a trial costs O(n); the result is the
iterate of least residual.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import polygon_sector, project_pair
from cardan.engine.solvers.direct.cholesky import copy, dot, solve_general
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON
from cardan.engine.world.report import STOPPED_NO_SOLUTION, STOPPED_STALLED, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# alpha as a share of A_ii: first, least, largest
FIRST_SHARE, LEAST_SHARE, LARGEST_SHARE = 1e-6, 1e-12, 1.0
# halvings of a step before it counts as failed
HALVINGS = 6


@struct
class NewtonScratch(NamedTuple):
    """Scratch of the Newton iteration."""

    M: NDArray  # (>= n, >= n)   derivative of F
    F: NDArray  # (>= n,) N s    natural map
    step: NDArray  # (>= n,)     M^-1 F
    change: NDArray  # (>= n,)   A step, the change of w
    start: NDArray  # (>= n,)    lam before the step
    w: NDArray  # (>= n,)        w before the step
    best: NDArray  # (>= n,)     best lam


@kernel
def _rho(dp: DenseProblem, i: int) -> float:
    """1 / A_ii; 0 for a row with A_ii = 0."""
    return 1.0 / dp.A[i, i] if dp.A[i, i] > 0.0 else 0.0


@kernel
def _write_smooth_row(dp: DenseProblem, M: NDArray, i: int, rho: float, alpha: float) -> None:
    """Row i where F_i = rho w_i:  rho (A_i + alpha A_ii e_i)."""
    if rho == 0.0:
        _write_bound_row(dp, M, i)
        return
    for j in range(dp.n):
        M[i, j] = rho * dp.A[i, j]
    M[i, i] += rho * alpha * dp.A[i, i]


@kernel
def _write_bound_row(dp: DenseProblem, M: NDArray, i: int) -> None:
    """Row i where F_i = lam_i - const: e_i."""
    for j in range(dp.n):
        M[i, j] = 0.0
    M[i, i] = 1.0


@kernel
def _unlimited(dp: DenseProblem, n: int) -> float:
    """s_n of the normal row n, 0 where it pulls: the friction limit is mu s_n."""
    return max(dp.lam[n] - _rho(dp, n) * dp.w[n], 0.0)


@kernel
def _within(dp: DenseProblem, i: int, lo: float, hi: float) -> float:
    """F of row i within [lo, hi]."""
    rho = _rho(dp, i)
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
        s_n = _unlimited(dp, dp.normal[i])
        F[i] = _within(dp, i, -dp.mu[i] * s_n, dp.mu[i] * s_n)
        _write_pair(dp, F, i + 1, s_n)
    for i in range(dp.n_box, dp.n, 3):
        F[i] = _within(dp, i, 0.0, np.inf)
        _write_pair(dp, F, i + 1, _unlimited(dp, i))
    merit = 0.0
    for i in range(dp.n):
        merit += (dp.A[i, i] * F[i]) ** 2
    return merit


@kernel
def _box_row(dp: DenseProblem, M: NDArray, i: int, alpha: float) -> None:
    """Derivative of F for a box row."""
    rho = _rho(dp, i)
    s = dp.lam[i] - rho * dp.w[i]
    if dp.lo[i] < s < dp.hi[i]:
        _write_smooth_row(dp, M, i, rho, alpha)
    else:
        _write_bound_row(dp, M, i)


@kernel
def _limit_row(dp: DenseProblem, M: NDArray, i: int, n: int, share: float) -> None:
    """M[i] -= share * derivative of s_n, where the friction limit follows the normal row n."""
    rho = _rho(dp, n)
    for j in range(dp.n):
        M[i, j] += share * rho * dp.A[n, j]
    M[i, n] -= share


@kernel
def _bounded_row(dp: DenseProblem, M: NDArray, i: int, n: int, s_n: float, alpha: float) -> None:
    """Derivative of F for a row within mu s_n, n the row of that normal impulse."""
    rho = _rho(dp, i)
    s = dp.lam[i] - rho * dp.w[i]
    if abs(s) < dp.mu[i] * s_n:
        _write_smooth_row(dp, M, i, rho, alpha)
        return
    _write_bound_row(dp, M, i)
    if s_n > 0.0:
        _limit_row(dp, M, i, n, dp.mu[i] if s > 0.0 else -dp.mu[i])


@kernel
def _polygon_rows(dp: DenseProblem, M: NDArray, i: int, n: int, s_n: float, alpha: float) -> None:
    """Derivative of F for the rows i, i + 1 within a polygon of radius r = mu s_n.

    on an edge with normal e:  dF = dlam_t - e cos(pi/directions) dr - (I - e e^T) ds_t
    at a vertex d:             dF = dlam_t - d dr
    """
    A, k = dp.A, i + 1
    D = max(A[i, i], A[k, k])
    rho = 1.0 / D if D > 0.0 else 0.0
    s1 = dp.lam[i] - rho * dp.w[i]
    s2 = dp.lam[k] - rho * dp.w[k]
    e1, e2 = polygon_sector(s1, s2, dp.directions)
    depth, half = cos(pi / dp.directions), sin(pi / dp.directions)
    radius = dp.mu[i] * s_n
    if s1 * e1 + s2 * e2 < depth * radius:
        _write_smooth_row(dp, M, i, rho, alpha)
        _write_smooth_row(dp, M, k, rho, alpha)
        return
    _write_bound_row(dp, M, i)
    _write_bound_row(dp, M, k)
    across = s2 * e1 - s1 * e2
    if radius > 0.0 and abs(across) < half * radius:
        # the part of s along the edge is free
        p11, p12, p22 = e2 * e2, -e1 * e2, e1 * e1
        for j in range(dp.n):
            M[i, j] += rho * (p11 * A[i, j] + p12 * A[k, j])
            M[k, j] += rho * (p12 * A[i, j] + p22 * A[k, j])
        # as _write_smooth_row does along the edge
        M[i, i] += p11 * (rho * alpha * A[i, i] - 1.0)
        M[i, k] += p12 * (rho * alpha * A[i, i] - 1.0)
        M[k, i] += p12 * (rho * alpha * A[k, k] - 1.0)
        M[k, k] += p22 * (rho * alpha * A[k, k] - 1.0)
        d1, d2 = depth * e1, depth * e2
    else:
        sign = 1.0 if across > 0.0 else -1.0
        d1, d2 = depth * e1 - sign * half * e2, depth * e2 + sign * half * e1
    if s_n > 0.0:
        _limit_row(dp, M, i, n, dp.mu[i] * d1)
        _limit_row(dp, M, k, n, dp.mu[i] * d2)


@kernel
def _disk_rows(dp: DenseProblem, M: NDArray, i: int, n: int, s_n: float, alpha: float) -> None:
    """Derivative of F for the rows i, i + 1 within a disk of radius r = mu s_n.

    sliding, e = s_t / |s_t|:  dF = dlam_t - e dr - (r / |s_t|) (I - e e^T) ds_t
    """
    A, k = dp.A, i + 1
    D = max(A[i, i], A[k, k])
    rho = 1.0 / D if D > 0.0 else 0.0
    s1 = dp.lam[i] - rho * dp.w[i]
    s2 = dp.lam[k] - rho * dp.w[k]
    radius = dp.mu[i] * s_n
    length = sqrt(s1 * s1 + s2 * s2)
    if length < radius:
        _write_smooth_row(dp, M, i, rho, alpha)
        _write_smooth_row(dp, M, k, rho, alpha)
        return
    _write_bound_row(dp, M, i)
    _write_bound_row(dp, M, k)
    if not radius > 0.0:
        return
    e1 = s1 / length
    e2 = s2 / length
    # ds_t = dlam_t - rho A_t dlam
    turn = radius / length
    p11, p12, p22 = turn * (1.0 - e1 * e1), -turn * e1 * e2, turn * (1.0 - e2 * e2)
    for j in range(dp.n):
        M[i, j] += rho * (p11 * A[i, j] + p12 * A[k, j])
        M[k, j] += rho * (p12 * A[i, j] + p22 * A[k, j])
    M[i, i] -= p11
    M[i, k] -= p12
    M[k, i] -= p12
    M[k, k] -= p22
    _limit_row(dp, M, i, n, dp.mu[i] * e1)
    _limit_row(dp, M, k, n, dp.mu[i] * e2)


@kernel
def _pair_rows(dp: DenseProblem, M: NDArray, i: int, n: int, s_n: float, alpha: float) -> None:
    """Derivative of F for the rows i, i + 1 within mu s_n together."""
    if dp.friction_kind == FRICTION_CONE:
        _disk_rows(dp, M, i, n, s_n, alpha)
    elif dp.friction_kind == FRICTION_POLYGON:
        _polygon_rows(dp, M, i, n, s_n, alpha)
    else:
        _bounded_row(dp, M, i, n, s_n, alpha)
        _bounded_row(dp, M, i + 1, n, s_n, alpha)


@kernel
def write_derivative(dp: DenseProblem, M: NDArray, alpha: float) -> None:
    """Derivative of F at dp.lam and dp.w.

    Check   tests/engine/solvers/newton/test_semismooth.py: against finite differences of F
    """
    for i in range(dp.first_dependent):
        _box_row(dp, M, i, alpha)
    for i in range(dp.first_dependent, dp.n_box, 3):
        n = dp.normal[i]
        s_n = _unlimited(dp, n)
        _bounded_row(dp, M, i, n, s_n, alpha)
        _pair_rows(dp, M, i + 1, n, s_n, alpha)
    for i in range(dp.n_box, dp.n, 3):
        dp.lo[i] = 0.0
        dp.hi[i] = np.inf
        _box_row(dp, M, i, alpha)
        _pair_rows(dp, M, i + 1, i, _unlimited(dp, i), alpha)


@kernel
def _search(dp: DenseProblem, scratch: NewtonScratch, merit: float) -> float:
    """Halve the step until the merit decreases; return the merit, inf if it never does.

    Writes  dp.lam, dp.w; scratch.F there; scratch.change, w
    """
    for i in range(dp.n):
        scratch.w[i] = dp.w[i]
        scratch.change[i] = dot(dp.A[i], scratch.step, dp.n)
    share = 1.0
    for _ in range(HALVINGS):
        for i in range(dp.n):
            dp.lam[i] = scratch.start[i] - share * scratch.step[i]
            dp.w[i] = scratch.w[i] - share * scratch.change[i]
        trial = write_natural_map(dp, scratch.F)
        if trial < merit:
            return trial
        share *= 0.5
    return np.inf


@kernel
def newton(
    dp: DenseProblem, scratch: NewtonScratch, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Improve dp.lam; return STOPPED_TOLERANCE or STOPPED_STALLED, and the number of steps.

    A guess whose residual is not finite, or beyond LARGEST, is kept: STOPPED_NO_SOLUTION.

    Reads   dp.lam   guess
    Writes  dp.lam   the best of all iterates by the residual, never worse than the guess
            dp.w
    Source  Alart and Curnier 1991 for F; Qi and Sun 1993 for the iteration
    Check   tests/engine/solvers/newton/test_semismooth.py
    """
    n = dp.n
    alpha = FIRST_SHARE
    write_velocities(dp)
    merit = write_natural_map(dp, scratch.F)
    least = dense_residual(dp)
    if not least < LARGEST:
        return STOPPED_NO_SOLUTION, 0
    copy(dp.lam, n, scratch.best)
    status = STOPPED_STALLED
    count = 0
    while count < max_iterations and least > tolerance:
        count += 1
        copy(dp.lam, n, scratch.start)
        copy(scratch.F, n, scratch.step)
        write_derivative(dp, scratch.M, alpha)
        reached = np.inf
        if solve_general(scratch.M, n, scratch.step):
            reached = _search(dp, scratch, merit)
        if not reached < merit:
            alpha *= 100.0
            if alpha > LARGEST_SHARE:
                break
            copy(scratch.start, n, dp.lam)
            write_velocities(dp)
            write_natural_map(dp, scratch.F)
            continue
        merit = reached
        alpha = max(0.1 * alpha, LEAST_SHARE)
        error = dense_residual(dp)
        if error < least:
            least = error
            copy(dp.lam, n, scratch.best)
    copy(scratch.best, n, dp.lam)
    project_guess(dp)
    write_velocities(dp)
    if dense_residual(dp) <= tolerance:
        status = STOPPED_TOLERANCE
    return status, count
