"""Sort the pairs of the broad phase by (a, b), whatever the order in which they are found."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import Sweep

# (a, b) of pairs
Columns = tuple[NDArray, NDArray]


@kernel
def put_in_order(start: NDArray, key: NDArray, n: int, source: Columns, to: Columns) -> None:
    """Stable counting sort of the first n pairs by key[i] < len(start) - 1, from source to `to`."""
    for s in range(len(start)):
        start[s] = 0
    for i in range(n):
        start[key[i] + 1] += 1
    for s in range(len(start) - 1):
        start[s + 1] += start[s]
    for i in range(n):
        k = start[key[i]]
        start[key[i]] = k + 1
        to[0][k] = source[0][i]
        to[1][k] = source[1][i]


@kernel
def sort_fresh(sweep: Sweep, n: int) -> None:
    """Sort the first n pairs of fresh_a, fresh_b by (a, b): by b and then by a.

    Writes  fresh_a, fresh_b; pair_a, pair_b as scratch
    """
    fresh = (sweep.fresh_a, sweep.fresh_b)
    pair = (sweep.pair_a, sweep.pair_b)
    put_in_order(sweep.sort_start, sweep.fresh_b, n, fresh, pair)
    put_in_order(sweep.sort_start, sweep.pair_a, n, pair, fresh)


@kernel
def merge_fresh(sweep: Sweep, n: int, a: NDArray, b: NDArray, count: int) -> int:
    """Merge the first n fresh pairs into `count` pairs a, b, both ascending, as far as they fit.

    Returns the new number.
    """
    n = min(n, len(a) - count)
    last, take, free = count - 1, n - 1, count + n - 1
    while take >= 0:
        i, j = sweep.fresh_a[take], sweep.fresh_b[take]
        while last >= 0 and (a[last] > i or (a[last] == i and b[last] > j)):
            a[free] = a[last]
            b[free] = b[last]
            last -= 1
            free -= 1
        a[free] = i
        b[free] = j
        take -= 1
        free -= 1
    return count + n
