"""Box LCPs given as plain matrices, solved by the kernels of the step, with their own rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.complementarity.iterations import system_of
from cardan.engine.complementarity.pivots import make_pivots
from cardan.engine.complementarity.problem import problem
from cardan.engine.complementarity.solution import MethodOptions
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.solvers.gradient.solve import JACOBI, Iteration
from cardan.engine.solvers.gradient.solve import iterate as iterate_system
from cardan.engine.solvers.newton.semismooth import NewtonScratch, newton
from cardan.engine.solvers.pivoting.principal import pivot_boxes
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.matrix import sweep_dense
from cardan.engine.world.problem import FRICTION_BOX

METHODS = ("pivoting", "newton", "gauss_seidel", "jacobi")


class BoxSolution(NamedTuple):
    """Result of solve_box_lcp."""

    lam: NDArray  # (n,)
    w: NDArray  # (n,)       A lam + b
    residual: float  # largest natural map, scaled by the diagonal of A
    status: int  # STOPPED_... of world/report.py
    iterations: int  # sweeps, pivots or Newton steps


def make_newton(n: int) -> NewtonScratch:
    """Scratch of Newton for n rows."""
    places = (np.zeros(n, np.int64) for _ in range(2))
    return NewtonScratch(np.zeros((n, n)), *(np.zeros(n) for _ in range(6)), *places)


def _jacobi(dp: DenseProblem, rules: StoppingRules, relaxation: float) -> tuple[int, int]:
    """The classic steps 1 / D, on the non-zeros of A."""
    options = MethodOptions(guess=dp.lam)
    system, _ = system_of(problem(dp.A, dp.b, dp.lo, dp.hi), options, 0)
    found: tuple[int, int] = iterate_system(system, rules, Iteration(JACOBI, relaxation, 0, 1))
    dp.lam[:] = system.problem.lam
    return found


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
        status, count = _jacobi(dp, rules, relaxation)
    else:
        status, count = sweep_dense(dp, relaxation, rules)
    write_velocities(dp)
    return BoxSolution(dp.lam, dp.w, dense_residual(dp), status, count)
