"""Paths of rows through trees, whose products are A_ij = J_i H^-1 J_j^T (trees/operator.py).

The force of a row propagates from its node to the root; rate k on the way receives u_k. The path of
a row holds sqrt(D_k) u_k, so that A_ij is a product of two paths: the articulated inertias are a
factorisation of H^-1.

Source  Featherstone 2014, "Rigid Body Dynamics Algorithms", 6.5, for L^-T J^T
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.spatial.inertia import Spatial
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, cross, dot, load3
from cardan.engine.trees.spatial_arrays import add6, load6
from cardan.engine.world.problem import Problem
from cardan.engine.world.tree import Tree, TreeWork

# A_ii below this share of its size without cancellation is rounding: (1e-11)^2
NOISE = 1e-22
# A_ii above this share of that of a free body is certainly not rounding, and not examined
UNSUSPECTED = 1e-9


@kernel
def tree_of(tree: Tree, body: int) -> int:
    """Which tree a body is part of, -1: none."""
    node = tree.node[body]
    return tree.tree[node] if node >= 0 else -1


@kernel
def walk_up(
    tree: Tree, work: TreeWork, node: int, end: int, push: Spatial, path: NDArray
) -> Spatial:
    """Add to a path the response of every rate between a node and the root to a force on the node.

    Stops at the node `end`.

    Reads   the factor
    Writes  path (rates of the tree,) += sqrt(D) u
    Returns the force transmitted to the node `end`; zero if it is not between node and root
    """
    first = tree.v_start[tree.start[tree.tree[node]]]
    n, f = push
    i = node
    while i >= 0 and i != end:
        for k in range(tree.v_start[i + 1] - 1, tree.v_start[i] - 1, -1):
            S, U = load6(work.S, k), load6(work.U, k)
            u = dot(S[0], n) + dot(S[1], f)
            D = work.D[k]
            path[k - first] += math.sqrt(D) * u
            n, f = add_scaled(n, -D * u, U[0]), add_scaled(f, -D * u, U[1])
        n = add(n, cross(load3(work.arm, i), f))
        i = tree.parent[i]
    return (n, f) if i >= 0 else (ZERO3, ZERO3)


@fast_kernel
def dot_paths(x: NDArray, y: NDArray, n: int) -> float:
    """Sum of x[k] y[k] for k < n."""
    total = 0.0
    for k in range(n):
        total += x[k] * y[k]
    return total


@kernel
def velocities_of(tree: Tree, t: int) -> int:
    """Number of rates of tree t."""
    return int(tree.v_start[tree.start[t + 1]] - tree.v_start[tree.start[t]])


@kernel
def one_norm(a: Vec3) -> float:
    """Sum of |a_k|."""
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@kernel
def free_response(problem: Problem, i: int) -> float:
    """Estimate of A_ii of row i if its body on a tree were free; inf: massless, or on no tree."""
    tree, work = problem.mobility.tree, problem.mobility.work
    b = problem.body_b[i]
    is_b = tree.node[b] >= 0
    node = tree.node[b] if is_b else tree.node[problem.body_a[i]]
    if node < 0:
        return math.inf
    n, f = load6(problem.J_b, i) if is_b else load6(problem.J_a, i)
    force = dot(f, f)
    inertia = work.I_W[node, 0] + work.I_W[node, 1] + work.I_W[node, 2]
    resists = tree.mass[node] if force > 0.0 else inertia
    return (force if force > 0.0 else dot(n, n)) / resists if resists > 0.0 else math.inf


@kernel
def whole_size(problem: Problem, i: int) -> float:
    """The size of A_ii of row i on trees without any cancellation, also in the positions of nodes.

    Torques are about the origins of nodes, and arms are differences of positions in W: their
    rounding is a share of these positions times the force.
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    (n_a, f_a), (n_b, f_b) = load6(problem.J_a, i), load6(problem.J_b, i)
    force, torque = max(one_norm(f_a), one_norm(f_b)), max(one_norm(n_a), one_norm(n_b))
    size = 0.0
    for body in (problem.body_a[i], problem.body_b[i]):
        node = tree.node[body]
        if node < 0:
            continue
        moment = torque + force * one_norm(load3(work.p_WB, node))
        while node >= 0:
            for k in range(tree.v_start[node], tree.v_start[node + 1]):
                S = load6(work.S, k)
                most = one_norm(S[0]) * moment + one_norm(S[1]) * force
                size += work.D[k] * (most * most)
            moment += one_norm(load3(work.arm, node)) * force
            node = tree.parent[node]
    return size


@kernel
def clear_path(tree: Tree, path: NDArray, which: NDArray) -> None:
    """Clear a path through the trees `which` (2,), -1: none."""
    for side in range(2):
        if which[side] >= 0:
            path[side, : velocities_of(tree, which[side])] = 0.0


@kernel
def write_path(problem: Problem, i: int, path: NDArray, which: NDArray) -> float:
    """The path of row i through the trees of both its bodies; the same tree: one path.

    Where body a carries body b, as a parent its child, the forces on both propagate together from
    a on: those of a joint's row cancel there, up to the part that the joint's own rates take. The
    path of a row that moves no rate, as of a contact beside a rail, is rounding: it becomes zero.

    Writes  path (2, >= rates), which (2,): the trees, -1: none
    Returns the sum of squares of the path
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    a, b = problem.body_a[i], problem.body_b[i]
    which[0], which[1] = tree_of(tree, a), tree_of(tree, b)
    clear_path(tree, path, which)
    push_a, push_b = load6(problem.J_a, i), load6(problem.J_b, i)
    if which[1] >= 0:
        same = which[1] == which[0]
        end = tree.node[a] if same else -1
        rest = walk_up(tree, work, tree.node[b], end, push_b, path[0 if same else 1])
        push_a = add6(push_a, rest)
        which[1] = -1 if same else which[1]
    if which[0] >= 0:
        walk_up(tree, work, tree.node[a], -1, push_a, path[0])
    total = 0.0
    for side in range(2):
        if which[side] >= 0:
            total += dot_paths(path[side], path[side], velocities_of(tree, which[side]))
    if total > UNSUSPECTED * free_response(problem, i) or total > NOISE * whole_size(problem, i):
        return total
    clear_path(tree, path, which)
    return 0.0


@kernel
def diagonal_in_trees(problem: Problem, i: int, path: NDArray, which: NDArray) -> float:
    """J H^-1 J^T of row i alone.

    The path is stored, if there is room, for the matrix of the same rows; rows must be processed in
    order.

    Writes  path (cap, 2, v), which (cap, 2): row i; paths
    """
    last = path.shape[0] - 1
    at = min(i, last)
    problem.mobility.work.paths[0] = i + 1 if i <= last else 0
    return write_path(problem, i, path[at], which[at])
