"""Equations out first, the rest on what they leave.

    [A_EE A_ER] [lam_E]   [b_E]   [0  ]      S   = A_RR - A_RE A_EE^-1 A_ER
    [A_RE A_RR] [lam_R] + [b_R] = [w_R]      b_S = b_R  - A_RE A_EE^-1 b_E

Rows E are the equations (lo = -inf, hi = inf); a dependent one is left out with lam = 0.  The rest
sees  S lam_R + b_S = w_R, whoever solves that; then  lam_E = -A_EE^-1 (b_E + A_ER lam_R).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.kernel import kernel
from engine.solvers.dense_problem import DenseProblem
from engine.solvers.linear import (
    DEPENDENT,
    TELLING,
    Factor,
    add_row,
    row_dot,
    solve_lower,
    solve_upper,
)
from engine.solvers.operator import first_follower, write_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Dense, Problem


@kernel
def is_equation(problem: Problem, i: int) -> bool:
    """Whether row i (a box row) has no bounds."""
    return problem.lo[i] == -np.inf and problem.hi[i] == np.inf


@kernel
def _write_order(problem: Problem, eliminate: bool, order: NDArray) -> int:
    """Rows with the equations first (if they are to be eliminated); returns their number."""
    n_rows, n_box = problem.count[0], problem.count[1]
    n_equations = 0
    if eliminate:
        for i in range(n_box):
            if is_equation(problem, i):
                order[n_equations] = i
                n_equations += 1
    p = n_equations
    for i in range(n_rows):
        if not (eliminate and i < n_box and is_equation(problem, i)):
            order[p] = i
            p += 1
    return n_equations


@kernel
def _write_lower_row(factor: Factor, X: NDArray, r: int, scratch: NDArray) -> None:
    """X[r, 0:k] <- L^-1 X[r, order]: one row of A_RE L^-T, by way of a copy in `scratch`."""
    L, order, first = factor.L, factor.order, factor.first
    k = factor.size[0]
    for j in range(k):
        scratch[j] = X[r, order[j]]
    start = k
    for j in range(k):
        value = scratch[j]
        if start == k:
            if value == 0.0:
                X[r, j] = 0.0
                continue
            start = j
        begin = max(start, first[j])
        X[r, j] = (value - row_dot(L, j, X, r, begin, j)) / L[j, j]


@kernel
def _factor_equations(dense: Dense, n_equations: int, factor: Factor) -> None:
    """Factor of A_EE: the telling rows in their order, then of the others what is not dependent.

    Writes  factor; dense.indices[5]: rows put off
    """
    later = dense.indices[5]
    n_later = 0
    for p in range(n_equations):
        if not add_row(dense.A, p, TELLING, factor):
            later[n_later] = p
            n_later += 1
    for q in range(n_later):
        add_row(dense.A, later[q], DEPENDENT, factor)


@kernel
def _write_rest(problem: Problem, dense: Dense, n_equations: int, k: int) -> None:
    """S, b_S and the bounds of the rows that are no equations, from A with Y = A_RE L^-T in it."""
    b, lo, hi, mu, scale, lam = (
        dense.vectors[0],
        dense.vectors[1],
        dense.vectors[2],
        dense.vectors[3],
        dense.vectors[4],
        dense.vectors[5],
    )
    c = dense.vectors[7]
    order, normal = dense.indices[0], dense.indices[8]
    A, S = dense.A, dense.S
    m = problem.count[0] - n_equations
    for r in range(m):
        p = n_equations + r
        i = order[p]
        b[r] = problem.b[i]
        for t in range(k):
            b[r] -= A[p, t] * c[t]
        lo[r] = problem.lo[i]
        hi[r] = problem.hi[i]
        mu[r] = problem.mu[i]
        scale[r] = problem.diagonal[i]
        lam[r] = problem.lam[i]
        # a follower's normal is a contact row, and contacts keep their place behind the boxes
        normal[r] = problem.normal_row[i] - n_equations
        for s in range(r + 1):
            S[r, s] = A[p, n_equations + s] - row_dot(A, p, A, n_equations + s, 0, k)
            S[s, r] = S[r, s]
    # what the equations decide alone is left to rounding in S: there it must not push
    for r in range(m):
        if not S[r, r] > DEPENDENT * scale[r]:
            for s in range(m):
                S[r, s] = 0.0
                S[s, r] = 0.0


@kernel
def reduce_problem(
    problem: Problem, dense: Dense, eliminate: bool
) -> tuple[DenseProblem, Factor, int]:
    """Form the dense problem on what is no equation; returns it, the factor of A_EE and |E|.

    Without `eliminate` no row counts as an equation: the dense problem is the whole Problem.

    Source  Baraff 1996, "Linear-Time Dynamics using Lagrange Multipliers", for the split
    Check   tests/engine/solvers/test_elimination.py
    Writes  dense: A (rows order[E], order[R]; A_RE becomes A_RE L^-T), factor, S;
            vectors 0 b, 1 lo, 2 hi, 3 mu, 4 scale, 5 lam, 6 w, 7 L^-1 b_E;
            indices 0 order, 1 and 2 movers, then sizes of factors, 3 and 4 factor of A_EE,
            8 normal
    """
    order = dense.indices[0]
    n = problem.count[0]
    n_equations = _write_order(problem, eliminate, order)
    write_matrix(problem, order, n, dense.A, dense.indices[1:3])
    factor = Factor(dense.factor, dense.indices[3], dense.indices[4], dense.indices[1])
    factor.size[0] = 0
    _factor_equations(dense, n_equations, factor)
    k = factor.size[0]
    c = dense.vectors[7]
    for t in range(k):
        c[t] = problem.b[order[factor.order[t]]]
    solve_lower(factor, c)
    for p in range(n_equations, n):
        _write_lower_row(factor, dense.A, p, dense.vectors[6])
    _write_rest(problem, dense, n_equations, k)
    dp = DenseProblem(
        dense.S,
        dense.vectors[0],
        dense.vectors[1],
        dense.vectors[2],
        dense.vectors[3],
        dense.vectors[4],
        dense.vectors[5],
        dense.vectors[6],
        n - n_equations,
        problem.count[1] - n_equations,
        problem.friction_kind[0],
        problem.friction_kind[1],
        first_follower(problem) - n_equations,
        dense.indices[8],
    )
    return dp, factor, n_equations


@kernel
def restore_solution(
    problem: Problem, dense: Dense, dp: DenseProblem, factor: Factor, n_equations: int
) -> None:
    """problem.lam from lam_R:  lam_E = -L^-T (L^-1 b_E + Y^T lam_R); 0 for dependent equations."""
    order = dense.indices[0]
    c = dense.vectors[7]
    k = factor.size[0]
    for r in range(dp.n):
        problem.lam[order[n_equations + r]] = dp.lam[r]
        if dp.lam[r] != 0.0:
            for t in range(k):
                c[t] += dense.A[n_equations + r, t] * dp.lam[r]
    solve_upper(factor, c)
    for p in range(n_equations):
        problem.lam[order[p]] = 0.0
    for t in range(k):
        problem.lam[order[factor.order[t]]] = -c[t]
