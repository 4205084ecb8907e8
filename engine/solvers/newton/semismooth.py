"""Semismooth Newton method on the natural map, for high accuracy where sweeps converge slowly.

F (natural_map.py) is piecewise smooth; a Newton step uses the piece that is active at lam.
Redundant contacts make the matrix singular: A_ii is raised by a share alpha in the matrix alone
(Levenberg, Marquardt), more after a step that failed, less after one that succeeded. The first
steps are taken whole; later ones are halved until the merit sum (A_ii F_i)^2 decreases, with w
linear along it, so that a trial costs O(n). The result is the iterate of least residual.

Most contacts of a moving body are open, and rows at a bound have the derivative e_i: only the
others are factored.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import polygon_sector
from cardan.engine.problem.residual import larger
from cardan.engine.solvers.direct.cholesky import copy, dot
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.solvers.direct.general import solve_general
from cardan.engine.solvers.newton.natural_map import (
    map_error,
    rho_of,
    unlimited,
    write_natural_map,
)
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE
from cardan.engine.world.report import STOPPED_NO_SOLUTION, STOPPED_STALLED, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# alpha as a share of A_ii: first, least, largest
FIRST_SHARE, LEAST_SHARE, LARGEST_SHARE = 1e-6, 1e-12, 1.0
# so many first steps are taken whole: where contacts change between sticking and sliding the merit
# increases on the way, and a line search stops there (decision 0630)
WHOLE_STEPS = 12
# the map's error ends iterations at this share of the tolerance: it has the friction limits of
# lam - rho w and the sizes A_ii, the residual those of lam and the scale of the rows, which is
# hundreds of times A_ii where joints carry most of what a contact would
ENOUGH = 0.5
# halvings of a step before it counts as failed
HALVINGS = 6

# rho of both rows; p11, p12, p22; d1, d2; 1 where the free directions are damped by alpha, else 0
PairLaw = tuple[float, float, float, float, float, float, float, float]


@struct
class NewtonScratch(NamedTuple):
    """Scratch of the Newton iteration."""

    M: NDArray  # (>= n, >= n)   derivative of F
    F: NDArray  # (>= n,) N s    natural map
    step: NDArray  # (>= n,)     M^-1 F
    change: NDArray  # (>= n,)   A step, the change of w
    start: NDArray  # (>= n,)    lam before the step
    w: NDArray  # (>= n,)        right-hand side of M; w before the step
    best: NDArray  # (>= n,)     best lam
    free: NDArray  # (>= n,) int64    rows of F in the order of M
    place: NDArray  # (>= n,) int64   and their places there


@kernel
def list_free(dp: DenseProblem, scratch: NewtonScratch) -> int:
    """List the rows that are not held: F_i = lam_i - const gives a row e_i; returns their number.

    Contacts without normal impulse, and box rows at a bound, are held.

    Writes  scratch.free, place
    """
    free, place, m = scratch.free, scratch.place, 0
    for i in range(dp.first_dependent):
        s = dp.lam[i] - rho_of(dp, i) * dp.w[i]
        if dp.A[i, i] > 0.0 and dp.lo[i] < s < dp.hi[i]:
            free[m], place[i] = i, m
            m += 1
    for i in range(dp.first_dependent, dp.n_box, 3):
        if unlimited(dp, dp.normal[i]) > 0.0:
            for k in range(i, i + 3):
                free[m], place[k] = k, m
                m += 1
    for i in range(dp.n_box, dp.n, 3):
        s_n = unlimited(dp, i)
        if s_n > 0.0 and dp.A[i, i] > 0.0:
            last = i + 3 if max(dp.mu[i + 1], dp.mu[i + 2]) > 0.0 else i + 1
            for k in range(i, last):
                free[m], place[k] = k, m
                m += 1
    return m


@kernel
def _hold(dp: DenseProblem, scratch: NewtonScratch, m: int) -> None:
    """Write the steps of held rows, F_i, and the change of w by them, A step.

    Writes  scratch.step: 0 for the m free rows; scratch.change
    """
    step, largest = scratch.step, 0.0
    copy(scratch.F, dp.n, step)
    for r in range(m):
        step[scratch.free[r]] = 0.0
    for i in range(dp.n):
        largest = max(largest, abs(step[i]))
    for i in range(dp.n):
        scratch.change[i] = dot(dp.A[i], step, dp.n) if largest > 0.0 else 0.0


@kernel
def _bounded_law(dp: DenseProblem, i: int, s_n: float) -> tuple[float, float, float]:
    """rho, p, d of a row within mu s_n: p 1 inside, 0 at a limit, d its sign there."""
    rho = rho_of(dp, i)
    s = dp.lam[i] - rho * dp.w[i]
    if abs(s) < dp.mu[i] * s_n:
        return rho, 1.0 if rho > 0.0 else 0.0, 0.0
    return rho, 0.0, 1.0 if s > 0.0 else -1.0


@kernel
def _pair_law(dp: DenseProblem, i: int, s_n: float) -> PairLaw:
    """Derivative of the projection P of the rows i, i + 1 on their set of radius r = mu s_n.

    dP = p ds_t + d dr. Where p is a projector, its free directions are damped by alpha.

    disk     sticking   p = I, d = 0
             sliding    p = (r / |s_t|) (I - e e^T), d = e = s_t / |s_t|
    polygon  on an edge with normal e   p = I - e e^T, d = e cos(pi/directions)
             at a vertex d              p = 0
    """
    k = i + 1
    if dp.friction_kind == FRICTION_BOX:
        one, other = _bounded_law(dp, i, s_n), _bounded_law(dp, k, s_n)
        return one[0], other[0], one[1], 0.0, other[1], one[2], other[2], 1.0
    D = max(dp.A[i, i], dp.A[k, k])
    rho = 1.0 / D if D > 0.0 else 0.0
    s1, s2 = dp.lam[i] - rho * dp.w[i], dp.lam[k] - rho * dp.w[k]
    radius = dp.mu[i] * s_n
    sticks = 1.0 if rho > 0.0 else 0.0
    if dp.friction_kind == FRICTION_CONE:
        length = sqrt(s1 * s1 + s2 * s2)
        if length < radius:
            return rho, rho, sticks, 0.0, sticks, 0.0, 0.0, 1.0
        if not radius > 0.0:
            return rho, rho, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        e1, e2, turn = s1 / length, s2 / length, radius / length
        p11, p12, p22 = turn * (1.0 - e1 * e1), -turn * e1 * e2, turn * (1.0 - e2 * e2)
        return rho, rho, p11, p12, p22, e1, e2, 0.0
    e1, e2 = polygon_sector(s1, s2, dp.directions)
    depth, half = cos(pi / dp.directions), sin(pi / dp.directions)
    if s1 * e1 + s2 * e2 < depth * radius:
        return rho, rho, sticks, 0.0, sticks, 0.0, 0.0, 1.0
    across = s2 * e1 - s1 * e2
    if radius > 0.0 and abs(across) < half * radius:
        return rho, rho, e2 * e2, -e1 * e2, e1 * e1, depth * e1, depth * e2, 1.0
    sign = 1.0 if across > 0.0 else -1.0
    d1, d2 = depth * e1 - sign * half * e2, depth * e2 + sign * half * e1
    return rho, rho, 0.0, 0.0, 0.0, d1, d2, 0.0


@kernel
def _write_box_row(dp: DenseProblem, scratch: NewtonScratch, m: int, r: int, alpha: float) -> None:
    """Row r of the system, free, where F_i = rho w_i:  rho (A_i + alpha A_ii e_i)."""
    i = scratch.free[r]
    rho, row = rho_of(dp, i), scratch.M[r, :m]
    for c in range(m):
        row[c] *= rho
    row[r] += rho * alpha * dp.A[i, i]
    scratch.w[r] = scratch.F[i] - rho * scratch.change[i]


@kernel
def _write_spin_row(dp: DenseProblem, scratch: NewtonScratch, m: int, r: int, alpha: float) -> None:
    """Row r of the system, within mu s_n of another row, whose row of the system is still A."""
    i = scratch.free[r]
    n = dp.normal[i]
    row, normal = scratch.M[r, :m], scratch.M[scratch.place[n], :m]
    rho, p, d = _bounded_law(dp, i, unlimited(dp, n))
    limit, rho_n = dp.mu[i] * d, rho_of(dp, n)
    inner, q = rho * p, scratch.change
    for c in range(m):
        row[c] = inner * row[c] + limit * rho_n * normal[c]
    row[r] += 1.0 - p + inner * alpha * dp.A[i, i]
    row[scratch.place[n]] -= limit
    scratch.w[r] = scratch.F[i] - inner * q[i] - limit * rho_n * q[n]


@kernel
def _write_pair_rows(
    dp: DenseProblem, scratch: NewtonScratch, m: int, r: int, n: int, alpha: float
) -> None:
    """Rows r, r + 1 of the system within mu s_n of row n, whose row of the system is still A.

    dF = (I - p) dlam_t + rho p A_t dlam - mu d ds_n,  ds_n = dlam_n - rho_n A_n dlam
    """
    i, F, q, at = scratch.free[r], scratch.F, scratch.change, scratch.place[n]
    M = scratch.M
    one, other, normal = M[r, :m], M[r + 1, :m], M[at, :m]
    rho1, rho2, p11, p12, p22, d1, d2, damped = _pair_law(dp, i, unlimited(dp, n))
    mu = dp.mu[i + 1] if dp.friction_kind == FRICTION_BOX else dp.mu[i]
    limit1, limit2, rho_n = dp.mu[i] * d1, mu * d2, rho_of(dp, n)
    a11, a12, a21, a22 = rho1 * p11, rho1 * p12, rho2 * p12, rho2 * p22
    b1, b2 = limit1 * rho_n, limit2 * rho_n
    for c in range(m):
        x, y, z = one[c], other[c], normal[c]
        one[c] = a11 * x + a12 * y + b1 * z
        other[c] = a21 * x + a22 * y + b2 * z
    D1, D2 = damped * alpha * dp.A[i, i], damped * alpha * dp.A[i + 1, i + 1]
    one[r] += 1.0 - p11 + a11 * D1
    one[r + 1] += a12 * D1 - p12
    other[r] += a21 * D2 - p12
    other[r + 1] += 1.0 - p22 + a22 * D2
    one[at] -= limit1
    other[at] -= limit2
    scratch.w[r] = F[i] - a11 * q[i] - a12 * q[i + 1] - b1 * q[n]
    scratch.w[r + 1] = F[i + 1] - a21 * q[i] - a22 * q[i + 1] - b2 * q[n]


@kernel
def write_system(dp: DenseProblem, scratch: NewtonScratch, alpha: float) -> int:
    """Newton's equations M x = F' of the free rows at dp.lam and dp.w; returns their number m.

    Held rows step by F_i; F' is F less what that changes.

    Reads   scratch.F
    Writes  scratch.free, place, M (m, m), w (m,): F'; step of held rows; change: A step of these
    Check   tests/engine/solvers/newton/test_semismooth.py: against finite differences of F
    """
    m = list_free(dp, scratch)
    free = scratch.free
    _hold(dp, scratch, m)
    for r in range(m):
        row, A = scratch.M[r], dp.A[free[r]]
        for c in range(m):
            row[c] = A[free[c]]
    r = 0
    while r < m:
        i = free[r]
        if i < dp.first_dependent:
            _write_box_row(dp, scratch, m, r, alpha)
            r += 1
        elif i < dp.n_box:
            _write_spin_row(dp, scratch, m, r, alpha)
            _write_pair_rows(dp, scratch, m, r + 1, dp.normal[i], alpha)
            r += 3
        else:
            has_friction = r + 1 < m and free[r + 1] == i + 1
            if has_friction:
                _write_pair_rows(dp, scratch, m, r + 1, i, alpha)
            _write_box_row(dp, scratch, m, r, alpha)
            r += 3 if has_friction else 1
    return m


@kernel
def _search(dp: DenseProblem, scratch: NewtonScratch, limit: float) -> float:
    """Halve the step until the merit is below a limit; return the merit, inf if it never is.

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
        if trial < limit:
            return trial
        share *= 0.5
    return np.inf


