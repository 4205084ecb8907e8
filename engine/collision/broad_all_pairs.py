"""The specification of the broad phase: every pair whose bounds overlap."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.filter import may_touch
from engine.collision.scratch import POSITION, ROTATION, Sweep
from engine.kernel import kernel
from engine.world.model import PLANE, Shapes


@kernel
def boxes_meet(lower: NDArray, upper: NDArray, i: int, j: int) -> bool:
    """True if the boxes i and j share a point."""
    for k in range(3):
        apart = lower[i, k] > upper[j, k] or lower[j, k] > upper[i, k]
        if apart:
            return False
    return True


@kernel
def reaches_plane(sweep: Sweep, solids: NDArray, i: int, plane: int, reach: float) -> bool:
    """True if the lowest corner of shape i's bounds is at most `reach` [m] above the plane.

    Lowest corner along n: sum_k min(n_k lower_k, n_k upper_k).
    """
    height = 0.0
    for k in range(3):
        n = solids[plane, ROTATION + 3 * k + 2]
        bound = sweep.lower[i, k] if n >= 0.0 else sweep.upper[i, k]
        # a zero component must not multiply an infinite bound
        if n != 0.0:
            height += n * (bound - solids[plane, POSITION + k])
    return bool(height <= reach)


@kernel
def add_pair(sweep: Sweep, i: int, j: int) -> None:
    """Append the pair, smaller shape number first; beyond the capacity it is only counted."""
    kept = sweep.pair_count[0]
    if kept < len(sweep.pair_a):
        sweep.pair_a[kept] = min(i, j)
        sweep.pair_b[kept] = max(i, j)
        sweep.pair_count[0] = kept + 1
    sweep.pair_count[1] += 1


@kernel
def find_plane_pairs(
    shapes: Shapes,
    body_kind: NDArray,
    excluded: NDArray,
    solids: NDArray,
    reach: float,
    sweep: Sweep,
) -> None:
    """Every plane against every bounded shape; `reach` is the plane's own share of the margin."""
    for plane in range(len(shapes.kind)):
        if shapes.kind[plane] == PLANE:
            for i in range(len(shapes.kind)):
                if (
                    shapes.kind[i] != PLANE
                    and may_touch(shapes, body_kind, excluded, i, plane)
                    and reaches_plane(sweep, solids, i, plane, reach)
                ):
                    add_pair(sweep, i, plane)


@kernel
def find_pairs_all(shapes: Shapes, body_kind: NDArray, excluded: NDArray, sweep: Sweep) -> None:
    """Every pair of bounded shapes with overlapping bounds, ascending."""
    for i in range(len(shapes.kind)):
        if shapes.kind[i] != PLANE:
            for j in range(i + 1, len(shapes.kind)):
                if (
                    shapes.kind[j] != PLANE
                    and boxes_meet(sweep.lower, sweep.upper, i, j)
                    and may_touch(shapes, body_kind, excluded, i, j)
                ):
                    add_pair(sweep, i, j)
