"""What rows of a Problem do to trees, and trees to rows: A = J H^-1 J^T without H.

The force of a row goes from its node to the root, and every rate on the way takes u_k of it. With
all u_k of two rows i and j, A_ij = sum of u_ki D_k u_kj: the factor of articulated inertias is one
of H^-1. Rows keep sqrt(D_k) u_k, their path.

Source  Featherstone 2014, "Rigid Body Dynamics Algorithms", 6.5, for L^-T J^T
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.articulated.factor import respond_part
from engine.articulated.vectors import load6, store6
from engine.kernel import kernel
from engine.spatial.plucker import Spatial
from engine.spatial.vec3 import add, add_scaled, cross, load3
from engine.world.problem import Problem
from engine.world.tree import Tree, TreeWork


@kernel
def tree_of(tree: Tree, body: int) -> int:
    """Which tree a body is part of, -1: none."""
    node = tree.node[body]
    return tree.tree[node] if node >= 0 else -1


@kernel
def is_on_tree(problem: Problem, i: int) -> bool:
    """Whether row i pushes a body of a tree."""
    node = problem.mobility.tree.node
    return bool(node[problem.body_a[i]] >= 0 or node[problem.body_b[i]] >= 0)


@kernel
def has_trees(problem: Problem) -> bool:
    """Whether any row pushes a body of a tree."""
    if problem.mobility.tree.kind.shape[0] == 0:
        return False
    i = 0
    while i < problem.count[0] and not is_on_tree(problem, i):
        i += 1
    return bool(i < problem.count[0])


@kernel
def walk_up(tree: Tree, work: TreeWork, node: int, push: Spatial, path: NDArray) -> None:
    """Add to a path what a force on a node does to every rate from there to the root.

    Reads   the factor
    Writes  path (rates of the tree,) += sqrt(D) u
    """
    first = tree.v_start[tree.start[tree.tree[node]]]
    n, f = push
    i = node
    while i >= 0:
        for k in range(tree.v_start[i + 1] - 1, tree.v_start[i] - 1, -1):
            S, U = load6(work.S, k), load6(work.U, k)
            u = S[0][0] * n[0] + S[0][1] * n[1] + S[0][2] * n[2]
            u += S[1][0] * f[0] + S[1][1] * f[1] + S[1][2] * f[2]
            D = work.D[k]
            path[k - first] += math.sqrt(D) * u
            n, f = add_scaled(n, -D * u, U[0]), add_scaled(f, -D * u, U[1])
        n = add(n, cross(load3(work.arm, i), f))
        i = tree.parent[i]


@kernel
def write_path(problem: Problem, i: int, path: NDArray, which: NDArray) -> None:
    """The path of row i through the trees of both its bodies; the same tree: one path.

    Writes  path (2, >= rates), which (2,): the trees, -1: none
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    a, b = problem.body_a[i], problem.body_b[i]
    which[0], which[1] = tree_of(tree, a), tree_of(tree, b)
    for side in range(2):
        if which[side] >= 0:
            begin, end = tree.start[which[side]], tree.start[which[side] + 1]
            for k in range(tree.v_start[end] - tree.v_start[begin]):
                path[side, k] = 0.0
    if which[0] >= 0:
        walk_up(tree, work, tree.node[a], load6(problem.J_a, i), path[0])
    if which[1] >= 0:
        if which[1] == which[0]:
            walk_up(tree, work, tree.node[b], load6(problem.J_b, i), path[0])
            which[1] = -1
        else:
            walk_up(tree, work, tree.node[b], load6(problem.J_b, i), path[1])


@kernel
def meet_in_trees(tree: Tree, path: NDArray, which: NDArray, r: int, s: int) -> float:
    """The part of A between rows with paths r and s that comes by way of trees.

    Reads   path (cap, 2, v), which (cap, 2)
    """
    total = 0.0
    for x in range(2):
        t = which[r, x]
        if t < 0:
            continue
        n = tree.v_start[tree.start[t + 1]] - tree.v_start[tree.start[t]]
        for y in range(2):
            if which[s, y] == t:
                for k in range(n):
                    total += path[r, x, k] * path[s, y, k]
    return total


@kernel
def add_to_matrix(
    problem: Problem, order: NDArray, n: int, A: NDArray, path: NDArray, which: NDArray
) -> None:
    """A += what the rows order[0:n] do to one another by way of trees; the diagonal has it.

    Writes  A; path, which: those of the rows
    Check   tests/engine/solvers/test_trees.py
    """
    tree = problem.mobility.tree
    for p in range(n):
        write_path(problem, order[p], path[p], which[p])
        for r in range(p):
            value = meet_in_trees(tree, path, which, p, r)
            A[p, r] += value
            A[r, p] += value


@kernel
def diagonal_in_trees(problem: Problem, i: int, path: NDArray, which: NDArray) -> float:
    """J H^-1 J^T of row i alone; path (1, 2, v) and which (1, 2) are scratch."""
    write_path(problem, i, path[0], which[0])
    return meet_in_trees(problem.mobility.tree, path, which, 0, 0)


@kernel
def touch(tree: Tree, work: TreeWork, body: int) -> bool:
    """Make a body's tree ready for forces; False when it is part of none."""
    t = tree_of(tree, body)
    if t < 0:
        return False
    if work.touched[t] == 0:
        work.touched[t] = 1
        begin, end = tree.start[t], tree.start[t + 1]
        for i in range(begin, end):
            for k in range(6):
                work.F[i, k] = 0.0
        for k in range(tree.v_start[begin], tree.v_start[end]):
            work.u[k] = 0.0
    return True


@kernel
def push_node(tree: Tree, work: TreeWork, body: int, J: NDArray, i: int, lam: float) -> None:
    """Add J_i^T lam to the force on a body of a tree that was touched."""
    node = tree.node[body]
    for k in range(6):
        work.F[node, k] += lam * J[i, k]


@kernel
def answer(tree: Tree, work: TreeWork, body: int, qdd: NDArray) -> None:
    """Respond to the forces on a body's tree, if they still wait.

    Writes  qdd of the tree's rates, work.A of its nodes
    """
    t = tree_of(tree, body)
    if t >= 0 and work.touched[t] == 1:
        work.touched[t] = 0
        respond_part(tree, work, tree.start[t], tree.start[t + 1], qdd)


@kernel
def tree_velocities(problem: Problem, x: NDArray, v: NDArray) -> None:
    """What impulses x of all rows do to bodies of trees: v = T H^-1 T^T J^T x.

    Writes  v (n_bodies + 1, 6) of bodies of trees that rows push; work.qdd of their rates
    Check   tests/engine/solvers/test_trees.py
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    if tree.kind.shape[0] == 0:
        return
    for i in range(problem.count[0]):
        a, b = problem.body_a[i], problem.body_b[i]
        if touch(tree, work, a):
            push_node(tree, work, a, problem.J_a, i, x[i])
        if touch(tree, work, b):
            push_node(tree, work, b, problem.J_b, i, x[i])
    for i in range(problem.count[0]):
        for body in (problem.body_a[i], problem.body_b[i]):
            answer(tree, work, body, work.qdd)
            node = tree.node[body]
            if node >= 0:
                store6(v, body, load6(work.A, node))
