"""Lemke's method: the linear complementarity problem  w = M z + q,  w, z >= 0,  w z = 0.

A covering variable z0 makes the start feasible, w = M z + q + d z0. Pivots follow the unique path
of almost complementary bases until z0 leaves the basis (a solution) or no variable blocks the
entering one (a secondary ray: no solution found). M need not be symmetric. The tableau is

    x_basic = T[:, :n + 1] x_other + T[:, n + 1]

and a pivot exchanges one basic variable for another. Ties are broken as if q_i were raised by
eps^(i + 1) for an arbitrarily small eps (lexicographic rule), so no basis repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.report import (
    STOPPED_EXACT,
    STOPPED_MAX_ITERATIONS,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# entries of the entering column below this share of its largest count as rounding and do not block
PIVOT_TOLERANCE = 1e-9
# ratios this close, relative to the larger, are a tie: with a smaller value, redundant contacts end
# on rays
TIE_TOLERANCE = 1e-10
# below this share of the largest q a negative one, and z0, count as 0
SIGN_TOLERANCE = 1e-15


@kernel
def _exchange(T: NDArray, n: int, r: int, s: int) -> None:
    """Exchange the basic variable of row r with the nonbasic variable of column s."""
    inverse = 1.0 / T[r, s]
    for j in range(n + 2):
        T[r, j] = -T[r, j] * inverse
    T[r, s] = inverse
    for i in range(n):
        share = T[i, s]
        if i != r and share != 0.0:
            T[i, s] = 0.0
            for j in range(n + 2):
                T[i, j] += share * T[r, j]


@kernel
def _raised(T: NDArray, r: int, place: int, column: int) -> float:
    """Component of row r's eps vector: that of w_k, basic in row `place` or other in `column`."""
    if column >= 0:
        return float(-T[r, column])
    return 1.0 if r == place else 0.0


@kernel
def _earlier(T: NDArray, basis: NDArray, n: int, s: int, rows: tuple[int, int]) -> bool:
    """Whether the first of two tied rows blocks column s before the second, with q perturbed."""
    r, best = rows
    for k in range(n):
        place, column = -1, -1
        for i in range(n):
            if basis[0, i] == k:
                place = i
        if place < 0:
            for j in range(n + 1):
                if basis[1, j] == k:
                    column = j
        mine = _raised(T, r, place, column) / -T[r, s]
        other = _raised(T, best, place, column) / -T[best, s]
        if abs(mine - other) > TIE_TOLERANCE * max(abs(mine), abs(other)):
            return mine < other
    return False


@kernel
def _blocking_row(T: NDArray, basis: NDArray, n: int, s: int) -> int:
    """Row whose basic variable first meets zero as column s enters; z0 in a tie; -1: none."""
    largest = 0.0
    for r in range(n):
        largest = max(largest, abs(T[r, s]))
    best = -1
    least = np.inf
    for r in range(n):
        if T[r, s] >= -PIVOT_TOLERANCE * largest:
            continue
        ratio = max(T[r, n + 1], 0.0) / -T[r, s]
        slack = TIE_TOLERANCE * max(ratio, least) if best >= 0 else 0.0
        if best < 0 or ratio < least - slack:
            best, least = r, ratio
        elif (
            ratio <= least + slack
            and basis[0, best] != 2 * n
            and (basis[0, r] == 2 * n or _earlier(T, basis, n, s, (r, best)))
        ):
            best, least = r, min(ratio, least)
    return best


@kernel
def _end_on_ray(T: NDArray, basis: NDArray, n: int, tolerance: float) -> int:
    """Status at a ray: STOPPED_NO_SOLUTION, unless z0 is already zero up to rounding."""
    for i in range(n):
        if basis[0, i] == 2 * n and T[i, n + 1] <= tolerance:
            return STOPPED_EXACT
    return STOPPED_NO_SOLUTION


@kernel
def write_z(T: NDArray, basis: NDArray, n: int, z: NDArray) -> None:
    """Write z (>= n,) of the last tableau; nonbasic variables are 0."""
    for k in range(n):
        z[k] = 0.0
    for i in range(n):
        k = basis[0, i] - n
        if 0 <= k < n:
            z[k] = max(T[i, n + 1], 0.0)


@kernel
def lemke(T: NDArray, basis: NDArray, n: int, most: int, trail: NDArray) -> tuple[int, int]:
    """Solve the problem in the tableau: T[:n, :n] = M, T[:n, n] = d > 0, T[:n, n + 1] = q.

    Returns STOPPED_EXACT, STOPPED_NO_SOLUTION (a ray), STOPPED_MAX_ITERATIONS (after `most` pivots,
    0: no limit) or STOPPED_STALLED (too many), and the number of pivots.

    Writes  T (>= n, >= n + 2)      the last tableau; the value of basis[0, i] is T[i, n + 1]
            basis (>= 2, >= n + 1)  variables of rows, of columns: w_i is i, z_i is n + i, z0 is 2n
            trail (any, >= n)       z after each pivot, as far as there are rows
    Source  Cottle, Pang and Stone 2009, 4.4.5 and 4.9.3
    Check   tests/engine/solvers/pivoting/test_lemke.py
    """
    largest = 0.0
    for i in range(n):
        basis[0, i] = i
        basis[1, i] = n + i
        largest = max(largest, abs(T[i, n + 1]))
    basis[1, n] = 2 * n
    # z0 enters until the most negative row is zero; of equal rows the last has the smallest
    # perturbation
    r = -1
    least = -SIGN_TOLERANCE * largest
    for i in range(n):
        if T[i, n + 1] < 0.0 and T[i, n + 1] / T[i, n] <= least:
            least = T[i, n + 1] / T[i, n]
            r = i
    if r < 0:
        return STOPPED_EXACT, 0
    s = n
    limit = 50 + 20 * n
    for count in range(1, limit + 1):
        _exchange(T, n, r, s)
        left = basis[0, r]
        basis[0, r], basis[1, s] = basis[1, s], left
        if count <= trail.shape[0]:
            write_z(T, basis, n, trail[count - 1])
        if left == 2 * n:
            return STOPPED_EXACT, count
        if count == most:
            return STOPPED_MAX_ITERATIONS, count
        # the complement of the variable that left enters
        enters = left + n if left < n else left - n
        for j in range(n + 1):
            if basis[1, j] == enters:
                s = j
        r = _blocking_row(T, basis, n, s)
        if r < 0:
            return _end_on_ray(T, basis, n, SIGN_TOLERANCE * largest), count
    return STOPPED_STALLED, limit
