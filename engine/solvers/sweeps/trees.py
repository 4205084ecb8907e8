"""Velocities that an impulse of a row changes in the trees of its two bodies.

M^-1 J^T of a row (MJ) is zero for bodies of trees; their velocities follow from one traversal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.operator import answer, is_on_tree, push_trees
from cardan.engine.trees.paths import tree_of
from cardan.engine.trees.spatial_arrays import add_to6, load6
from cardan.engine.world.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def moves_trees(problem: Problem, i: int) -> bool:
    """Whether an impulse of row i moves a tree."""
    return problem.mobility.tree.kind.shape[0] > 0 and is_on_tree(problem, i)


@kernel
def _respond(problem: Problem, v: NDArray, body: int) -> None:
    """Add the response of a body's tree to the velocities of all its bodies, once."""
    tree, work = problem.mobility.tree, problem.mobility.work
    t = tree_of(tree, body)
    if t < 0 or work.touched[t] == 0:
        return
    answer(tree, work, body, work.qdd)
    for i in range(tree.start[t], tree.start[t + 1]):
        if tree.body[i] >= 0:
            add_to6(v, tree.body[i], load6(work.A, i))


@kernel
def move_trees(problem: Problem, v: NDArray, i: int) -> None:
    """Add the response to the pending forces on the trees of row i.

    Writes  v (n_bodies + 1, 6) rad/s, m/s   of all bodies of these trees
    Check   tests/engine/solvers/direct/test_tree_elimination.py
    """
    _respond(problem, v, problem.body_a[i])
    _respond(problem, v, problem.body_b[i])


@kernel
def write_response(problem: Problem, i: int) -> None:
    """Compute the response of trees to a unit impulse of row i.

    Writes  problem.mobility.work.A of their nodes
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    push_trees(problem, i, 1.0)
    answer(tree, work, problem.body_a[i], work.qdd)
    answer(tree, work, problem.body_b[i], work.qdd)


@kernel
def coupling_by_trees(problem: Problem, i: int) -> float:
    """A_ij by trees, of row i and the row j between the same bodies of the last write_response."""
    node, work = problem.mobility.tree.node, problem.mobility.work
    a, b = node[problem.body_a[i]], node[problem.body_b[i]]
    total = 0.0
    for k in range(6):
        total += problem.J_a[i, k] * work.A[a, k] if a >= 0 else 0.0
        total += problem.J_b[i, k] * work.A[b, k] if b >= 0 else 0.0
    return total
