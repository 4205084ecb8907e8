"""Exact methods for boxes: Lemke on the paths of paths.py, Dantzig's and Keller's pivoting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import scipy.optimize

from cardan.engine.complementarity import measure
from cardan.engine.complementarity.paths import SETS, Exchanged, Path, Split, exchanges
from cardan.engine.complementarity.problem import Array, Complementarity, Mask, Places, ProblemError
from cardan.engine.complementarity.solution import STOPPED, Answer, MethodOptions, Stopped
from cardan.engine.solvers.direct.cholesky import Factor
from cardan.engine.solvers.direct.dense_problem import DenseProblem, project_guess
from cardan.engine.solvers.pivoting.principal import Pivots, pivot_boxes
from cardan.engine.world.problem import FRICTION_BOX

# sets of exchanged rows that are tried on monotone problems before the equations are split
MONOTONE_SETS = 5
# largest number of active sets to enumerate at the end
CASES = 2**13
# largest number of linear programs for active sets that leave x undetermined
PROGRAMS = 500
# tolerance of a solution, as a share of the largest |b|
ANSWER = 1e-9


def make_pivots(n: int, kept: int = 0) -> Pivots:
    """Scratch of pivoting for n rows; `kept`: number of moves whose lam is recorded."""
    order, first, state = (np.zeros(n, np.int64) for _ in range(3))
    factor = Factor(np.zeros((n, n)), order, first, np.zeros(1, np.int64))
    return Pivots(factor, state, np.zeros(n), np.zeros(n), np.zeros((kept, n)))


def lemke(problem: Complementarity, options: MethodOptions) -> Answer:
    """Lemke's method for boxes of any matrix, symmetric or not; rays only are `not_found`.

    Lemke's path cannot start from a guess: a guess that solves the problem is returned, others are
    ignored. For a history the path is followed a second time.

    Check   tests/engine/complementarity/test_classes.py, test_singular.py
    """
    refuse_contacts(problem, "lemke")
    if options.guess is not None and is_answer(problem, options.guess):
        return Answer(options.guess, Stopped.EXACT, 0, "lemke", np.zeros(0))
    given = problem.lo == problem.hi
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    monotone = _is_monotone(problem)
    total, best, history = 0, np.where(given, problem.lo, 0.0), np.zeros(0)
    for path in _paths(problem, free, given, MONOTONE_SETS if monotone else SETS):
        left = options.max_iterations - total
        x, count, status = path.follow(left)
        total += count
        if options.history:
            history = np.concatenate([history, path.residuals(left, count)])
        if status is Stopped.MAX_ITERATIONS:
            return Answer(x, status, total, "lemke", history)
        if status is Stopped.EXACT:
            x = polish(problem, x)
            if is_answer(problem, x):
                return Answer(x, Stopped.EXACT, total, "lemke", history)
            best = x
        if total == options.max_iterations > 0:
            return Answer(best, Stopped.MAX_ITERATIONS, total, "lemke", history)
    found_case = None if monotone else enumerate_cases(problem, free, given)
    if found_case is not None:
        return Answer(found_case, Stopped.EXACT, total, "lemke", history)
    return Answer(best, Stopped.NOT_FOUND, total, "lemke", history)


def _paths(problem: Complementarity, free: Mask, given: Mask, most: int) -> Iterator[Path]:
    """Exchanged forms, then the split form, which needs no regular block."""
    equations, bounded = free & ~given, ~free & ~given
    for rows in islice(exchanges(problem, equations, bounded), most):
        yield Exchanged(problem, rows, free, given)
    if equations.any():
        yield Split(problem, free, given)


def _is_monotone(problem: Complementarity) -> bool:
    """Whether x A x >= 0 for every x."""
    eigenvalues = np.linalg.eigvalsh(problem.dense + problem.dense.T)
    return bool(eigenvalues.min(initial=0.0) >= -1e-12 * np.abs(eigenvalues).max(initial=0.0))


def refuse_contacts(problem: Complementarity, method: str) -> None:
    """Raise ProblemError if the problem has contacts."""
    if len(problem.mu):
        raise ProblemError("method", f"'{method}' solves boxes, not friction contacts")


def is_answer(problem: Complementarity, x: Array) -> bool:
    """Whether x obeys the law up to rounding."""
    unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    return measure.residual(problem, x) <= ANSWER * unit


def polish(problem: Complementarity, x: Array) -> Array:
    """Refine x: solve for the variables inside their bounds with all others on their bounds."""
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
    """First solution among all active sets; None: too many sets, or none solves the problem.

    If an active set leaves x undetermined and the least-norm x is not a solution, a linear program
    searches for one within the bounds.
    """
    bounded = np.flatnonzero(~free & ~given)
    bounds = [_bounds_of(problem, int(i)) for i in bounded]
    count = np.array([1 + len(values) for values in bounds], dtype=np.int64)
    if len(bounded) > np.log2(CASES) or int(np.prod(count)) > CASES:
        return None
    A, programs = problem.dense, PROGRAMS
    for case in np.ndindex(*count):
        x = np.where(given, problem.lo, 0.0)
        on = [i for i, k in zip(bounded, case, strict=True) if k > 0]
        x[on] = [values[k - 1] for values, k in zip(bounds, case, strict=True) if k > 0]
        F: Places = np.setdiff1d(np.flatnonzero(~given), on).astype(np.int64)
        rhs = -(problem.b + A @ x)[F]
        x[F], _, rank, _ = np.linalg.lstsq(A[np.ix_(F, F)], rhs, rcond=None)
        if is_answer(problem, x):
            return polish(problem, x)
        if rank < len(F) and programs > 0:
            programs -= 1
            found = _within(problem, x, F)
            if found is not None and is_answer(problem, found):
                return polish(problem, found)
    return None


def _bounds_of(problem: Complementarity, i: int) -> list[float]:
    """The finite bounds of an unknown."""
    return [bound for bound in (problem.lo[i], problem.hi[i]) if np.isfinite(bound)]


def _within(problem: Complementarity, x: Array, F: Places) -> Array | None:
    """x with x_F within its bounds, w_F = 0, and w of the signs that the others' bounds ask."""
    A, rest = problem.dense, np.setdiff1d(np.arange(problem.n), F)
    known = x.copy()
    known[F] = 0.0
    offset = problem.b + A @ known
    rest = rest[problem.lo[rest] < problem.hi[rest]]
    sign = np.where(x[rest] == problem.lo[rest], -1.0, 1.0)
    found = scipy.optimize.linprog(
        np.zeros(len(F)),
        A_ub=sign[:, None] * A[np.ix_(rest, F)],
        b_ub=-sign * offset[rest],
        A_eq=A[np.ix_(F, F)],
        b_eq=-offset[F],
        bounds=np.column_stack([problem.lo[F], problem.hi[F]]),
    )
    if found.x is None:
        return None
    known[F] = found.x
    return known


