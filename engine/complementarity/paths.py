"""Transformation of boxes to Lemke's form w = M z + q, z >= 0: two ways to remove free variables.

Exchanged: a principal pivot transform exchanges x and w of rows R with a regular block A_RR,

    x_R = -A_RR^-1 (b_R - w_R + A_RC x_C)

R holds all equations and, where their own block is singular (circuits, redundant joints), as many
of the other rows as make it regular.

Split: x = z+ - z- with w >= 0 and -w >= 0, so that w = 0.  No block needs an inverse, so redundant
equations and unknowns that nothing determines (the potential of a circuit without earth) are
taken too, and a monotone problem stays monotone: Lemke's path then ends on a solution if there is
one.  The table is larger, and its ties are many.

A bound on the other side is a change of sign, two of them are two variables.

Source  Cottle, Pang and Stone 2009, 1.4, 2.3 and 4.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from cardan.engine.complementarity import measure
from cardan.engine.complementarity.problem import Array, Complementarity, Mask, Places
from cardan.engine.complementarity.solution import STOPPED, Stopped
from cardan.engine.solvers.pivoting.lemke import lemke, write_z
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_MAX_ITERATIONS

# reciprocal condition below which a block counts as singular
REGULAR = 1e-13
# number of sets of exchanged rows to search for
SETS = 200


class LcpSolution(NamedTuple):
    """Result of solve_lcp; z is 0 where no solution was found."""

    z: NDArray  # (n,)
    w: NDArray  # (n,)       M z + q
    residual: float  # largest |min(z, w)|
    status: int  # STOPPED_EXACT, STOPPED_NO_SOLUTION (a ray) or STOPPED_STALLED
    iterations: int  # pivots
    trail: NDArray  # (kept, n)   z after each pivot


def solve_lcp(M: ArrayLike, q: ArrayLike, most: int = 0, kept: int = 0) -> LcpSolution:
    """Find z >= 0 with w = M z + q >= 0 and z w = 0 by Lemke's method; M (n, n) is any matrix.

    `most`: largest number of pivots, 0: no limit; `kept`: number of iterates z to record.

    Raises ValueError when the sizes differ or a number is not finite.
    """
    matrix = np.array(M, dtype=float, ndmin=2)
    rhs = np.array(q, dtype=float)
    n = len(rhs)
    if matrix.shape != (n, n):
        raise ValueError(f"M has shape {matrix.shape}, q asks for {(n, n)}")
    if not (np.isfinite(matrix).all() and np.isfinite(rhs).all()):
        raise ValueError("M or q is not finite")
    table, basis = np.ones((n, n + 2)), np.zeros((2, n + 1), np.int64)
    table[:, :n], table[:, n + 1] = matrix, rhs
    z = np.zeros(n)
    trail = np.zeros((kept, n))
    status, count = lemke(table, basis, n, most, trail)
    if status in (STOPPED_EXACT, STOPPED_MAX_ITERATIONS):
        write_z(table, basis, n, z)
    w = matrix @ z + rhs
    return LcpSolution(z, w, float(np.abs(np.minimum(z, w)).max(initial=0.0)), status, count, trail)


@dataclass(frozen=True)
class Standard:
    """A box problem as w = M z + q, z >= 0, and the way back."""

    M: Array  # (m, m)
    q: Array  # (m,)
    sign: Array  # (n,)         x = base + sign z, n = m less the upper bounds
    upper: Mask  # (m,)   the multiplier of an upper bound instead


def standard_form(problem: Complementarity, base: Array) -> Standard:
    """Boxes with bounds as an LCP; equations and given values must be out already.

    base (n,)   lo, or hi where there is no lo
    """
    lo, hi, A = problem.lo, problem.hi, problem.dense
    low = np.isfinite(lo)
    both = np.flatnonzero(low & np.isfinite(hi))
    n, k = problem.n, len(both)
    sign = np.where(low, 1.0, -1.0)
    M = np.zeros((n + k, n + k))
    M[:n, :n] = sign[:, None] * A * sign
    # lo <= x <= hi:  z = x - lo with w + nu >= 0, and nu with hi - lo - z >= 0
    M[both, n + np.arange(k)] = 1.0
    M[n + np.arange(k), both] = -1.0
    q = np.concatenate([sign * (problem.b + A @ base), (hi - lo)[both]])
    upper = np.concatenate([np.zeros(n, bool), np.ones(k, bool)])
    return Standard(M, q, sign, upper)


def _regular(block: Array) -> bool:
    """Whether a matrix is numerically regular."""
    if not len(block):
        return True
    scale = np.abs(block).max(axis=1, initial=0.0)
    if not (scale > 0.0).all():
        return False
    return bool(1.0 / np.linalg.cond(block / scale[:, None]) > REGULAR)


def exchanges(problem: Complementarity, free: Mask, bounded: Mask) -> Iterator[Places]:
    """Sets R of rows with a regular block: the equations and the fewest of the others.

    The others have one bound: an exchanged variable keeps a sign condition, not a range.
    """
    one_sided = bounded & ~(np.isfinite(problem.lo) & np.isfinite(problem.hi))
    equations, others = np.flatnonzero(free), np.flatnonzero(one_sided)
    A = problem.dense
    if _regular(A[np.ix_(equations, equations)]):
        yield equations
        return
    E = A[np.ix_(equations, equations)]
    missing = max(len(equations) - int(np.linalg.matrix_rank(E)), 1)
    # rows outside the span of the equations go first: the others would not make the block regular
    left, right = scipy.linalg.null_space(E.T), scipy.linalg.null_space(E)
    sees = np.linalg.norm(left.T @ A[np.ix_(equations, others)], axis=0)
    sees = np.minimum(sees, np.linalg.norm(A[np.ix_(others, equations)] @ right, axis=1))
    useful = others[sees > 0.0]
    if len(useful) < missing:
        return
    # as many of them as span what is missing, by pivoted columns; other weights, other sets
    rng = np.random.default_rng(0)
    weight = np.ones(len(useful))
    for _ in range(SETS):
        columns = left.T @ A[np.ix_(equations, useful)] * weight
        order = scipy.linalg.qr(columns, mode="r", pivoting=True)[1]
        rows = np.concatenate([equations, useful[order[:missing]]])
        if _regular(A[np.ix_(rows, rows)]):
            yield rows
        weight = rng.uniform(0.1, 1.0, len(useful))


def exchange(A: Array, b: Array, R: Places) -> tuple[Array, Array]:
    """T, t with  [x_R, w_rest] = T [w_R, x_rest] + t  for  w = A x + b: the pivot on the block R.

    Check   tests/engine/complementarity/test_pivots.py
    """
    rest = np.setdiff1d(np.arange(len(b)), R)
    inverse = np.linalg.inv(A[np.ix_(R, R)])
    coupling = A[np.ix_(rest, R)] @ inverse
    T, t = np.zeros_like(A), np.zeros_like(b)
    T[np.ix_(R, R)] = inverse
    T[np.ix_(R, rest)] = -inverse @ A[np.ix_(R, rest)]
    T[np.ix_(rest, R)] = coupling
    T[np.ix_(rest, rest)] = A[np.ix_(rest, rest)] - coupling @ A[np.ix_(R, rest)]
    t[R] = -inverse @ b[R]
    t[rest] = b[rest] - coupling @ b[R]
    return T, t


class Path(ABC):
    """Lemke's path of a problem in one of its standard forms."""

    def __init__(self, problem: Complementarity, form: Standard) -> None:
        """Store both."""
        self.problem, self.form = problem, form

    @abstractmethod
    def unknowns(self, z: Array) -> Array:
        """x (n,) of a z of the standard form."""

    def follow(self, most: int) -> tuple[Array, int, Stopped]:
        """Follow the path for at most `most` pivots (0: no limit); return x, pivots, status."""
        found = solve_lcp(self.form.M, self.form.q, most)
        return self.unknowns(found.z), found.iterations, STOPPED[found.status]

    def residuals(self, most: int, count: int) -> Array:
        """Residual (count,) of x after each of the pivots that follow(most) made."""
        if count == 0:
            return np.zeros(0)
        trail = solve_lcp(self.form.M, self.form.q, most, kept=count).trail
        return np.array([measure.residual(self.problem, self.unknowns(z)) for z in trail])


