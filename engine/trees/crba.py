"""The joint-space inertia H by composite bodies."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.spatial.inertia import (
    RigidInertia,
    Spatial,
    momentum_of,
    rigid_shifted,
    rigid_sum,
)
from cardan.engine.spatial.vec3 import ZERO3, add, cross, dot, load3, sub
from cardan.engine.trees.articulated_inertia import write_inertias
from cardan.engine.trees.kinematics import write_frames
from cardan.engine.trees.spatial_arrays import load6, load_sym, store6
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def load_rigid(X: NDArray, i: int) -> RigidInertia:
    """Mass, first moment and moments in columns 0, 1-3 and 4-9 of an (n, >= 10) array."""
    h = (X[i, 1], X[i, 2], X[i, 3])
    return X[i, 0], h, (X[i, 4], X[i, 5], X[i, 6], X[i, 7], X[i, 8], X[i, 9])


@kernel
def store_rigid(X: NDArray, i: int, inertia: RigidInertia) -> None:
    """Write mass, first moment and moments, as read by `load_rigid`."""
    X[i, 0] = inertia[0]
    for k in range(3):
        X[i, 1 + k] = inertia[1][k]
    for k in range(6):
        X[i, 4 + k] = inertia[2][k]


@kernel
def write_composites(tree: Tree, work: TreeWork) -> None:
    """Composite inertia of every node: its subtree with locked joints.

    Reads   work.I_W, arm
    Writes  work.IA, its first ten columns: mass, first moment, moments at the node's origin, W
    """
    n = tree.kind.shape[0]
    for i in range(n):
        store_rigid(work.IA, i, (tree.mass[i], ZERO3, load_sym(work.I_W, i)))
    for i in range(n - 1, -1, -1):
        parent = tree.parent[i]
        if parent >= 0:
            felt = rigid_shifted(load_rigid(work.IA, i), load3(work.arm, i))
            store_rigid(work.IA, parent, rigid_sum(load_rigid(work.IA, parent), felt))


@fast_kernel
def fill_row(S: NDArray, force: Spatial, row: NDArray, begin: int, end: int) -> None:
    """row[j] = S_j . force for rates begin ... end - 1; S (v, 6)."""
    if begin < 0:  # never taken; it excludes negative indices for the compiler
        return
    n, f = force
    for j in range(begin, end):
        s = S[j]
        turn = s[0] * n[0] + s[1] * n[1] + s[2] * n[2]
        row[j] = turn + s[3] * f[0] + s[4] * f[1] + s[5] * f[2]


@kernel
def write_row(tree: Tree, work: TreeWork, k: int, force: Spatial) -> None:
    """Row k of H up to its diagonal: S_j . force for rates j between k and the root, else zero.

    Rates on a path to the root mostly have consecutive numbers and are processed in runs.

    Reads   work.S_root; force about the origin of the tree's first node
    """
    row = work.H[k]
    end = k + 1
    while end > 0:
        begin = tree.run[end - 1]
        fill_row(work.S_root, force, row, begin, end)
        end = tree.above[begin] + 1
        for j in range(end, begin):
            row[j] = 0.0


@kernel
def write_joint_inertia(tree: Tree, work: TreeWork) -> None:
    """H (v, v): lower triangle; entries of rates that do not lie above one another are zero.

        H_kj = S_j . (I_composite S_k) for every rate j from k to the root; H_kk + armature_k

    Both are expressed at the origin of the tree's first node, which loses accuracy only for trees
    much longer than their links; the diagonal uses the node's own origin.

    Reads   work.S, p_WB, arm, I_W
    Writes  work.H, IA, S_root
    Source  Walker and Orin 1982; Featherstone 2022, composite-rigid-body algorithm
    Check   tests/engine/trees/test_identities.py
    """
    write_composites(tree, work)
    for i in range(tree.kind.shape[0]):
        composite = load_rigid(work.IA, i)
        arm = sub(load3(work.p_WB, i), load3(work.p_WB, tree.start[tree.tree[i]]))
        for k in range(tree.v_start[i], tree.v_start[i + 1]):
            s = load6(work.S, k)
            store6(work.S_root, k, (s[0], add(s[1], cross(arm, s[0]))))
            n, f = momentum_of(composite, s)
            write_row(tree, work, k, (add(n, cross(arm, f)), f))
            work.H[k, k] = dot(s[0], n) + dot(s[1], f) + tree.armature[k]


@kernel
def joint_inertia(tree: Tree, q: NDArray, work: TreeWork) -> None:
    """Compute the frames of all nodes and H at q.

    Writes  work, with H, without q_WB
    """
    write_frames(tree, q, work)
    write_inertias(tree, work)
    write_joint_inertia(tree, work)
