"""Exact methods for boxes: Lemke after the equations are out, Dantzig's and Keller's pivoting.

Lemke's method wants w = M z + q with z >= 0.  What has no bounds is taken out by a principal
pivot transform, which exchanges x and w of a set of rows R with a regular block A_RR:

    x_R = -A_RR^-1 (b_R - w_R + A_RC x_C)

R holds all equations and, where their own block is singular (circuits, redundant joints), as many
of the other rows as make it regular.  A bound on the other side is a change of sign, two of them
are two variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.linalg
import scipy.sparse

from engine.complementarity import measure
from engine.complementarity.problem import Array, Complementarity, Mask, Places, ProblemError
from engine.complementarity.solution import STOPPED, Answer, Rules, Stopped
from engine.solvers.box_lcp import make_pivots, solve_lcp
from engine.solvers.dense_problem import DenseProblem, project_guess
from engine.solvers.pivoting import pivot_boxes
from engine.world.problem import FRICTION_BOX

# reciprocal condition below which a block counts as singular
REGULAR = 1e-13
# sets of exchanged rows that are tried before it is given up
SETS, MONOTONE_SETS = 200, 5
# up to this many complementary rows all their 2^m cases are looked at in the end
ENUMERATED = 13
# errors, as a share of the largest |b|, of what is an answer
ANSWER = 1e-9


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


def lemke(problem: Complementarity, rules: Rules) -> Answer:
    """Lemke's method for boxes of any matrix, symmetric or not; a ray is `no_solution`.

    Lemke's path cannot start from a guess: one that is an answer already is returned, others help
    nothing. Where a history is asked for the path is gone a second time, to look at it.

    Check   tests/engine/complementarity/test_classes.py
    """
    refuse_contacts(problem, "lemke")
    if rules.guess is not None and _is_answer(problem, rules.guess):
        return Answer(rules.guess, Stopped.EXACT, 0, "lemke", np.zeros(0))
    given = problem.lo == problem.hi
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    # a ray tells that there is no answer where A is monotone; else other sets may have a path
    monotone = _is_monotone(problem)
    total, best, history = 0, np.where(given, problem.lo, 0.0), np.zeros(0)
    for rows in islice(
        _exchanges(problem, free & ~given, ~free & ~given), MONOTONE_SETS if monotone else SETS
    ):
        path = _Path(problem, rows, free, given)
        left = rules.max_iterations - total
        x, count, status = path.follow(left)
        total += count
        if rules.history:
            history = np.concatenate([history, path.residuals(left, count)])
        if status is Stopped.MAX_ITERATIONS:
            return Answer(x, status, total, "lemke", history)
        if status is Stopped.EXACT:
            x = polish(problem, x)
            if _is_answer(problem, x):
                return Answer(x, Stopped.EXACT, total, "lemke", history)
            best = x
        if total == rules.max_iterations > 0:
            return Answer(best, Stopped.MAX_ITERATIONS, total, "lemke", history)
    found_case = None if monotone else enumerate_cases(problem, free, given)
    if found_case is not None:
        return Answer(found_case, Stopped.EXACT, total, "lemke", history)
    return Answer(best, Stopped.NO_SOLUTION, total, "lemke", history)


def _is_monotone(problem: Complementarity) -> bool:
    """Whether x A x >= 0 for every x."""
    eigenvalues = np.linalg.eigvalsh(problem.dense + problem.dense.T)
    return bool(eigenvalues.min(initial=0.0) >= -1e-12 * np.abs(eigenvalues).max(initial=0.0))


def refuse_contacts(problem: Complementarity, method: str) -> None:
    """Raise ProblemError for what this method does not solve."""
    if len(problem.mu):
        raise ProblemError("method", f"'{method}' solves boxes, not friction contacts")


def _is_answer(problem: Complementarity, x: Array) -> bool:
    """Whether x obeys the law, but for rounding."""
    unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    return measure.residual(problem, x) <= ANSWER * unit


def _regular(block: Array) -> bool:
    """Whether a matrix has an inverse worth the name."""
    if not len(block):
        return True
    scale = np.abs(block).max(axis=1, initial=0.0)
    if not (scale > 0.0).all():
        return False
    return bool(1.0 / np.linalg.cond(block / scale[:, None]) > REGULAR)


def _exchanges(problem: Complementarity, free: Mask, bounded: Mask) -> Iterator[Places]:
    """Sets R of rows with a regular block: the equations and the fewest of the others."""
    equations, others = np.flatnonzero(free), np.flatnonzero(bounded)
    A = problem.dense
    if _regular(A[np.ix_(equations, equations)]):
        yield equations
        return
    E = A[np.ix_(equations, equations)]
    missing = max(len(equations) - int(np.linalg.matrix_rank(E)), 1)
    # rows that see what the equations miss go first: the others would not make them regular
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


class _Path:
    """Lemke's path after the rows R are exchanged."""

    def __init__(self, problem: Complementarity, R: Places, free: Mask, given: Mask) -> None:
        low, high = np.isfinite(problem.lo), np.isfinite(problem.hi)
        self.problem, self.R = problem, R
        self.base = np.where(low, problem.lo, np.where(high, problem.hi, 0.0))
        self.rest = np.flatnonzero(~free & ~given)
        swapped = np.isin(self.rest, R)
        # what is swapped must have one bound, not two
        self.is_open = not bool((swapped & (low & high)[self.rest]).any())
        if not self.is_open:
            return
        self.T, self.t = exchange(problem.dense, problem.b, R)
        # known of [w_R, x_rest]: equations and what is given
        self.known = np.where(given, problem.lo, 0.0)
        offset = self.t + self.T @ self.known
        # a swapped row asks w >= 0 and x - base >= 0, or both turned
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
        self.form = standard_form(inner, self.start)

    def _unknowns(self, z: Array) -> Array:
        """x (n,) of a z of the standard form."""
        known = self.known.copy()
        known[self.rest] = self.start + self.form.sign * z[~self.form.upper]
        x = known.copy()
        x[self.R] = (self.T @ known + self.t)[self.R]
        return x

    def follow(self, most: int) -> tuple[Array, int, Stopped]:
        """Where the path leads in at most so many pivots (0: any); x, pivots, how it ended."""
        if not self.is_open:
            return self.base, 0, Stopped.NO_SOLUTION
        found = solve_lcp(self.form.M, self.form.q, most)
        return self._unknowns(found.z), found.iterations, STOPPED[found.status]

    def residuals(self, most: int, count: int) -> Array:
        """Residual (count,) of x after each of the pivots that follow(most) made."""
        if count == 0:
            return np.zeros(0)
        trail = solve_lcp(self.form.M, self.form.q, most, kept=count).trail
        return np.array([measure.residual(self.problem, self._unknowns(z)) for z in trail])


