"""A tree of bounds over triangles: complete, balanced, built level by level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.model import TREE_LEAF


def build_tree(triangles: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes (2^(d + 1) - 1, 6) and leaves (2^d * TREE_LEAF,) of a tree over triangles (t, 3, 3).

    Every node is split at the median of the triangles' centroids along the longest side of their
    bounds: d = ceil(log2(t / TREE_LEAF)) levels for any triangles. The order is padded with -1 to
    the size of a complete tree.
    Check   tests/engine/collision/mesh/test_aabb_tree.py
    """
    count = len(triangles)
    depth = max(0, int(np.ceil(np.log2(max(1, count) / TREE_LEAF))))
    size = (1 << depth) * TREE_LEAF
    # padding lies at infinity and does not count in the bounds
    middles = np.full((3, size), np.inf)
    middles[:, :count] = 0.5 * (triangles.min(axis=1) + triangles.max(axis=1)).T
    order = np.arange(size)
    for level in range(depth):
        x = middles[:, order].reshape(3, 1 << level, -1)
        low, high = x.min(axis=2), np.where(np.isfinite(x), x, -np.inf).max(axis=2)
        axis = np.where(np.isfinite(low), high - low, 0.0).argmax(axis=0)
        along = np.take_along_axis(x, axis[None, :, None], axis=0)[0]
        split = np.argpartition(along, along.shape[1] // 2, axis=1)
        order = np.take_along_axis(order.reshape(1 << level, -1), split, axis=1).reshape(-1)
    # ascending within a leaf
    leaf = np.sort(order.reshape(-1, TREE_LEAF), axis=1)
    leaf = np.where(leaf < count, leaf, -1)
    return node_bounds(triangles, leaf), leaf.reshape(-1)


def node_bounds(triangles: NDArray[np.float64], leaf: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bounds of all nodes, from the leaves (2^d, TREE_LEAF) up; empty ones are (inf, -inf)."""
    filled = (leaf >= 0)[:, :, None]
    low = np.where(filled, triangles.min(axis=1)[leaf], np.inf).min(axis=1)
    high = np.where(filled, triangles.max(axis=1)[leaf], -np.inf).max(axis=1)
    levels = [np.concatenate([low, high], axis=1)]
    while len(levels[0]) > 1:
        below = levels[0]
        low = np.minimum(below[0::2, :3], below[1::2, :3])
        high = np.maximum(below[0::2, 3:], below[1::2, 3:])
        levels.insert(0, np.concatenate([low, high], axis=1))
    return np.concatenate(levels)
