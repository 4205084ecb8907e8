"""Sort and sweep in strips: the same set as all pairs, in time near n where little has moved.

A sweep over one axis alone tests every pair that shares a slab; on a floor that is a whole row.
So space is cut into strips along a second axis and each strip is swept by itself. A pair that
shares several strips is reported by the one that holds the larger of its two lower bounds.
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.broad_all_pairs import add_pair, overlaps
from engine.collision.filter import may_touch
from engine.collision.scratch import Sweep
from engine.kernel import kernel
from engine.world.model import PLANE, Shapes

# Moves per shape above which a row is sorted anew instead of mended.
MANY_MOVES = 8


@kernel
def spread(shapes: Shapes, sweep: Sweep, k: int) -> tuple[float, float, float, float]:
    """Variance of the centres, mean width, least and largest lower bound along axis k."""
    n = 0
    total = 0.0
    square = 0.0
    width = 0.0
    least = 0.0
    most = 0.0
    for i in range(len(shapes.kind)):
        if shapes.kind[i] != PLANE:
            low = sweep.lower[i, k]
            x = 0.5 * (low + sweep.upper[i, k])
            total += x
            square += x * x
            width += sweep.upper[i, k] - low
            least = low if n == 0 else min(least, low)
            most = low if n == 0 else max(most, low)
            n += 1
    n = max(n, 1)
    mean = total / n
    return (square / n - mean * mean, width / n, least, most)


@kernel
def comes_before(sweep: Sweep, k: int, i: int, j: int) -> bool:
    """Order along axis k: by lower bound, ties by number; so there is one sorted order only."""
    a, b = sweep.lower[i, k], sweep.lower[j, k]
    return bool(a < b or (a == b and i < j))


@kernel
def merge_sort(sweep: Sweep, k: int, n: int) -> None:
    """Sort row 0 of `order` from the bottom up: no recursion, no worst case."""
    source = 0
    width = 1
    while width < n:
        target = 1 - source
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            left, right = start, middle
            for out in range(start, end):
                take_right = left >= middle
                if left < middle and right < end:
                    take_right = comes_before(
                        sweep, k, sweep.order[source, right], sweep.order[source, left]
                    )
                if take_right:
                    sweep.order[target, out] = sweep.order[source, right]
                    right += 1
                else:
                    sweep.order[target, out] = sweep.order[source, left]
                    left += 1
        source = target
        width *= 2
    if source == 1:
        for m in range(n):
            sweep.order[0, m] = sweep.order[1, m]


@kernel
def is_order_of(shapes: Shapes, sweep: Sweep, n: int) -> bool:
    """True if row 0 of `order` names every bounded shape once, whoever wrote it."""
    m_all = len(shapes.kind)
    for i in range(m_all):
        sweep.order[1, i] = 0
    for m in range(n):
        i = sweep.order[0, m]
        if i < 0 or i >= m_all or shapes.kind[i] == PLANE or sweep.order[1, i] != 0:
            return False
        sweep.order[1, i] = 1
    return True


@kernel
def mend(sweep: Sweep, k: int, n: int, most: int) -> bool:
    """Insertion sort of row 0 of `order`; False, midway, after more than `most` moves."""
    moves = 0
    for m in range(1, n):
        i = sweep.order[0, m]
        l = m
        while l > 0 and comes_before(sweep, k, i, sweep.order[0, l - 1]):
            sweep.order[0, l] = sweep.order[0, l - 1]
            l -= 1
        sweep.order[0, l] = i
        moves += m - l
        if moves > most:
            return False
    return True


@kernel
def sort_by_lower(shapes: Shapes, sweep: Sweep, k: int) -> int:
    """Row 0 of `order`: bounded shapes by lower bound on axis k, ties by number; returns how many.

    What was sorted in the last step is nearly sorted now, and mended; where much has changed, it
    is sorted anew. There is one sorted order only, so what the row held before has no influence.
    """
    n = 0
    for i in range(len(shapes.kind)):
        n += 1 if shapes.kind[i] != PLANE else 0
    if is_order_of(shapes, sweep, n):
        if not mend(sweep, k, n, MANY_MOVES * n):
            merge_sort(sweep, k, n)
        return n
    n = 0
    for i in range(len(shapes.kind)):
        if shapes.kind[i] != PLANE:
            sweep.order[0, n] = i
            n += 1
    merge_sort(sweep, k, n)
    return n


@kernel
def strip_of(x: float, least: float, per_metre: float, n_strips: int) -> int:
    """Number of the strip that holds coordinate x; what lies outside belongs to the end strips."""
    s = (x - least) * per_metre
    if s >= n_strips - 1:
        return n_strips - 1
    # also false for nan
    if s > 0.0:
        return int(s)
    return 0


@kernel
def fill_strips(
    sweep: Sweep, n: int, k: int, least: float, per_metre: float, n_strips: int
) -> bool:
    """Distribute the sorted shapes over strips along axis k; False if they do not fit."""
    for s in range(n_strips + 1):
        sweep.strip_start[s] = 0
    total = 0
    for m in range(n):
        i = sweep.order[0, m]
        first = strip_of(sweep.lower[i, k], least, per_metre, n_strips)
        last = strip_of(sweep.upper[i, k], least, per_metre, n_strips)
        total += last - first + 1
        if total > len(sweep.strip):
            return False
        for s in range(first, last + 1):
            sweep.strip_start[s + 1] += 1
    for s in range(n_strips):
        sweep.strip_start[s + 1] += sweep.strip_start[s]
    for m in range(n):
        i = sweep.order[0, m]
        first = strip_of(sweep.lower[i, k], least, per_metre, n_strips)
        last = strip_of(sweep.upper[i, k], least, per_metre, n_strips)
        for s in range(first, last + 1):
            sweep.strip[sweep.strip_start[s]] = i
            sweep.strip_start[s] += 1
    # every start has moved to the next strip's start: move them back
    for s in range(n_strips, 0, -1):
        sweep.strip_start[s] = sweep.strip_start[s - 1]
    sweep.strip_start[0] = 0
    return True


@kernel
def find_pairs_sweep(shapes: Shapes, body_kind: NDArray, excluded: NDArray, sweep: Sweep) -> None:
    """Every pair of bounded shapes with overlapping bounds, in the order of the sweep.

    Check   tests/engine/collision/test_broad.py: the same set as find_pairs_all
    """
    # sweep along the axis of largest variance, cut along the next
    x = spread(shapes, sweep, 0)
    y = spread(shapes, sweep, 1)
    z = spread(shapes, sweep, 2)
    first = 0
    second = 1
    chosen = y
    if y[0] > x[0]:
        first, second, chosen = 1, 0, x
    if z[0] > max(x[0], y[0]):
        second, chosen = first, (x if first == 0 else y)
        first = 2
    elif z[0] > chosen[0]:
        second, chosen = 2, z
    n = sort_by_lower(shapes, sweep, first)

    # strips two mean widths wide; large shapes lie in many, so widen until all entries fit
    extent = chosen[3] - chosen[2]
    n_strips = 1
    if extent > 0.0 and chosen[1] > 0.0:
        n_strips = max(1, int(min(extent / (2.0 * chosen[1]), float(n))))
    while not fill_strips(sweep, n, second, chosen[2], n_strips / max(extent, 1e-300), n_strips):
        n_strips //= 2
    per_metre = n_strips / max(extent, 1e-300)

    for s in range(n_strips):
        end = sweep.strip_start[s + 1]
        for m in range(sweep.strip_start[s], end):
            i = sweep.strip[m]
            for l in range(m + 1, end):
                j = sweep.strip[l]
                if sweep.lower[j, first] > sweep.upper[i, first]:
                    break
                if overlaps(sweep, i, j):
                    low = max(sweep.lower[i, second], sweep.lower[j, second])
                    if strip_of(low, chosen[2], per_metre, n_strips) == s and may_touch(
                        shapes, body_kind, excluded, i, j
                    ):
                        add_pair(sweep, i, j)


@kernel
def sort_pairs(sweep: Sweep, n_shapes: int) -> None:
    """Pairs ascending by (a, b): two stable counting sorts, by b and then by a."""
    n = sweep.pair_count[0]
    for pass_number in range(2):
        for s in range(n_shapes + 1):
            sweep.sort_start[s] = 0
        for i in range(n):
            key = sweep.pair_b[i] if pass_number == 0 else sweep.sort_a[i]
            sweep.sort_start[key + 1] += 1
        for s in range(n_shapes):
            sweep.sort_start[s + 1] += sweep.sort_start[s]
        for i in range(n):
            if pass_number == 0:
                to = sweep.sort_start[sweep.pair_b[i]]
                sweep.sort_start[sweep.pair_b[i]] += 1
                sweep.sort_a[to] = sweep.pair_a[i]
                sweep.sort_b[to] = sweep.pair_b[i]
            else:
                to = sweep.sort_start[sweep.sort_a[i]]
                sweep.sort_start[sweep.sort_a[i]] += 1
                sweep.pair_a[to] = sweep.sort_a[i]
                sweep.pair_b[to] = sweep.sort_b[i]
