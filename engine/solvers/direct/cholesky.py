"""Cholesky factor A_CC = L L^T over an ordered set C of rows, updated as rows enter and leave.

The factor is rank-revealing: a row is rejected when its pivot (A_ii less the contribution of the
rows in C) falls below a share of A_ii, at last DEPENDENT; the row is then linearly dependent on C.
L keeps for each row its first non-zero column, so that the factor of a chain of bodies costs O(n).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.compiler.structs import struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

# share of A_ii; rounding leaves 1e-16 times the growth of the elimination, real rows are far above
DEPENDENT = 1e-10
# where the order is free, rows with a pivot above this share enter first: better conditioning
TELLING = 1e-2


@struct
class Factor(NamedTuple):
    """L of the rows order[0:size[0]] of a matrix."""

    L: NDArray  # (cap, >= cap)       lower triangle, row p belongs to order[p]
    order: NDArray  # (cap,) int64    rows of the matrix, in order of entry
    first: NDArray  # (cap,) int64    first non-zero column of each row of L
    size: NDArray  # (>= 1,) int64    size[0]: number of rows in C


@fast_kernel
def row_dot(X: NDArray, i: int, Y: NDArray, j: int, start: int, stop: int) -> float:
    """Sum of X[i, k] Y[j, k] for k = start ... stop - 1."""
    x = X[i]
    y = Y[j]
    total = 0.0
    for k in range(start, stop):
        total += x[k] * y[k]
    return total


@fast_kernel
def dot(x: NDArray, y: NDArray, n: int) -> float:
    """Sum of x[k] y[k] for k < n."""
    total = 0.0
    for k in range(n):
        total += x[k] * y[k]
    return total


@kernel
def copy(x: NDArray, n: int, y: NDArray) -> None:
    """y[k] = x[k] for k < n."""
    for k in range(n):
        y[k] = x[k]


@kernel
def subtract(x: NDArray, share: float, y: NDArray, n: int) -> None:
    """x[k] -= share y[k] for k < n."""
    for k in range(n):
        x[k] -= share * y[k]


@kernel
def add_row(A: NDArray, row: int, share: float, factor: Factor) -> bool:
    """Append a row of A to the factor; return False when its pivot is below share * A[row, row].

        L[k, :k] = L^-1 A[order, row],    L[k, k]^2 = A[row, row] - |L[k, :k]|^2

    Check   tests/engine/solvers/direct/test_cholesky.py
    """
    L, order, first = factor.L, factor.order, factor.first
    k = factor.size[0]
    start = k
    for j in range(k):
        value = A[row, order[j]]
        if start == k:
            if value == 0.0:
                L[k, j] = 0.0
                continue
            start = j
        begin = max(start, first[j])
        L[k, j] = (value - row_dot(L, j, L, k, begin, j)) / L[j, j]
    pivot = A[row, row] - row_dot(L, k, L, k, start, k)
    if not pivot > share * A[row, row]:
        return False
    L[k, k] = sqrt(pivot)
    order[k] = row
    first[k] = start
    factor.size[0] = k + 1
    return True


@kernel
def remove_row(position: int, factor: Factor) -> None:
    """Remove the row at a position of `order`; plane rotations restore the triangle.

    Source  Golub and Van Loan 2013, 6.5.4
    Check   tests/engine/solvers/direct/test_cholesky.py
    """
    L, order, first = factor.L, factor.order, factor.first
    k = factor.size[0] - 1
    for p in range(position, k):
        order[p] = order[p + 1]
        first[p] = first[p + 1] if first[p + 1] <= position else first[p + 1] - 1
        for c in range(p + 2):
            L[p, c] = L[p + 1, c]
    for c in range(position, k):
        length = sqrt(L[c, c] ** 2 + L[c, c + 1] ** 2)
        cosine = L[c, c] / length
        sine = L[c, c + 1] / length
        L[c, c] = length
        for p in range(c + 1, k):
            x = L[p, c]
            y = L[p, c + 1]
            L[p, c] = cosine * x + sine * y
            L[p, c + 1] = cosine * y - sine * x
    factor.size[0] = k


@kernel
def solve_lower(factor: Factor, x: NDArray) -> None:
    """x <- L^-1 x."""
    L, first = factor.L, factor.first
    for j in range(factor.size[0]):
        total = x[j]
        for t in range(first[j], j):
            total -= L[j, t] * x[t]
        x[j] = total / L[j, j]


@kernel
def solve_upper(factor: Factor, x: NDArray) -> None:
    """x <- L^-T x."""
    L, first = factor.L, factor.first
    for j in range(factor.size[0] - 1, -1, -1):
        value = x[j] / L[j, j]
        x[j] = value
        for t in range(first[j], j):
            x[t] -= L[j, t] * value


@kernel
def solve_factor(factor: Factor, x: NDArray) -> None:
    """x <- A_CC^-1 x, in the order of the factor."""
    solve_lower(factor, x)
    solve_upper(factor, x)
