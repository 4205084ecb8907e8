"""Problems whose equations have a singular block of their own, built from a solution."""

from __future__ import annotations

import numpy as np


def floating_circuit(rng, n_nodes, n_diodes):
    """A, equations: node potentials (free) and currents of ideal diodes; no node is earth.

    A row of a node: currents that leave it. A row of a diode: its reverse voltage.
    """
    G = np.zeros((n_nodes, n_nodes))
    for _ in range(rng.integers(0, n_nodes)):
        i, j = rng.choice(n_nodes, 2, replace=False)
        g = rng.uniform(0.1, 10.0)
        G[[i, j], [i, j]] += g
        G[[i, j], [j, i]] -= g
    D = np.zeros((n_nodes, n_diodes))
    for k in range(n_diodes):
        i, j = rng.choice(n_nodes, 2, replace=False)
        D[i, k], D[j, k] = 1.0, -1.0
    return np.block([[G, D], [-D.T, np.zeros((n_diodes, n_diodes))]]), np.arange(n_nodes)


def low_rank(rng, n, rank, skew):
    """A with x A x >= 0 and that rank, symmetric or not; any part of its rows as equations."""
    B, S = rng.normal(size=(n, rank)), rng.normal(size=(rank, rank))
    return B @ (np.eye(rank) + skew * (S - S.T)) @ B.T, np.flatnonzero(rng.random(n) < 0.5)


def singular_block(rng, n):
    """A of any kind, its equations' block of too small a rank, sometimes two of them the same."""
    A, equations = rng.normal(size=(n, n)), np.flatnonzero(rng.random(n) < 0.5)
    k = len(equations)
    if k > 1:
        rank = rng.integers(0, k)
        block = rng.normal(size=(k, rank)) @ rng.normal(size=(rank, k))
        A[np.ix_(equations, equations)] = block
        if rng.random() < 0.4:
            A[equations[0]] = A[equations[1]]
    return A, equations


def with_solution(rng, A, equations, boxed=False):
    """b, lo, hi of a problem that x solves: lo = 0 but in the equations, some hi where boxed."""
    n = len(A)
    free = np.isin(np.arange(n), equations)
    lo, hi = np.where(free, -np.inf, 0.0), np.full(n, np.inf)
    if boxed:
        hi[~free & (rng.random(n) < 0.4)] = 1.0
    x, w, case = rng.uniform(0.0, 1.0, n), np.zeros(n), rng.integers(0, 4, n)
    x[free] = rng.normal(size=free.sum())
    below, above = ~free & (case < 2), np.isfinite(hi) & (case == 2)
    x[below], w[below & (case == 0)] = 0.0, rng.uniform(0.0, 1.0, n)[below & (case == 0)]
    x[above], w[above] = 1.0, -rng.uniform(0.0, 1.0, n)[above]
    return w - A @ x, lo, hi


KINDS = {
    "floating circuit": lambda rng: floating_circuit(rng, rng.integers(2, 8), rng.integers(1, 8)),
    "low rank": lambda rng: low_rank(rng, n := rng.integers(2, 13), rng.integers(1, n + 1), 0.0),
    "low rank, skew": lambda rng: low_rank(
        rng, n := rng.integers(2, 13), rng.integers(1, n + 1), 1.0
    ),
    "any": lambda rng: singular_block(rng, rng.integers(2, 10)),
}
