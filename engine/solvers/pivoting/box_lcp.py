"""Box LCPs and LCPs given as plain matrices, for experiments, tests and comparisons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.solvers.direct.cholesky import Factor
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.solvers.newton.semismooth import NewtonScratch, newton
from cardan.engine.solvers.pivoting.lemke import lemke, write_z
from cardan.engine.solvers.pivoting.principal import Pivots, pivot_boxes
from cardan.engine.solvers.sweeps.dense import StoppingRules, iterate, iterate_jacobi
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_MAX_ITERATIONS


class LcpSolution(NamedTuple):
    """Result of solve_lcp; z is 0 where no solution was found."""

    z: NDArray  # (n,)
    w: NDArray  # (n,)       M z + q
    residual: float  # largest |min(z, w)|
    status: int  # STOPPED_EXACT, STOPPED_NO_SOLUTION (a ray) or STOPPED_STALLED
    iterations: int  # pivots
    trail: NDArray  # (kept, n)   z after each pivot


METHODS = ("pivoting", "newton", "gauss_seidel", "jacobi")


class BoxSolution(NamedTuple):
    """Result of solve_box_lcp."""

    lam: NDArray  # (n,)
    w: NDArray  # (n,)       A lam + b
    residual: float  # largest natural map, scaled by the diagonal of A
    status: int  # STOPPED_... of world/report.py
    iterations: int  # sweeps, pivots or Newton steps


def make_pivots(n: int, kept: int = 0) -> Pivots:
    """Scratch of pivoting for n rows; `kept`: number of moves whose lam is recorded."""
    order, first, state = (np.zeros(n, np.int64) for _ in range(3))
    factor = Factor(np.zeros((n, n)), order, first, np.zeros(1, np.int64))
    return Pivots(factor, state, np.zeros(n), np.zeros(n), np.zeros((kept, n)))


def make_newton(n: int) -> NewtonScratch:
    """Scratch of Newton for n rows."""
    return NewtonScratch(np.zeros((n, n)), *(np.zeros(n) for _ in range(4)))


def solve_box_lcp(
    A: ArrayLike,
    b: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    method: str = "pivoting",
    rules: StoppingRules | None = None,
    relaxation: float = 1.0,
    guess: ArrayLike | None = None,
) -> BoxSolution:
    """Find lam with w = A lam + b: lam on lo -> w >= 0, inside -> w = 0, on hi -> w <= 0.

    A (n, n) symmetric positive semi-definite; lo, hi (n,) or numbers, may be infinite.
    `rules` and `relaxation` apply to the iterations; pivoting is finite.
    Raises ValueError when A is not symmetric, the sizes differ, lo > hi or the method is unknown.
    """
    matrix = np.array(A, dtype=float, ndmin=2)
    rhs = np.array(b, dtype=float)
    n = len(rhs)
    low = np.array(np.broadcast_to(np.asarray(lo, dtype=float), n))
    high = np.array(np.broadcast_to(np.asarray(hi, dtype=float), n))
    if matrix.shape != (n, n):
        raise ValueError(f"A has shape {matrix.shape}, b asks for {(n, n)}")
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=1e-12 * np.abs(matrix).max(initial=0)):
        raise ValueError("A is not symmetric")
    if not np.all(low <= high):
        raise ValueError("lo > hi")
    if method not in METHODS:
        raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")
    lam = np.zeros(n) if guess is None else np.array(guess, dtype=float)
    dp = DenseProblem(
        matrix,
        rhs,
        low,
        high,
        np.zeros(n),
        np.diag(matrix).copy(),
        lam,
        np.zeros(n),
        n,
        n,
        FRICTION_BOX,
        0,
        n,
        np.zeros(n, np.int64),
    )
    rules = rules or StoppingRules(10_000, 1e-12, -1.0)
    project_guess(dp)
    if method == "pivoting":
        status, count = pivot_boxes(dp, make_pivots(n), 0)
    elif method == "newton":
        status, count = newton(dp, make_newton(n), rules.max_iterations, rules.residual)
    elif method == "jacobi":
        status, count = iterate_jacobi(dp, relaxation, rules)
    else:
        status, count = iterate(dp, relaxation, rules)
    write_velocities(dp)
    return BoxSolution(dp.lam, dp.w, dense_residual(dp), status, count)


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