def pivoting(problem: Complementarity, options: MethodOptions) -> Answer:
    """Dantzig's and Keller's pivoting for boxes of a symmetric matrix >= 0, from any guess.

    Check   tests/engine/complementarity/test_classes.py
    """
    refuse_contacts(problem, "pivoting")
    if not problem.is_symmetric:
        raise ProblemError("A", "is not symmetric, as 'pivoting' needs; 'lemke' takes any matrix")
    n = problem.n
    A = 0.5 * (problem.dense + problem.dense.T)
    lam = np.zeros(n) if options.guess is None else options.guess.copy()
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
        first_dependent=n,
        normal=np.zeros(n, np.int64),
    )
    project_guess(dp)
    guess = dp.lam.copy()
    status, count = pivot_boxes(dp, make_pivots(n), options.max_iterations)
    x, stopped = dp.lam.copy(), STOPPED[status]
    if stopped is Stopped.MAX_ITERATIONS and is_answer(problem, x):
        stopped = Stopped.EXACT
    history = np.zeros(0)
    if options.history and count > 0:
        dp.lam[:] = guess
        pivots = make_pivots(n, kept=count)
        pivot_boxes(dp, pivots, options.max_iterations)
        history = np.array([measure.residual(problem, lam) for lam in pivots.trail])
    return Answer(x, stopped, int(count), "pivoting", history)
