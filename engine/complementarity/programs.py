"""Linear and convex quadratic programs as mixed complementarity problems.

    minimise  x P x / 2 + c x   with  A_ub x <= b_ub,  A_eq x = b_eq,  lo <= x <= hi

    w_x  = P x + c + A_ub^T y + A_eq^T v    complementary to lo <= x <= hi
    w_y  = b_ub - A_ub x >= 0               complementary to y >= 0
    0    = b_eq - A_eq x                    v free

The matrix is positive semi-definite, so where Lemke's method finds nothing there is a proof that
there is nothing: the constraints contradict each other, or the objective has no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from cardan.engine.complementarity import measure
from cardan.engine.complementarity.classes import Options, split_options
from cardan.engine.complementarity.methods import INDEFINITE, solve
from cardan.engine.complementarity.problem import (
    Array,
    Complementarity,
    Places,
    ProblemError,
    any_matrix,
    problem,
    square_matrix,
    vector,
)
from cardan.engine.complementarity.solution import MethodOptions, Solution, Stopped

Verdict = Literal["optimal", "infeasible", "unbounded", "not_converged"]

# contradictions between equations, as a share of their largest number
CONTRADICTION = 1e-9


@dataclass(frozen=True)
class Program:
    """Result of a program."""

    x: Array  # (n,)
    objective: float  # x P x / 2 + c x
    y_ub: Array  # (n_ub,) >= 0   multipliers of A_ub x <= b_ub
    y_eq: Array  # (n_eq,)        multipliers of A_eq x = b_eq
    verdict: Verdict
    solution: Solution  # of the complementarity problem


@dataclass(frozen=True)
class Constraints:
    """Everything but the objective, checked."""

    A_ub: Array  # (n_ub, n)   finite upper bounds of x included, at the end
    b_ub: Array  # (n_ub,)
    A_eq: Array  # (n_eq, n)   of full row rank
    b_eq: Array  # (n_eq,)
    lo: Array  # (n,)          -inf: none
    kept: Places  # (n_eq,) rows of the caller's A_eq
    n_ub: int  # rows of the caller's A_ub
    n_eq: int  # rows of the caller's A_eq
    contradicts: bool  # dependent equations that do not agree


def solve_lp(
    c: ArrayLike,
    A_ub: Any = None,
    b_ub: ArrayLike = (),
    A_eq: Any = None,
    b_eq: ArrayLike = (),
    bounds: tuple[ArrayLike, ArrayLike] = (0.0, np.inf),
    **options: Unpack[Options],
) -> Program:
    """Minimise c x;  bounds (lo, hi): numbers or vectors. Raises ProblemError.

    Check   tests/engine/complementarity/test_programs.py: against scipy.optimize.linprog
    """
    cost = vector("c", c)
    given = _constraints(len(cost), A_ub, b_ub, A_eq, b_eq, bounds)
    return _solve(np.zeros((len(cost), len(cost))), cost, given, options)


def solve_qp(
    P: Any,
    c: ArrayLike,
    A_ub: Any = None,
    b_ub: ArrayLike = (),
    A_eq: Any = None,
    b_eq: ArrayLike = (),
    bounds: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf),
    **options: Unpack[Options],
) -> Program:
    """Minimise x P x / 2 + c x, P symmetric and without negative eigenvalues. Raises ProblemError.

    Check   tests/engine/complementarity/test_programs.py: against scipy.optimize.minimize
    """
    cost = vector("c", c)
    H = np.asarray(square_matrix("P", P, len(cost)).toarray())
    largest = np.abs(H).max(initial=0.0)
    if np.abs(H - H.T).max(initial=0.0) > 1e-12 * largest:
        raise ProblemError("P", "is not symmetric")
    if len(H) and np.linalg.eigvalsh(H)[0] < -INDEFINITE * largest:
        raise ProblemError("P", "has a negative eigenvalue: the program is not convex")
    given = _constraints(len(cost), A_ub, b_ub, A_eq, b_eq, bounds)
    return _solve(H, cost, given, options)


def _pair(names: tuple[str, str], A: Any, b: ArrayLike, n: int) -> tuple[Array, Array]:
    """Rows and right side of constraints on n unknowns."""
    rhs = vector(names[1], b)
    if A is None:
        if len(rhs):
            raise ProblemError(names[0], f"is missing, `{names[1]}` has {len(rhs)} entries")
        return np.zeros((0, n)), rhs
    rows = np.asarray(any_matrix(names[0], A).toarray())
    if rows.shape != (len(rhs), n):
        raise ProblemError(names[0], f"has shape {rows.shape}; {(len(rhs), n)} is needed")
    return rows, rhs


def _constraints(
    n: int,
    A_ub: Any,
    b_ub: ArrayLike,
    A_eq: Any,
    b_eq: ArrayLike,
    bounds: tuple[ArrayLike, ArrayLike],
) -> Constraints:
    """Check, turn upper bounds into rows, leave dependent equations out."""
    upper, limit = _pair(("A_ub", "b_ub"), A_ub, b_ub, n)
    rows, rhs = _pair(("A_eq", "b_eq"), A_eq, b_eq, n)
    try:
        low, high = (np.array(np.broadcast_to(bound, n), dtype=float) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise ProblemError("bounds", f"must be (lo, hi), numbers or {n} entries each") from error
    if not (low <= high).all():
        i = int(np.argmin(low <= high))
        raise ProblemError("bounds", f"entry {i}: {low[i]:g} is above {high[i]:g}")
    bounded = np.flatnonzero(np.isfinite(high))
    n_ub = len(limit)
    upper = np.vstack([upper, np.eye(n)[bounded]])
    limit = np.concatenate([limit, high[bounded]])
    kept = np.arange(len(rhs))
    contradicts = False
    if len(rhs):
        order = scipy.linalg.qr(rows.T, mode="r", pivoting=True)[1]
        kept = np.sort(order[: np.linalg.matrix_rank(rows)])
        x = np.linalg.lstsq(rows, rhs, rcond=None)[0]
        unit = max(np.abs(rhs).max(), np.abs(rows).max() * np.abs(x).max(initial=0.0))
        contradicts = bool(np.abs(rows @ x - rhs).max() > CONTRADICTION * unit)
    return Constraints(upper, limit, rows[kept], rhs[kept], low, kept, n_ub, len(rhs), contradicts)


def mixed_problem(P: Array, c: Array, given: Constraints) -> Complementarity:
    """The conditions above as boxes: x, y, v."""
    n, n_ub, n_eq = len(c), len(given.b_ub), len(given.b_eq)
    M = np.zeros((n + n_ub + n_eq, n + n_ub + n_eq))
    M[:n, :n] = P
    M[:n, n : n + n_ub], M[n : n + n_ub, :n] = given.A_ub.T, -given.A_ub
    M[:n, n + n_ub :], M[n + n_ub :, :n] = given.A_eq.T, -given.A_eq
    lo = np.concatenate([given.lo, np.zeros(n_ub), np.full(n_eq, -np.inf)])
    q = np.concatenate([c, given.b_ub, given.b_eq])
    return problem(M, q, lo, np.full(len(q), np.inf))


def in_units(
    P: Array, c: Array, given: Constraints
) -> tuple[tuple[Array, Array, Constraints], Array]:
    """P, c and constraints of the order of 1, and the units (n,) of the unknowns of the conditions.

    A tolerance is a share of the largest number: costs of 1e-3 beside bounds of 1e5 would be
    rounding. Rows of constraints are divided by their largest entry, x by the largest bound, and
    the objective by the largest cost.
    """
    rows, equations = (
        np.abs(A).max(axis=1, initial=0.0) if len(A) else np.zeros(0)
        for A in (given.A_ub, given.A_eq)
    )
    rows, equations = np.where(rows > 0.0, rows, 1.0), np.where(equations > 0.0, equations, 1.0)
    sizes = [given.b_ub / rows, given.b_eq / equations, given.lo[np.isfinite(given.lo)]]
    length = float(np.abs(np.concatenate(sizes)).max(initial=0.0)) or 1.0
    cost = float(np.abs(c).max(initial=0.0)) or 1.0
    scaled = replace(
        given,
        A_ub=given.A_ub / rows[:, None],
        b_ub=given.b_ub / rows / length,
        A_eq=given.A_eq / equations[:, None],
        b_eq=given.b_eq / equations / length,
        lo=given.lo / length,
    )
    unit = np.concatenate([np.full(len(c), length), cost / rows, cost / equations])
    return (P * (length / cost), c / cost, scaled), unit


def in_original_units(solution: Solution, conditions: Complementarity, unit: Array) -> Solution:
    """A solution of scaled conditions, measured in those of the caller but for its history."""
    x, proof = solution.x * unit, solution.certificate
    return replace(
        solution,
        x=x,
        w=measure.velocities(conditions, x),
        residual=measure.residual(conditions, x),
        certificate=None if proof is None else proof * unit,
    )


def _solve(P: Array, c: Array, given: Constraints, options: Options) -> Program:
    """Solve the conditions in units of their own, and interpret a missing solution."""
    method, chosen = split_options(options)
    scaled, unit = in_units(P, c, given)
    if chosen.guess is not None and np.shape(chosen.guess) == unit.shape:
        chosen = replace(chosen, guess=chosen.guess / unit)
    solution = in_original_units(
        solve(mixed_problem(*scaled), method, chosen), mixed_problem(P, c, given), unit
    )
    n, n_ub = len(c), len(given.b_ub)
    x = solution.x[:n]
    y_eq = np.zeros(given.n_eq)
    y_eq[given.kept] = solution.x[n + n_ub :]
    verdict: Verdict = "optimal"
    if given.contradicts:
        verdict = "infeasible"
    elif not solution.solved:
        verdict = _why_not(c, scaled[2], solution)
    return Program(
        x,
        float(0.5 * x @ P @ x + c @ x),
        solution.x[n : n + given.n_ub],
        y_eq,
        verdict,
        solution,
    )


def _why_not(c: Array, given: Constraints, solution: Solution) -> Verdict:
    """Search for a feasible point; without one the constraints are infeasible."""
    if solution.stopped is not Stopped.NO_SOLUTION:
        return "not_converged"
    any_point = solve(
        mixed_problem(np.eye(len(c)), np.zeros(len(c)), given), "lemke", MethodOptions()
    )
    if any_point.solved:
        return "unbounded"
    return "infeasible" if any_point.stopped is Stopped.NO_SOLUTION else "not_converged"