class Exchanged(Path):
    """Lemke's path after the rows R are exchanged."""

    def __init__(self, problem: Complementarity, R: Places, free: Mask, given: Mask) -> None:
        """Rows R of regular block, equations among them."""
        low, high = np.isfinite(problem.lo), np.isfinite(problem.hi)
        self.R = R
        self.base = np.where(low, problem.lo, np.where(high, problem.hi, 0.0))
        self.rest = np.flatnonzero(~free & ~given)
        swapped = np.isin(self.rest, R)
        self.T, self.t = exchange(problem.dense, problem.b, R)
        # known parts of [w_R, x_rest]: equations and given values
        self.known = np.where(given, problem.lo, 0.0)
        offset = self.t + self.T @ self.known
        # an exchanged row requires w >= 0 and x - base >= 0, or both negated
        rest, base = self.rest, self.base
        from_below = low[rest]
        inner = Complementarity(
            scipy.sparse.csr_matrix(self.T[np.ix_(rest, rest)]),
            offset[rest] - np.where(swapped, base[rest], 0.0),
            np.where(swapped, np.where(from_below, 0.0, -np.inf), problem.lo[rest]),
            np.where(swapped, np.where(from_below, np.inf, 0.0), problem.hi[rest]),
            np.zeros(0),
        )
        self.start = np.where(swapped, 0.0, base[rest])
        super().__init__(problem, standard_form(inner, self.start))

    def unknowns(self, z: Array) -> Array:
        """x (n,) of a z of the standard form."""
        known = self.known.copy()
        known[self.rest] = self.start + self.form.sign * z[~self.form.upper]
        x = known.copy()
        x[self.R] = (self.T @ known + self.t)[self.R]
        return x


class Split(Path):
    """Lemke's path with x = z+ - z- in the rows without bounds."""

    def __init__(self, problem: Complementarity, free: Mask, given: Mask) -> None:
        """Any equations, regular or not."""
        kept, self.free = np.flatnonzero(~given), np.flatnonzero(free & ~given)
        self.known = np.where(given, problem.lo, 0.0)
        self.rows = np.concatenate([kept, self.free])
        sign = np.concatenate([np.ones(len(kept)), -np.ones(len(self.free))])
        b = problem.b + problem.dense @ self.known
        halves = free[self.rows]
        lo = np.where(halves, 0.0, problem.lo[self.rows])
        hi = np.where(halves, np.inf, problem.hi[self.rows])
        A = sign[:, None] * problem.dense[np.ix_(self.rows, self.rows)] * sign
        inner = Complementarity(
            scipy.sparse.csr_matrix(A), sign * b[self.rows], lo, hi, np.zeros(0)
        )
        self.sign, self.start = sign, np.where(np.isfinite(lo), lo, hi)
        super().__init__(problem, standard_form(inner, self.start))

    def unknowns(self, z: Array) -> Array:
        """x (n,) of a z of the standard form."""
        parts = self.start + self.form.sign * z[~self.form.upper]
        x = self.known.copy()
        np.add.at(x, self.rows, self.sign * parts)
        return x
