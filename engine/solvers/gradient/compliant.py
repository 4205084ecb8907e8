"""Conjugate gradients for rows that all yield: drag and dampers of many bodies of trees.

    A lam + b = 0,   A = J H^-1 J^T + C,   C = diag(cfm)

Joints only take motion away: J H^-1 J^T is at most J M^-1 J^T of the free bodies. For drag, whose
rows pull each body along three axes, the condition of A is at most 1 + h k/m, and some ten products
with A give all digits, each in a time ~ bodies. A matrix of these rows would be dense.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent, impulse_velocities, relative_velocity
from cardan.engine.solvers.direct.cholesky import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Dense, Problem

# rows below which a matrix costs no more
FEWEST = 24
# most products with A; the error at which they end, as a share of |b| in the norm of 1/diagonal
PRODUCTS, ROUNDING = 100, 1e-14


@kernel
def yields(problem: Problem, dense: Dense) -> bool:
    """Whether a problem consists of many unbounded compliant rows, and there is room for them."""
    n = problem.count[0]
    if n < FEWEST or n > dense.vectors.shape[1] or problem.count[1] < n or problem.count[2] > 0:
        return False
    if first_dependent(problem) < n:
        return False
    for i in range(n):
        if not problem.cfm[i] > 0.0 or problem.lo[i] > -inf or problem.hi[i] < inf:
            return False
    return True


@kernel
def multiply(problem: Problem, x: NDArray, v: NDArray, Ax: NDArray) -> None:
    """Ax = A x; v is scratch."""
    impulse_velocities(problem, x, v)
    for i in range(problem.count[0]):
        Ax[i] = relative_velocity(problem, v, i) + problem.cfm[i] * x[i]


@kernel
def solve_compliant(problem: Problem, dense: Dense, v: NDArray) -> int:
    """Solve A lam + b = 0 from the guess in lam; the number of products, 0: it did not converge.

    Writes  problem.lam; dense.vectors and v are scratch
    Source  Hestenes and Stiefel 1952, preconditioned by the diagonal
    Check   tests/references/test_drag.py
    """
    n, lam, b, D = problem.count[0], problem.lam, problem.b, problem.diagonal
    r, z, p, Ap = dense.vectors[0], dense.vectors[1], dense.vectors[2], dense.vectors[3]
    multiply(problem, lam, v, Ap)
    scale = 0.0
    for i in range(n):
        r[i] = -b[i] - Ap[i]
        z[i] = r[i] / D[i]
        p[i] = z[i]
        scale += b[i] * b[i] / D[i]
    rz, goal = dot(r, z, n), ROUNDING * ROUNDING * scale
    for k in range(PRODUCTS):
        if rz <= goal:
            return k + 1
        multiply(problem, p, v, Ap)
        share = rz / dot(p, Ap, n)
        for i in range(n):
            lam[i] += share * p[i]
            r[i] -= share * Ap[i]
            z[i] = r[i] / D[i]
        new = dot(r, z, n)
        for i in range(n):
            p[i] = z[i] + new / rz * p[i]
        rz = new
    return 0
