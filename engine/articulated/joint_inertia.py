"""The joint-space inertia H by composite bodies, and its sparse factor L^T L = H."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.articulated.factor import write_inertias
from engine.articulated.places import write_places
from engine.articulated.vectors import load6, load_sym
from engine.kernel import kernel
from engine.spatial.inertia import RigidInertia, momentum_of, rigid_back, rigid_sum
from engine.spatial.plucker import Spatial
from engine.spatial.vec3 import ZERO3, add, cross, dot, load3
from engine.world.tree import Tree, TreeWork

IDENTITY3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def load_rigid(X: NDArray, i: int) -> RigidInertia:
    """Mass, first moment and moments in columns 0, 1-3 and 4-9 of an (n, >= 10) array."""
    h = (X[i, 1], X[i, 2], X[i, 3])
    return X[i, 0], h, (X[i, 4], X[i, 5], X[i, 6], X[i, 7], X[i, 8], X[i, 9])


@kernel
def store_rigid(X: NDArray, i: int, inertia: RigidInertia) -> None:
    """Write what `load_rigid` reads."""
    X[i, 0] = inertia[0]
    for k in range(3):
        X[i, 1 + k] = inertia[1][k]
    for k in range(6):
        X[i, 4 + k] = inertia[2][k]


@kernel
def shifted(f: Spatial, arm: tuple[float, float, float]) -> Spatial:
    """A force vector about an origin from which the old one lies at `arm`."""
    return add(f[0], cross(arm, f[1])), f[1]


@kernel
def write_composites(tree: Tree, work: TreeWork) -> None:
    """The inertia of every node with all that hangs on it, as if its joints were locked.

    Reads   work.I_W, arm
    Writes  work.IA, its first ten columns: mass, first moment, moments at the node's origin, W
    """
    n = tree.kind.shape[0]
    for i in range(n):
        store_rigid(work.IA, i, (tree.mass[i], ZERO3, load_sym(work.I_W, i)))
    for i in range(n - 1, -1, -1):
        parent = tree.parent[i]
        if parent >= 0:
            felt = rigid_back((IDENTITY3, load3(work.arm, i)), load_rigid(work.IA, i))
            store_rigid(work.IA, parent, rigid_sum(load_rigid(work.IA, parent), felt))


@kernel
def write_joint_inertia(tree: Tree, work: TreeWork) -> None:
    """H (v, v): lower triangle; entries of rates that do not lie above one another are zero.

        H_kj = S_j . (I_composite S_k) for every rate j from k to the root

    Reads   work.S, arm, I_W
    Writes  work.H, IA
    Source  Walker and Orin 1982; 001, composite-rigid-body algorithm
    Check   tests/engine/articulated/test_identities.py
    """
    H, S = work.H, work.S
    write_composites(tree, work)
    for k in range(H.shape[0]):
        for j in range(k + 1):
            H[k, j] = 0.0
    for i in range(tree.kind.shape[0]):
        composite = load_rigid(work.IA, i)
        for k in range(tree.v_start[i], tree.v_start[i + 1]):
            force = momentum_of(composite, load6(S, k))
            for j in range(tree.v_start[i], k + 1):
                s = load6(S, j)
                H[k, j] = dot(s[0], force[0]) + dot(s[1], force[1])
            force = shifted(force, load3(work.arm, i))
            node = tree.parent[i]
            while node >= 0:
                for j in range(tree.v_start[node], tree.v_start[node + 1]):
                    s = load6(S, j)
                    H[k, j] = dot(s[0], force[0]) + dot(s[1], force[1])
                force = shifted(force, load3(work.arm, node))
                node = tree.parent[node]


@kernel
def joint_inertia(tree: Tree, q: NDArray, work: TreeWork) -> None:
    """Places of all nodes and H there.

    Writes  work, with H
    """
    write_places(tree, q, work)
    write_inertias(tree, work)
    write_joint_inertia(tree, work)


@kernel
def factorise(above: NDArray, H: NDArray) -> None:
    """H = L^T L in place, L lower: from the leaves, so that no zero of H is filled.

    Reads   above (v,): the rate next towards the root; H (v, v) lower triangle, positive definite
    Source  Featherstone 2005, "Efficient Factorization of the Joint-Space Inertia Matrix"
    Check   tests/engine/articulated/test_identities.py
    """
    for k in range(H.shape[0] - 1, -1, -1):
        H[k, k] = math.sqrt(H[k, k])
        i = above[k]
        while i >= 0:
            H[k, i] /= H[k, k]
            i = above[i]
        i = above[k]
        while i >= 0:
            j = i
            while j >= 0:
                H[i, j] -= H[k, i] * H[k, j]
                j = above[j]
            i = above[i]


@kernel
def solve_upper(above: NDArray, L: NDArray, x: NDArray) -> None:
    """x <- L^-T x, along the tree."""
    for k in range(L.shape[0] - 1, -1, -1):
        x[k] /= L[k, k]
        i = above[k]
        while i >= 0:
            x[i] -= L[k, i] * x[k]
            i = above[i]


@kernel
def solve_lower(above: NDArray, L: NDArray, x: NDArray) -> None:
    """x <- L^-1 x, along the tree."""
    for k in range(L.shape[0]):
        i = above[k]
        while i >= 0:
            x[k] -= L[k, i] * x[i]
            i = above[i]
        x[k] /= L[k, k]


@kernel
def solve(above: NDArray, L: NDArray, x: NDArray) -> None:
    """x <- H^-1 x."""
    solve_upper(above, L, x)
    solve_lower(above, L, x)


@kernel
def multiply(above: NDArray, H: NDArray, x: NDArray, y: NDArray) -> None:
    """y <- H x, of which only the lower triangle is stored."""
    for k in range(H.shape[0]):
        y[k] = 0.0
    for k in range(H.shape[0]):
        y[k] += H[k, k] * x[k]
        i = above[k]
        while i >= 0:
            y[k] += H[k, i] * x[i]
            y[i] += H[k, i] * x[k]
            i = above[i]
