"""Rows of a problem that hold their velocity, and equations that others imply."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.problem import FRICTION_CONE, FRICTION_POLYGON

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# an equation counts as implied when this share of it is left beside those before it
IMPLIED = 1e-7
# share of the largest impulse, and of a bound, that counts as none
NOTHING = 1e-9


def rows_within_bounds(
    lam: Array, lo: Array, hi: Array, normal: NDArray[np.int64], friction: tuple[int, int]
) -> Flags:
    """Rows (n,) whose impulse is strictly within its bounds: their w is zero.

    lam, lo, hi (n,)  N s or N m s
    normal (n,)       row of the normal impulse that bounds a row; -1: none. Of the rows of one
                      normal the last two are a pair, the one before them stands by itself
    friction          kind and vertices of the set of a pair: FRICTION_..., as Problem.friction_kind
    """
    small = NOTHING * float(np.abs(lam).max(initial=0.0))
    within = (lam > lo + small) & (lam < hi - small)
    kind, vertices = friction
    if kind not in (FRICTION_CONE, FRICTION_POLYGON):
        return within
    for first in _pairs(normal):
        pair = slice(first, first + 2)
        radius = float(hi[pair].min())
        size = math.hypot(*lam[pair])
        if kind == FRICTION_POLYGON:
            # farthest of the outward normals of the edges, scaled so that an edge is at the radius
            edge = (2.0 * np.arange(vertices) + 1.0) * math.pi / vertices
            along = np.cos(edge) * lam[first] + np.sin(edge) * lam[first + 1]
            size = float(along.max()) / math.cos(math.pi / vertices)
        within[pair] = size < radius * (1.0 - NOTHING) - small
    return within


def _pairs(normal: NDArray[np.int64]) -> list[int]:
    """First rows of the pairs: a contact's tangents, and the two rolling rows after its spin."""
    found, i = [], 0
    while i < len(normal):
        if normal[i] < 0:
            i += 1
            continue
        end = i
        while end < len(normal) and normal[end] == normal[i]:
            end += 1
        found.append(end - 2)
        i = end
    return found


def implied_rows(J: Array, M: Array, equations: Flags) -> Flags:
    """Equations (n,) that the equations before them imply, by the norm of M^-1.

    J (n, v), M (v, v) positive definite, equations (n,): which rows are looked at
    """
    found = np.zeros(len(J), bool)
    chosen = np.flatnonzero(equations)
    if not len(chosen):
        return found
    scaled = np.linalg.solve(np.linalg.cholesky(M), J[chosen].T).T
    kept, n = np.zeros_like(scaled), 0
    for i, row in zip(chosen, scaled, strict=True):
        left = row.copy()
        for _ in range(2):
            left -= kept[:n].T @ (kept[:n] @ left)
        rest = float(np.linalg.norm(left))
        if rest <= IMPLIED * float(np.linalg.norm(row)):
            found[i] = True
        else:
            kept[n], n = left / rest, n + 1
    return found
