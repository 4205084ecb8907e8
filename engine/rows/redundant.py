"""Rows of a problem that hold their velocity, and equations that others imply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.problem import FRICTION_CONE, FRICTION_POLYGON, Problem

if TYPE_CHECKING:
    import scipy.sparse

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# an equation counts as implied when this share of it is left beside those before it
IMPLIED = 1e-7
# share of the largest impulse, and of a bound, that counts as none
NOTHING = 1e-9
# rows, and velocities, of what is looked at as dense arrays
MOST_ROWS = 2000


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
    found[chosen] = _implied(scaled)
    return found


def _implied(scaled: Array) -> Flags:
    """Rows (n,) that the rows before them imply."""
    found = np.zeros(len(scaled), bool)
    kept, n = np.zeros_like(scaled), 0
    for i, row in enumerate(scaled):
        left = row.copy()
        for _ in range(2):
            left -= kept[:n].T @ (kept[:n] @ left)
        rest = float(np.linalg.norm(left))
        if rest <= IMPLIED * float(np.linalg.norm(row)):
            found[i] = True
        else:
            kept[n], n = left / rest, n + 1
    return found


def implied_by_bodies(part: Problem, lo: Array, hi: Array) -> Flags:
    """Equations (n,) that the equations before them imply, of bodies in no tree.

    The norm is that of the inverse masses. Islands of more than 2000 equations are not looked at.

    lo, hi (n,)  N s or N m s   bounds of each row
    """
    n, n_sums = len(lo), max(1, int(part.count[2]))
    if n == 0:
        return np.zeros(0, bool)
    import scipy.sparse  # slow to load, and rarely needed
    import scipy.sparse.csgraph

    G = _scaled_by_masses(part, n)
    head = np.arange(n)
    head[1:n_sums] = np.where(part.joint[1:n_sums] == part.joint[: n_sums - 1], 0, head[1:n_sums])
    head = np.maximum.accumulate(head)
    G = scipy.sparse.csr_array((np.ones(n), (head, np.arange(n))), (n, n)) @ G
    size = np.asarray(abs(G).sum(axis=1)).ravel()
    equations = np.isinf(lo) & np.isinf(hi) & (part.cfm[:n] == 0.0) & (size > 0.0)
    chosen, found = np.flatnonzero(equations), np.zeros(n, bool)
    if not len(chosen):
        return found
    G = G[chosen]
    islands = scipy.sparse.csgraph.connected_components(abs(G) @ abs(G).T, directed=False)[1]
    for island in range(int(islands.max()) + 1):
        rows = np.flatnonzero(islands == island)
        if len(rows) <= MOST_ROWS:
            dense = G[rows].toarray()
            found[chosen[rows]] = _implied(dense[:, dense.any(axis=0)])
    return found


def _scaled_by_masses(part: Problem, n: int) -> scipy.sparse.csr_array:
    """J M^(-1/2) of n rows, (n, 6 bodies)."""
    import scipy.sparse

    bodies = len(part.inverse_mass)
    turning = part.inverse_inertia[:bodies]
    # before the first step inertia is not written yet
    moves = (part.inverse_mass > 0.0) & (turning[:, 0, 0] > 0.0)
    root = np.zeros((bodies, 3, 3))
    root[moves] = np.linalg.cholesky(turning[moves])
    columns = np.arange(6)
    parts = []
    for body, J in ((part.body_a[:n], part.J_a[:n]), (part.body_b[:n], part.J_b[:n])):
        turns = np.einsum("ni,nij->nj", J[:, :3], root[body])
        moved = J[:, 3:] * np.sqrt(part.inverse_mass[body])[:, None]
        places = (np.repeat(np.arange(n), 6), (6 * body[:, None] + columns).ravel())
        values = np.hstack([turns, moved]).ravel()
        parts.append(scipy.sparse.csr_array((values, places), (n, 6 * bodies)))
    found = parts[0] + parts[1]
    found.eliminate_zeros()
    return found
