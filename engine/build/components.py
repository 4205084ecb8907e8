"""Parts of a graph that no edge joins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel

Ints = NDArray[np.int64]


@kernel
def _unite(parent: NDArray, a: NDArray, b: NDArray) -> None:
    """Write the smallest node of the part of each node to parent (n,); edges are a[k], b[k]."""
    make_sets(parent)
    for k in range(a.shape[0]):
        union(parent, a[k], b[k])
    for i in range(parent.shape[0]):
        parent[i] = find_root(parent, i)


def components(n: int, a: Ints, b: Ints) -> Ints:
    """The part (n,) of each of n nodes, numbered from 0 by their smallest nodes; edges a[k], b[k].

    Source  Tarjan and van Leeuwen 1984
    Check   tests/engine/build/test_components.py
    """
    parent = np.zeros(n, np.int64)
    _unite(parent, np.ascontiguousarray(a, np.int64), np.ascontiguousarray(b, np.int64))
    return np.unique(parent, return_inverse=True)[1].astype(np.int64)
