"""Gauss-Seidel sweeps with A in compressed sparse rows.

The sweeps are those of pgs.py, with rows of A instead of bodies and without dependent rows.

    w_i = A_i lam + b_i,    lam_i <- P(lam_i - (omega / A_ii) w_i)

Boxes first, then contacts: the normal, then both tangents together on the disk of mu lam_n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.solvers.sweeps.steps import block_diagonal, step_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem


@struct
class Matrix(NamedTuple):
    """A in compressed sparse rows; if empty (start has one entry), bodies define A."""

    start: NDArray  # (n + 1,) int64   of each row in column and value
    column: NDArray  # (nnz,) int64
    value: NDArray  # (nnz,)


@fast_kernel
def row_product(matrix: Matrix, x: NDArray, i: int) -> float:
    """A_i x."""
    column, value = matrix.column, matrix.value
    total = 0.0
    for k in range(matrix.start[i], matrix.start[i + 1]):
        total += value[k] * x[column[k]]
    return total


@kernel
def entry(matrix: Matrix, i: int, j: int) -> float:
    """A_ij."""
    total = 0.0
    for k in range(matrix.start[i], matrix.start[i + 1]):
        if matrix.column[k] == j:
            total += matrix.value[k]
    return total


@kernel
def write_matrix_steps(problem: Problem, matrix: Matrix) -> None:
    """Write steps to problem.w: 1 / A_ii, for tangents 1 over an upper bound of their block."""
    D, step = problem.diagonal, problem.w
    for i in range(problem.count[0]):
        step[i] = step_of(D[i])
    for i in range(problem.count[1], problem.count[0], 3):
        # mean of both couplings, for unsymmetric A
        c = 0.5 * (entry(matrix, i + 1, i + 2) + entry(matrix, i + 2, i + 1))
        step[i + 1] = step_of(block_diagonal(D[i + 1], D[i + 2], c))
        step[i + 2] = step[i + 1]


@kernel
def change_box(problem: Problem, matrix: Matrix, i: int, step: float) -> float:
    """Update box row i with a step; return D |change|."""
    lam = problem.lam
    old = lam[i]
    w = problem.b[i] + row_product(matrix, lam, i)
    lam[i] = clamp(old - step * w, problem.lo[i], problem.hi[i])
    return abs(lam[i] - old) * problem.diagonal[i]


@kernel
def sweep_matrix(problem: Problem, matrix: Matrix, omega: float) -> float:
    """Sweep all rows once, in order; return the largest D |change|.

    Reads   problem.w   steps, from write_matrix_steps
    """
    lam, b, step, D = problem.lam, problem.b, problem.w, problem.diagonal
    kind, directions = problem.friction_kind[0], problem.friction_kind[1]
    n_rows, n_box = problem.count[0], problem.count[1]
    largest = 0.0
    for i in range(n_box):
        largest = max(largest, change_box(problem, matrix, i, omega * step[i]))
    for i in range(n_box, n_rows, 3):
        old, old1, old2 = lam[i], lam[i + 1], lam[i + 2]
        w = b[i] + row_product(matrix, lam, i)
        lam[i] = max(old - omega * step[i] * w, 0.0)
        w1 = b[i + 1] + row_product(matrix, lam, i + 1)
        w2 = b[i + 2] + row_product(matrix, lam, i + 2)
        s1, s2 = old1 - omega * step[i + 1] * w1, old2 - omega * step[i + 2] * w2
        lam[i + 1], lam[i + 2] = project_pair(s1, s2, problem.mu[i + 1] * lam[i], kind, directions)
        largest = max(largest, abs(lam[i] - old) * D[i])
        change = max(abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
        largest = max(largest, change * max(D[i + 1], D[i + 2]))
    return largest
