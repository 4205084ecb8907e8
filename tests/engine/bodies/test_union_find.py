"""Disjoint sets: who belongs together, however it was told."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cardan.engine.bodies.union_find import find_root, make_sets, union


def sets(n: int, pairs: np.ndarray) -> list[int]:
    parent = np.full(n, 10**6)
    make_sets(parent)
    for i, j in pairs:
        union(parent, i, j)
    return [find_root(parent, i) for i in range(n)]


def test_sets_are_the_connected_components_and_named_by_their_smallest_member() -> None:
    rng = np.random.default_rng(4)
    for n, m in ((1, 0), (7, 3), (60, 40), (60, 200)):
        pairs = rng.integers(0, n, (m, 2))
        graph = coo_array((np.ones(m), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        _, label = connected_components(graph, directed=False)
        smallest = [int(np.flatnonzero(label == label[i])[0]) for i in range(n)]
        assert sets(n, pairs) == smallest
        assert sets(n, pairs[::-1, ::-1]) == smallest