@kernel
def newton_step(dp: DenseProblem, scratch: NewtonScratch, limit: float, alpha: float) -> float:
    """One step from dp.lam and dp.w; returns the merit, or inf: no step brings it below the limit.

    Reads   scratch.F of dp.lam
    Writes  dp.lam, dp.w; scratch.F; scratch.start: lam before the step
    """
    copy(dp.lam, dp.n, scratch.start)
    m = write_system(dp, scratch, alpha)
    if not solve_general(scratch.M, m, scratch.w):
        return np.inf
    for r in range(m):
        scratch.step[scratch.free[r]] = scratch.w[r]
    return _search(dp, scratch, limit)


@kernel
def newton(
    dp: DenseProblem, scratch: NewtonScratch, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Improve dp.lam; return STOPPED_TOLERANCE or STOPPED_STALLED, and the number of steps.

    STOPPED_STALLED also where max_iterations end it. A guess whose residual is not finite, or
    beyond LARGEST, is kept: STOPPED_NO_SOLUTION.

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
    least, enough = dense_residual(dp), ENOUGH * tolerance
    if not least < LARGEST:
        return STOPPED_NO_SOLUTION, 0
    copy(dp.lam, n, scratch.best)
    status = STOPPED_STALLED
    count = 0
    while count < max_iterations and least > enough:
        count += 1
        if count == WHOLE_STEPS + 1:
            copy(scratch.best, n, dp.lam)
            write_velocities(dp)
            merit = write_natural_map(dp, scratch.F)
        limit = merit if count > WHOLE_STEPS else LARGEST
        reached = newton_step(dp, scratch, limit, alpha)
        if not reached < limit:
            alpha *= 100.0
            if alpha > LARGEST_SHARE:
                break
            copy(scratch.start, n, dp.lam)
            write_velocities(dp)
            write_natural_map(dp, scratch.F)
            continue
        merit = reached
        alpha = max(0.1 * alpha, LEAST_SHARE)
        error = larger(map_error(dp, scratch.F), ENOUGH * dense_residual(dp))
        if error < least:
            least = error
            copy(dp.lam, n, scratch.best)
    copy(scratch.best, n, dp.lam)
    project_guess(dp)
    write_velocities(dp)
    if dense_residual(dp) <= tolerance:
        status = STOPPED_TOLERANCE
    return status, count
