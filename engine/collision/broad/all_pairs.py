"""Reference broad phase by exhaustive search: every pair whose bounds overlap."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.broad.filter import may_touch
from cardan.engine.collision.broad.sort_pairs import merge_fresh
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import POSITION, ROTATION, Sweep
from cardan.engine.world.model import PLANE, Shapes


@kernel
def balls_meet(sweep: Sweep, i: int, j: int) -> bool:
    """True if the spheres around shapes i and j intersect, or are not finite."""
    ball = sweep.ball
    x, y, z = ball[j, 0] - ball[i, 0], ball[j, 1] - ball[i, 1], ball[j, 2] - ball[i, 2]
    reach = ball[i, 3] + ball[j, 3]
    return not x * x + y * y + z * z > reach * reach


@kernel
def boxes_meet(sweep: Sweep, i: int, j: int) -> bool:
    """True if the boxes around shapes i and j intersect."""
    lower, upper = sweep.lower, sweep.upper
    apart = (
        (lower[i, 0] > upper[j, 0])
        | (lower[j, 0] > upper[i, 0])
        | (lower[i, 1] > upper[j, 1])
        | (lower[j, 1] > upper[i, 1])
        | (lower[i, 2] > upper[j, 2])
        | (lower[j, 2] > upper[i, 2])
    )
    return not apart


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
def find_plane_pairs(
    shapes: Shapes,
    body_kind: NDArray,
    excluded: NDArray,
    solids: NDArray,
    reach: float,
    sweep: Sweep,
) -> None:
    """Every plane against every bounded shape; `reach` is the plane's own share of the margin.

    They are merged into the ascending list of pairs; beyond the capacity they are only counted.
    """
    for plane in range(len(shapes.kind)):
        if shapes.kind[plane] != PLANE:
            continue
        found = 0
        for i in range(len(shapes.kind)):
            if shapes.kind[i] == PLANE or not reaches_plane(sweep, solids, i, plane, reach):
                continue
            if may_touch(shapes, body_kind, excluded, i, plane):
                if found < len(sweep.fresh_a):
                    sweep.fresh_a[found] = min(i, plane)
                    sweep.fresh_b[found] = max(i, plane)
                found += 1
        room = min(found, len(sweep.fresh_a))
        count = sweep.pair_count[0]
        sweep.pair_count[0] = merge_fresh(sweep, room, sweep.pair_a, sweep.pair_b, count)
        sweep.pair_count[1] += found


@kernel
def find_pairs_all(shapes: Shapes, body_kind: NDArray, excluded: NDArray, sweep: Sweep) -> None:
    """Every pair of bounded shapes with overlapping bounds, ascending.

    Beyond the capacity they are only counted.
    """
    for i in range(len(shapes.kind)):
        if shapes.kind[i] == PLANE:
            continue
        for j in range(i + 1, len(shapes.kind)):
            if shapes.kind[j] == PLANE or not boxes_meet(sweep, i, j):
                continue
            if balls_meet(sweep, i, j) and may_touch(shapes, body_kind, excluded, i, j):
                kept = sweep.pair_count[0]
                if kept < len(sweep.pair_a):
                    sweep.pair_a[kept] = i
                    sweep.pair_b[kept] = j
                    sweep.pair_count[0] = kept + 1
                sweep.pair_count[1] += 1
