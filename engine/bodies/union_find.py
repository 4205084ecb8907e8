"""Disjoint sets of bodies: union-find with path halving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def make_sets(parent: NDArray) -> None:
    """Make every element a set of its own."""
    for i in range(parent.shape[0]):
        parent[i] = i


@kernel
def find_root(parent: NDArray, i: int) -> int:
    """The root of the set of i, its smallest element; shortens the path to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def union(parent: NDArray, i: int, j: int) -> None:
    """Unite the sets of i and j.

    The smaller root becomes the root, so that sets do not depend on the order of unions.

    Source  Tarjan and van Leeuwen 1984, path halving
    Check   tests/engine/bodies/test_union_find.py
    """
    a, b = find_root(parent, i), find_root(parent, j)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b
