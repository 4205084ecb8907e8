"""The pairs of the broad phase in an order that depends on nothing but which they are."""

from __future__ import annotations

from engine.collision.scratch import Sweep
from engine.kernel import kernel


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
