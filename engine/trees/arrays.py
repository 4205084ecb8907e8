"""Allocation of trees and their scratch as arrays (not compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.tree import (
    N_INVARIANTS,
    NODE_COORDINATES,
    NODE_VELOCITIES,
    Mobility,
    Tree,
    TreeWork,
)

Array = NDArray[np.float64]


def nearest_above(v_start: NDArray[np.int64], parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """The next rate towards the root for every rate, -1 for none."""
    above = np.arange(int(v_start[-1])) - 1
    last = np.full(len(parent) + 1, -1)  # last rate of each node, or of its ancestors
    for i, up in enumerate(parent):
        first, end = int(v_start[i]), int(v_start[i + 1])
        before = last[up] if up >= 0 else -1
        if end > first:
            above[first] = before
        last[i] = end - 1 if end > first else before
    return above


def unbroken_runs(above: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first rate of the run k, k + 1, ... that ends at each rate, each above the next."""
    run = np.arange(len(above))
    for k in range(1, len(above)):
        if above[k] == k - 1:
            run[k] = run[k - 1]
    return run


def as_arrays(
    rows: list[dict[str, object]],
    roots: list[tuple[int, int]],
    node: NDArray[np.int64],
    inner: NDArray[np.int64],
    ties: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Tree:
    """Nodes as arrays; roots: first node of each tree and whether it floats; ties: tied, bond."""
    n = len(rows)

    def whole(name: str) -> NDArray[np.int64]:
        return np.array([row[name] for row in rows], np.int64).reshape(n)

    def real(name: str, *shape: int) -> Array:
        return np.array([row[name] for row in rows], np.float64).reshape(n, *shape)

    kind, parent = whole("kind"), whole("parent")
    starts = [
        np.concatenate([[0], np.cumsum([size[k] for k in kind])]).astype(np.int64)
        for size in (NODE_COORDINATES, NODE_VELOCITIES)
    ]
    above = nearest_above(starts[1], parent)
    return Tree(
        kind=kind,
        parent=parent,
        body=whole("body"),
        node=node.astype(np.int64),
        joint=whole("joint"),
        axis=whole("axis"),
        tree=whole("tree"),
        inner=inner,
        silent=np.zeros(len(inner), np.int64),
        stopped=np.full(len(inner), -1),
        tied=ties[0],
        bond=ties[1],
        start=np.array([first for first, _ in roots] + [n], np.int64),
        floating=np.array([free for _, free in roots], np.int64),
        q_start=starts[0],
        v_start=starts[1],
        above=above,
        run=unbroken_runs(above),
        q_PB0=real("q_PB0", 4),
        anchor_P=real("anchor_P", 3),
        anchor_B=real("anchor_B", 3),
        axis_B=real("axis_B", 3),
        lead=real("lead"),
        armature=np.repeat(real("armature"), np.diff(starts[1])),
        mass=real("mass"),
        inertia_B=real("inertia_B", 6),
    )


def no_tree(n_bodies: int, n_joints: int) -> Tree:
    """The empty tree: every body (the world included) moves by itself."""
    none = np.zeros(0, np.int64)
    return as_arrays([], [], np.full(n_bodies, -1), np.zeros(n_joints, np.int64), (none, none))


def tree_work(tree: Tree, dense: bool = False) -> TreeWork:
    """Scratch for a tree; `dense`: with room for H."""
    k, v = len(tree.kind), int(tree.v_start[-1])
    size = v if dense else 0
    return TreeWork(
        q_WB=np.zeros((k, 4)),
        R=np.zeros((k, 9)),
        p_WB=np.zeros((k, 3)),
        arm=np.zeros((k, 3)),
        S=np.zeros((v, 6)),
        V=np.zeros((k, 6)),
        A=np.zeros((k, 6)),
        velocity_product=np.zeros((k, 6)),
        F=np.zeros((k, 6)),
        I_W=np.zeros((k, 6)),
        IA=np.zeros((k, 21)),
        U=np.zeros((v, 6)),
        D=np.zeros(v),
        u=np.zeros(v),
        qdd=np.zeros(v),
        mean=np.zeros(v),
        began=np.zeros(v),
        free=np.zeros(v),
        fall=np.zeros(v),
        drop=np.zeros((k, 6)),
        touched=np.zeros(len(tree.floating), np.int64),
        paths=np.zeros(1, np.int64),
        reaction=np.zeros((len(tree.inner), 6)),
        invariants=np.zeros((len(tree.floating), N_INVARIANTS)),
        found=np.zeros((len(tree.floating), N_INVARIANTS)),
        asked=np.ones(1, np.int64),
        loop_work=np.zeros(len(tree.floating)),
        lost=np.zeros((len(tree.floating), 3)),
        H=np.zeros((size, size)),
        S_root=np.zeros((size, 6)),
    )


def no_mobility() -> Mobility:
    """Tree mobility of a problem without bodies."""
    tree = no_tree(0, 0)
    return Mobility(tree, tree_work(tree))


def most_equations(tree: Tree) -> int:
    """Number of rows for loop equations: six per joint, and one temporary row of a screw."""
    return 6 * int((tree.inner == 0).sum()) + 1 if len(tree.kind) > 0 else 1


def largest_tree(tree: Tree) -> int:
    """Number of rates of the largest tree."""
    return int(np.diff(tree.v_start[tree.start]).max(initial=0))
