"""Principal pivoting for box LCPs with symmetric positive semi-definite A.

    w = A lam + b,  lo <= lam <= hi:   lam on lo -> w >= 0, inside -> w = 0, on hi -> w <= 0

The rows strictly inside their bounds form a set C with w_C = 0; a factor L L^T of A_CC is
maintained. A row whose w has the wrong sign becomes the driver: it enters C, and lam_C moves by
d = -A_CC^-1 w_C  until w_C = 0 or a row reaches a bound and leaves C. A driver that is linearly
dependent on C cannot enter; lam moves along the null direction (A z = 0, w unchanged) until some
row reaches a bound and leaves. If none does, the row is infeasible: it is marked and skipped.

Every move of positive length lowers  lam A lam / 2 + b lam,  so no set C repeats. After a move of
length zero the driver and the leaving row are chosen by least index (Chang; Bland) until a move has
positive length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import clamp
from cardan.engine.solvers.direct.cholesky import DEPENDENT as DEPENDENT_SHARE
from cardan.engine.solvers.direct.cholesky import (
    TELLING,
    Factor,
    add_row,
    copy,
    remove_row,
    solve_factor,
)
from cardan.engine.solvers.direct.dense_problem import DenseProblem, write_velocities
from cardan.engine.world.report import (
    STOPPED_EXACT,
    STOPPED_MAX_ITERATIONS,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# state of a row; DEPENDENT: inside its bounds but dependent on C; IMPOSSIBLE: infeasible;
# EQUATION: no bounds, not yet placed
AT_LO, AT_HI, FREE, DEPENDENT, IMPOSSIBLE, EQUATION = 0, 1, 2, 3, 4, 5

# tolerance for the sign of w, as a share of the largest |b|, |A_ii lam_i|: just above rounding
SIGN_TOLERANCE = 2e-13
# multiple of that tolerance from which an error is an inconsistency, not rounding
CONTRADICTION = 1e4
# components of a move below this share of the largest count as rounding
MOVE_TOLERANCE = 1e-12
# outer iterations on friction bounds
MAX_FRICTION_ROUNDS = 100
FRICTION_TOLERANCE = 1e-12


@struct
class Pivots(NamedTuple):
    """Scratch of pivoting."""

    factor: Factor  # of A_CC
    state: NDArray  # (>= n,) int64   AT_LO ...
    move: NDArray  # (>= n,)         direction of lam
    rhs: NDArray  # (>= n,)          in the order of the factor
    trail: NDArray  # (any, >= n)    lam after each move, as far as rows suffice


@kernel
def _start(dp: DenseProblem, pivots: Pivots) -> None:
    """Initial sets from the guess: C takes equations first, then rows strictly inside."""
    state = pivots.state
    pivots.factor.size[0] = 0
    for i in range(dp.n):
        pivots.move[i] = 0.0
        if dp.lo[i] == -np.inf and dp.hi[i] == np.inf:
            state[i] = EQUATION
        elif dp.lam[i] <= dp.lo[i]:
            dp.lam[i] = dp.lo[i]
            state[i] = AT_LO
        elif dp.lam[i] >= dp.hi[i]:
            dp.lam[i] = dp.hi[i]
            state[i] = AT_HI
        else:
            state[i] = DEPENDENT
    _enter(dp, pivots, EQUATION, TELLING)
    _enter(dp, pivots, EQUATION, DEPENDENT_SHARE)
    _enter(dp, pivots, DEPENDENT, TELLING)
    _enter(dp, pivots, DEPENDENT, DEPENDENT_SHARE)
    for i in range(dp.n):
        if state[i] == EQUATION:
            dp.lam[i] = 0.0
            state[i] = DEPENDENT


@kernel
def _enter(dp: DenseProblem, pivots: Pivots, state: int, share: float) -> None:
    """Add the rows of a state to C whose pivot is above a share of their diagonal."""
    for i in range(dp.n):
        if pivots.state[i] == state and add_row(dp.A, i, share, pivots.factor):
            pivots.state[i] = FREE


@kernel
def _tolerance(dp: DenseProblem) -> float:
    """Size of w that counts as rounding at the current lam."""
    largest = 0.0
    for i in range(dp.n):
        largest = max(largest, abs(dp.b[i]), abs(dp.A[i, i] * dp.lam[i]))
    return SIGN_TOLERANCE * largest


@kernel
def _wrong_sign(dp: DenseProblem, state: int, i: int) -> float:
    """Violation of the sign condition on w_i in its state."""
    if dp.lo[i] == dp.hi[i]:
        return 0.0
    if state == AT_LO:
        return -dp.w[i]
    if state == AT_HI:
        return dp.w[i]
    if state == DEPENDENT:
        return abs(dp.w[i])
    return 0.0


@kernel
def _find_driver(dp: DenseProblem, pivots: Pivots, tolerance: float, least_index: bool) -> int:
    """Row with the largest violation w_i / sqrt(A_ii), or by least index; -1: none."""
    driver = -1
    worst = 0.0
    for i in range(dp.n):
        wrong = _wrong_sign(dp, pivots.state[i], i)
        if wrong > tolerance:
            if least_index:
                return i
            measure = wrong * wrong / max(dp.A[i, i], 1e-300)
            if measure > worst:
                worst = measure
                driver = i
    return driver


@kernel
def _blocking(
    dp: DenseProblem, pivots: Pivots, n_moving: int, limit: float, least_index: bool
) -> tuple[float, int]:
    """Longest admissible move along pivots.move, at most `limit`; blocking row (-1: none).

    The rows that move are the first n_moving of the factor's order.
    """
    order, move = pivots.factor.order, pivots.move
    largest = 0.0
    for p in range(n_moving):
        largest = max(largest, abs(move[order[p]]))
    t = limit
    blocker = -1
    for p in range(n_moving):
        j = order[p]
        d = move[j]
        if abs(d) <= MOVE_TOLERANCE * largest:
            continue
        room = max(((dp.hi[j] if d > 0.0 else dp.lo[j]) - dp.lam[j]) / d, 0.0)
        if room < t or (least_index and room == t and j < blocker):
            t = room
            blocker = j
    return t, blocker


@kernel
def _apply_move(dp: DenseProblem, pivots: Pivots, n_moving: int, t: float, blocker: int) -> None:
    """lam += t move, with the blocking row exactly on its bound; recompute w."""
    order, move = pivots.factor.order, pivots.move
    for p in range(n_moving):
        j = order[p]
        dp.lam[j] = clamp(dp.lam[j] + t * move[j], dp.lo[j], dp.hi[j])
    if blocker >= 0:
        dp.lam[blocker] = dp.hi[blocker] if move[blocker] > 0.0 else dp.lo[blocker]
    write_velocities(dp)


@kernel
def _leave(dp: DenseProblem, pivots: Pivots, row: int) -> None:
    """Remove a row from C at the bound it reached; rows dependent on it may enter again."""
    factor, state = pivots.factor, pivots.state
    state[row] = AT_HI if pivots.move[row] > 0.0 else AT_LO
    for p in range(factor.size[0]):
        if factor.order[p] == row:
            remove_row(p, factor)
            break
    for i in range(dp.n):
        if state[i] == DEPENDENT and add_row(dp.A, i, DEPENDENT_SHARE, factor):
            state[i] = FREE
            break


@kernel
def _write_null_move(dp: DenseProblem, pivots: Pivots, driver: int) -> None:
    """Write the direction z with A z = 0 that moves the driver against the sign of its w.

    The driver follows the rows of C in the order of moving rows.
    """
    factor, move, rhs = pivots.factor, pivots.move, pivots.rhs
    sign = 1.0 if dp.w[driver] < 0.0 else -1.0
    for p in range(factor.size[0]):
        rhs[p] = dp.A[driver, factor.order[p]]
    solve_factor(factor, rhs)
    for p in range(factor.size[0]):
        move[factor.order[p]] = -sign * rhs[p]
    move[driver] = sign
    factor.order[factor.size[0]] = driver


@kernel
def _restore(
    dp: DenseProblem, pivots: Pivots, tolerance: float, least_index: bool
) -> tuple[bool, float]:
    """Move lam_C towards w_C = 0; return whether it is reached, and the share (-1: no move)."""
    factor, move, rhs = pivots.factor, pivots.move, pivots.rhs
    k = factor.size[0]
    share = -1.0
    # two refinements: remove the error of a badly conditioned factor
    for _ in range(3):
        worst = 0.0
        for p in range(k):
            rhs[p] = -dp.w[factor.order[p]]
            worst = max(worst, abs(rhs[p]))
        if worst <= 0.1 * tolerance:
            break
        solve_factor(factor, rhs)
        for p in range(k):
            move[factor.order[p]] = rhs[p]
        share, blocker = _blocking(dp, pivots, k, 1.0, least_index)
        _apply_move(dp, pivots, k, share, blocker)
        if blocker >= 0:
            _leave(dp, pivots, blocker)
            return False, share
    return True, share


@kernel
def _drive_dependent(dp: DenseProblem, pivots: Pivots, driver: int, least_index: bool) -> float:
    """Move a driver dependent on C along the null direction; return the length of the move."""
    _write_null_move(dp, pivots, driver)
    n_moving = pivots.factor.size[0] + 1
    t, blocker = _blocking(dp, pivots, n_moving, np.inf, least_index)
    if t == np.inf:
        pivots.state[driver] = IMPOSSIBLE
        return t
    _apply_move(dp, pivots, n_moving, t, blocker)
    if blocker == driver:
        pivots.state[driver] = AT_HI if pivots.move[driver] > 0.0 else AT_LO
    else:
        pivots.state[driver] = DEPENDENT
        _leave(dp, pivots, blocker)
    return t


@kernel
def _verdict(dp: DenseProblem, pivots: Pivots, tolerance: float) -> int:
    """Final status: whether infeasible rows are inconsistent beyond the effect of conditioning."""
    for i in range(dp.n):
        if pivots.state[i] == IMPOSSIBLE and abs(dp.w[i]) > CONTRADICTION * tolerance:
            return STOPPED_NO_SOLUTION
    return STOPPED_EXACT


@kernel
def _keep(dp: DenseProblem, pivots: Pivots, count: int) -> None:
    """Record lam after `count` moves in the trail, if there is room."""
    if 0 < count <= pivots.trail.shape[0]:
        copy(dp.lam, dp.n, pivots.trail[count - 1])


@kernel
def pivot_boxes(dp: DenseProblem, pivots: Pivots, most: int) -> tuple[int, int]:
    """Solve with the stored bounds dp.lo, dp.hi; return STOPPED_... and the number of pivots.

    STOPPED_MAX_ITERATIONS after `most` pivots; 0: no limit.

    Reads   dp.lam   guess: rows strictly inside their bounds start in C
    Writes  dp.lam, dp.w, pivots.trail
    Source  Keller 1973; Cottle, Pang and Stone 2009, 4.1 to 4.3;
            Baraff 1994 for equations and dependent rows.  Differs: starts from any guess.
    Check   tests/engine/solvers/pivoting/test_principal.py
    """
    _start(dp, pivots)
    write_velocities(dp)
    # length of the last move; 0 selects the least-index rules
    t = 1.0
    limit = 50 * (dp.n + 4) if most == 0 else most
    for count in range(limit):
        _keep(dp, pivots, count)
        tolerance = _tolerance(dp)
        least_index = t == 0.0
        done, share = _restore(dp, pivots, tolerance, least_index)
        t = t if share < 0.0 else share
        if not done:
            continue
        driver = _find_driver(dp, pivots, tolerance, least_index)
        if driver < 0:
            count += 0 if share < 0.0 else 1
            _keep(dp, pivots, count)
            return _verdict(dp, pivots, tolerance), count
        if pivots.state[driver] != DEPENDENT and add_row(
            dp.A, driver, DEPENDENT_SHARE, pivots.factor
        ):
            pivots.state[driver] = FREE
        else:
            t = _drive_dependent(dp, pivots, driver, least_index)
    _keep(dp, pivots, limit)
    return STOPPED_STALLED if most == 0 else STOPPED_MAX_ITERATIONS, limit


@kernel
def _set_limit(dp: DenseProblem, k: int, limit: float) -> float:
    """Set the bounds of row k to -limit, limit; clamp lam_k; return their change [m/s]."""
    change = float(dp.scale[k] * abs(limit - dp.hi[k]))
    dp.hi[k] = limit
    dp.lo[k] = -limit
    dp.lam[k] = clamp(dp.lam[k], -limit, limit)
    return change


@kernel
def _friction_bounds(dp: DenseProblem) -> float:
    """Set friction bounds from the normal impulses; return the largest change [m/s]."""
    change = 0.0
    for i in range(dp.n_box, dp.n, 3):
        for k in range(i + 1, i + 3):
            change = max(change, _set_limit(dp, k, dp.mu[k] * dp.lam[i]))
    for k in range(dp.first_dependent, dp.n_box):
        change = max(change, _set_limit(dp, k, dp.mu[k] * dp.lam[dp.normal[k]]))
    return change


@kernel
def pivoting(dp: DenseProblem, pivots: Pivots) -> tuple[int, int]:
    """Solve boxes, and contacts with square friction; return STOPPED_... and pivots.

    Friction bounds depend on lam_n: solve, set the bounds to mu lam_n, repeat until they agree.
    This fixed-point iteration need not converge; it then returns STOPPED_STALLED.
    """
    for i in range(dp.n_box, dp.n, 3):
        dp.lo[i] = 0.0
        dp.hi[i] = np.inf
        for k in range(i + 1, i + 3):
            dp.hi[k] = 0.0
    for k in range(dp.first_dependent, dp.n_box):
        dp.hi[k] = 0.0
    _friction_bounds(dp)
    status, total = pivot_boxes(dp, pivots, 0)
    if dp.n_box == dp.n:
        return status, total
    largest = 0.0
    for i in range(dp.n):
        largest = max(largest, abs(dp.b[i]))
    for _ in range(MAX_FRICTION_ROUNDS):
        if _friction_bounds(dp) <= FRICTION_TOLERANCE * largest:
            return status, total
        status, count = pivot_boxes(dp, pivots, 0)
        total += count
    return STOPPED_STALLED, total
