"""Blocks of a factor by three rows at once, which stay in registers: L D L^T of three and six rows.

A number of a row is a float, or four columns of it (`four_of`): the same operations serve both. L
is unit lower triangular; of its array only what is below the diagonal is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.inline import fused_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# a number of each of three rows; of the first and the last three of six
Three = tuple[Any, Any, Any]
Six = tuple[Three, Three]

# rows of half a block of six; columns at once, and where the last four of six begin
HALF, FOUR, LAST = 3, 4, 2


@fused_kernel
def three_of(x: NDArray, c: int) -> Three:
    """x[c : c + 3]."""
    return x[c], x[c + 1], x[c + 2]


@fused_kernel
def put_three(value: Three, x: NDArray, c: int) -> None:
    """x[c : c + 3] = value."""
    x[c], x[c + 1], x[c + 2] = value


@fused_kernel
def fours_of(X: NDArray, c: int, at: int) -> Three:
    """Four columns of three rows, X[c : c + 3, at : at + 4]."""
    return four_of(X[c], at), four_of(X[c + 1], at), four_of(X[c + 2], at)


@fused_kernel
def put_fours(value: Three, X: NDArray, c: int, at: int) -> None:
    """X[c : c + 3, at : at + 4] = value."""
    put_four(value[0], X[c], at)
    put_four(value[1], X[c + 1], at)
    put_four(value[2], X[c + 2], at)


@fused_kernel
def multiply(f: Three, x: Three) -> Three:
    """Every number times its own factor."""
    return f[0] * x[0], f[1] * x[1], f[2] * x[2]


@fused_kernel
def less_product(value: Any, x: Three, y: Three) -> Any:
    """Value - x . y."""
    return value - x[0] * y[0] - x[1] * y[1] - x[2] * y[2]


@fused_kernel
def less_row(value: Any, X: NDArray, r: int, c: int, y: Three) -> Any:
    """Value - X[r, c : c + 3] . y."""
    return less_product(value, three_of(X[r], c), y)


@fused_kernel
def less_column(value: Any, X: NDArray, r: int, c: int, y: Three) -> Any:
    """Value - X[r : r + 3, c] . y."""
    return less_product(value, (X[r, c], X[r + 1, c], X[r + 2, c]), y)


@fused_kernel
def solve_lower(L: NDArray, c: int, x: Three) -> Three:
    """L^-1 x of the block of three at the diagonal from row c on."""
    x1 = x[1] - L[c + 1, c] * x[0]
    return x[0], x1, x[2] - L[c + 2, c] * x[0] - L[c + 2, c + 1] * x1


@fused_kernel
def solve_upper(L: NDArray, c: int, x: Three) -> Three:
    """L^-T x of the block of three at the diagonal from row c on."""
    x1 = x[1] - L[c + 2, c + 1] * x[2]
    return x[0] - L[c + 2, c] * x[2] - L[c + 1, c] * x1, x1, x[2]


@fused_kernel
def solve_lower_six(L: NDArray, x: Six) -> Six:
    """L^-1 x of six rows."""
    low, high = solve_lower(L, 0, x[0]), x[1]
    x3, x4 = less_row(high[0], L, 3, 0, low), less_row(high[1], L, 4, 0, low)
    return low, solve_lower(L, 3, (x3, x4, less_row(high[2], L, 5, 0, low)))


@fused_kernel
def solve_upper_six(L: NDArray, x: Six) -> Six:
    """L^-T x of six rows."""
    low, high = x[0], solve_upper(L, 3, x[1])
    x0, x1 = less_column(low[0], L, 3, 0, high), less_column(low[1], L, 3, 1, high)
    return solve_upper(L, 0, (x0, x1, less_column(low[2], L, 3, 2, high))), high


@fused_kernel
def solve_lower_rows(L: NDArray, n: int, x: Six) -> Six:
    """L^-1 x of n rows; up to three leave the others as they are."""
    if n > HALF:
        return solve_lower_six(L, x)
    return solve_lower(L, 0, x[0]), x[1]


@fused_kernel
def solve_upper_rows(L: NDArray, n: int, x: Six) -> Six:
    """L^-T x of n rows, as `solve_lower_rows`."""
    if n > HALF:
        return solve_upper_six(L, x)
    return solve_upper(L, 0, x[0]), x[1]


@fused_kernel
def less_rows(value: Three, X: NDArray, r: int, c: int, y: Three) -> Three:
    """Value - X y of three rows from r on and three columns from c on."""
    first = less_row(value[0], X, r, c, y)
    return first, less_row(value[1], X, r + 1, c, y), less_row(value[2], X, r + 2, c, y)


@fused_kernel
def less_block(x: Six, X: NDArray, n: int, columns: int, y: Six) -> Six:
    """x - X y of n rows and so many columns."""
    low, high = less_rows(x[0], X, 0, 0, y[0]), x[1]
    if columns > HALF:
        low = less_rows(low, X, 0, HALF, y[1])
    if n > HALF:
        high = less_rows(high, X, HALF, 0, y[0])
        if columns > HALF:
            high = less_rows(high, X, HALF, HALF, y[1])
    return low, high


@fused_kernel
def _inverse(pivot: float, least: float) -> float:
    """1 / pivot, or 0 where it is not above `least`."""
    return 1.0 / pivot if pivot > least else 0.0


@fused_kernel
def factor_three(C: NDArray, inverse: NDArray, scale: NDArray, c: int, share: float) -> None:
    """Overwrite the block of three at the diagonal of C, from row c on, with L below it.

    Reads   C at and below the diagonal; scale, share: pivots up to share * scale count as 0
    Writes  C below the diagonal; inverse[c : c + 3]: D^-1, 0 for a pivot that is too small
    """
    a10, a20 = C[c + 1, c], C[c + 2, c]
    inverse[c] = _inverse(C[c, c], share * scale[c])
    L10, L20 = a10 * inverse[c], a20 * inverse[c]
    a11, a21 = C[c + 1, c + 1] - L10 * a10, C[c + 2, c + 1] - L20 * a10
    inverse[c + 1] = _inverse(a11, share * scale[c + 1])
    L21 = a21 * inverse[c + 1]
    a22 = C[c + 2, c + 2] - L20 * a20 - L21 * a21
    inverse[c + 2] = _inverse(a22, share * scale[c + 2])
    C[c + 1, c], C[c + 2, c], C[c + 2, c + 1] = L10, L20, L21


@fused_kernel
def factor_six(C: NDArray, inverse: NDArray, scale: NDArray, share: float) -> None:
    """`factor_three` for six rows."""
    factor_three(C, inverse, scale, 0, share)
    D = three_of(inverse, 0)
    a3 = solve_lower(C, 0, three_of(C[3], 0))
    a4 = solve_lower(C, 0, three_of(C[4], 0))
    a5 = solve_lower(C, 0, three_of(C[5], 0))
    L3, L4, L5 = multiply(D, a3), multiply(D, a4), multiply(D, a5)
    put_three(L3, C[3], 0)
    put_three(L4, C[4], 0)
    put_three(L5, C[5], 0)
    C[3, 3] = less_product(C[3, 3], L3, a3)
    C[4, 3] = less_product(C[4, 3], L4, a3)
    C[5, 3] = less_product(C[5, 3], L5, a3)
    C[4, 4] = less_product(C[4, 4], L4, a4)
    C[5, 4] = less_product(C[5, 4], L5, a4)
    C[5, 5] = less_product(C[5, 5], L5, a5)
    factor_three(C, inverse, scale, 3, share)


@fused_kernel
def divide(C: NDArray, n: int, columns: int, X: NDArray) -> None:
    """X <- C^-1 X of n rows; the first four columns, or all six."""
    low, end = fours_of(X, 0, 0), fours_of(X, 0, LAST)
    if n <= HALF:
        put_fours(solve_lower(C, 0, low), X, 0, 0)
        if columns > FOUR:
            put_fours(solve_lower(C, 0, end), X, 0, LAST)
        return
    high_end = fours_of(X, HALF, LAST)
    low, high = solve_lower_six(C, (low, fours_of(X, HALF, 0)))
    put_fours(low, X, 0, 0)
    put_fours(high, X, HALF, 0)
    if columns > FOUR:
        low, high = solve_lower_six(C, (end, high_end))
        put_fours(low, X, 0, LAST)
        put_fours(high, X, HALF, LAST)


@fused_kernel
def subtract_narrow(X: NDArray, Y: NDArray, n: int, w: Six, rows: int, Z: NDArray) -> None:
    """Z -= X^T w Y over n rows of X and Y: four columns of so many rows of Z."""
    low = multiply(w[0], fours_of(Y, 0, 0))
    if n <= HALF:
        for r in range(rows):
            put_four(less_column(four_of(Z[r], 0), X, 0, r, low), Z[r], 0)
        return
    high = multiply(w[1], fours_of(Y, HALF, 0))
    for r in range(rows):
        z = less_column(four_of(Z[r], 0), X, 0, r, low)
        put_four(less_column(z, X, HALF, r, high), Z[r], 0)


@fused_kernel
def subtract_wide(
    X: NDArray, Y: NDArray, n: int, w: Six, rows: tuple[int, int], Z: NDArray
) -> None:
    """Z -= X^T w Y as `subtract_narrow`: six columns of the rows of Z from rows[0] to rows[1]."""
    low, low_end = multiply(w[0], fours_of(Y, 0, 0)), multiply(w[0], fours_of(Y, 0, LAST))
    if n <= HALF:
        for r in range(rows[0], rows[1]):
            z, end = four_of(Z[r], 0), four_of(Z[r], LAST)
            put_four(less_column(z, X, 0, r, low), Z[r], 0)
            put_four(less_column(end, X, 0, r, low_end), Z[r], LAST)
        return
    high, high_end = multiply(w[1], fours_of(Y, HALF, 0)), multiply(w[1], fours_of(Y, HALF, LAST))
    for r in range(rows[0], rows[1]):
        z = less_column(four_of(Z[r], 0), X, 0, r, low)
        end = less_column(four_of(Z[r], LAST), X, 0, r, low_end)
        put_four(less_column(z, X, HALF, r, high), Z[r], 0)
        put_four(less_column(end, X, HALF, r, high_end), Z[r], LAST)
