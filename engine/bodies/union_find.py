"""Which bodies belong together: disjoint sets, joined two at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def make_sets(parent: NDArray) -> None:
    """Every element is a set of its own."""
    for i in range(parent.shape[0]):
        parent[i] = i


@kernel
def find_root(parent: NDArray, i: int) -> int:
    """The smallest element of the set that holds i; shortens the way there."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def union(parent: NDArray, i: int, j: int) -> None:
    """Make one set of the sets that hold i and j.

    The smaller number becomes the first one, so that sets do not depend on the order of joins.

    Source  Tarjan and van Leeuwen 1984, path halving
    Check   tests/engine/bodies/test_union_find.py
    """
    a, b = find_root(parent, i), find_root(parent, j)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b
