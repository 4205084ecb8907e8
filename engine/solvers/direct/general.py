"""Gaussian elimination of a square system without structure, four columns at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.inline import fused_kernel
from cardan.engine.compiler.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOUR = 4


@fused_kernel
def _subtract_row(row: NDArray, share: float, pivot: NDArray, first: int, n: int) -> None:
    """row[first:n] -= share pivot[first:n]; up to three numbers before `first` change, too."""
    k = n - FOUR
    while k > first - FOUR and k >= 0:
        put_four(four_of(row, k) - share * four_of(pivot, k), row, k)
        k -= FOUR
    for c in range(first, k + FOUR):
        row[c] -= share * pivot[c]


@fused_kernel
def _swap_rows(M: NDArray, first: int, n: int, rows: tuple[int, int], x: NDArray) -> None:
    """Exchange two rows of M from column `first` on, and their numbers of x."""
    a, b = rows
    x[a], x[b] = x[b], x[a]
    for k in range(first, n):
        M[a, k], M[b, k] = M[b, k], M[a, k]


@kernel
def solve_general(M: NDArray, n: int, x: NDArray) -> bool:
    """x <- M^-1 x for any square matrix, by Gaussian elimination with partial pivoting.

    Overwrites M (n, n): what is left of the diagonal is scratch. Returns False when M is singular;
    x is then undefined.

    Check   tests/engine/solvers/direct/test_general.py
    """
    p, largest = 0, 0.0
    for r in range(n):
        if abs(M[r, 0]) > largest:
            p, largest = r, abs(M[r, 0])
    for c in range(n):
        if not largest > 0.0:
            return False
        if p != c:
            _swap_rows(M, c, n, (c, p), x)
        pivot, inverse = M[c], 1.0 / M[c, c]
        p, largest = c + 1, 0.0
        for r in range(c + 1, n):
            row = M[r]
            share = row[c] * inverse
            if share != 0.0:
                x[r] -= share * x[c]
                _subtract_row(row, share, pivot, c + 1, n)
            if abs(row[c + 1]) > largest:
                p, largest = r, abs(row[c + 1])
        pivot[c] = inverse
    for c in range(n - 1, -1, -1):
        x[c] *= M[c, c]
        for r in range(c):
            x[r] -= M[r, c] * x[c]
    return True