def polish(problem: Complementarity, x: Array) -> Array:
    """Take rounding off: solve for what is inside its bounds with all others on them."""
    w = measure.velocities(problem, x)
    D = np.where(np.abs(problem.A.diagonal()) > 0.0, np.abs(problem.A.diagonal()), 1.0)
    at_low = np.abs(D * (x - problem.lo)) <= np.abs(w)
    at_high = np.abs(D * (problem.hi - x)) <= np.abs(w)
    out = np.where(at_low, problem.lo, np.where(at_high, problem.hi, x))
    F = np.flatnonzero(~(at_low | at_high))
    if not len(F):
        return out if measure.residual(problem, out) <= measure.residual(problem, x) else x
    block = problem.dense[np.ix_(F, F)]
    for _ in range(3):
        rest = measure.velocities(problem, out)[F]
        out[F] -= np.linalg.lstsq(block, rest, rcond=None)[0]
    return out if measure.residual(problem, out) <= measure.residual(problem, x) else x


def enumerate_cases(problem: Complementarity, free: Mask, given: Mask) -> Array | None:
    """The first answer among all cases of who is on which bound; None: too many, or none is.

    Where a case leaves x undetermined its shortest x is tried, no other.
    """
    bounded = np.flatnonzero(~free & ~given)
    if len(bounded) > ENUMERATED:
        return None
    A = problem.dense
    for case in range(2 ** len(bounded)):
        on = bounded[(case >> np.arange(len(bounded))) & 1 == 1]
        x = np.where(given, problem.lo, 0.0)
        x[on] = np.where(np.isfinite(problem.lo[on]), problem.lo[on], problem.hi[on])
        F = np.setdiff1d(np.flatnonzero(~given), on)
        x[F] = np.linalg.lstsq(A[np.ix_(F, F)], -(problem.b + A @ x)[F], rcond=None)[0]
        if _is_answer(problem, x):
            return polish(problem, x)
    return None


def pivoting(problem: Complementarity, rules: Rules) -> Answer:
    """Dantzig's and Keller's pivoting for boxes of a symmetric matrix >= 0, from any guess.

    Check   tests/engine/complementarity/test_classes.py
    """
    refuse_contacts(problem, "pivoting")
    if not problem.is_symmetric:
        raise ProblemError("A", "is not symmetric, as 'pivoting' needs; 'lemke' takes any matrix")
    n = problem.n
    A = 0.5 * (problem.dense + problem.dense.T)
    lam = np.zeros(n) if rules.guess is None else rules.guess.copy()
    dp = DenseProblem(
        A=A,
        b=problem.b.copy(),
        lo=problem.lo.copy(),
        hi=problem.hi.copy(),
        mu=np.zeros(n),
        scale=np.diag(A).copy(),
        lam=lam,
        w=np.zeros(n),
        n=n,
        n_box=n,
        friction_kind=FRICTION_BOX,
        directions=0,
        first_follower=n,
        normal=np.zeros(n, np.int64),
    )
    project_guess(dp)
    guess = dp.lam.copy()
    status, count = pivot_boxes(dp, make_pivots(n), rules.max_iterations)
    x, stopped = dp.lam.copy(), STOPPED[status]
    if stopped is Stopped.MAX_ITERATIONS and _is_answer(problem, x):
        stopped = Stopped.EXACT
    history = np.zeros(0)
    if rules.history and count > 0:
        dp.lam[:] = guess
        pivots = make_pivots(n, kept=count)
        pivot_boxes(dp, pivots, rules.max_iterations)
        history = np.array([measure.residual(problem, lam) for lam in pivots.trail])
    return Answer(x, stopped, int(count), "pivoting", history)
