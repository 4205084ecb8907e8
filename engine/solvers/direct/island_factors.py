"""Factors of the equations of islands that are kept after their solution, for position corrections.

The kick, the correction of joint errors and that of depths solve the same equations at the same
poses. Their factors stand one after the other in the arrays of one Graph and one Factor; an island
is solved with views of its part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.inline import fused_kernel
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.elimination_order import (
    count_in_graph,
    is_in_graph,
    write_graph,
)
from cardan.engine.world.equations import ORDERED, Factor, Graph, KeptFactors
from cardan.engine.world.problem import Dense

if TYPE_CHECKING:
    from cardan.engine.world.islands import Islands
    from cardan.engine.world.problem import Problem

NONE = -1


@kernel
def forget(kept: KeptFactors) -> None:
    """Keep nothing.

    Writes  kept
    """
    kept.count[0] = 0
    for k in range(4):
        kept.first[0, k] = 0
    for i in range(kept.number.shape[0]):
        kept.number[i] = NONE


@fused_kernel
def graph_of(dense: Dense, e: int) -> Graph:
    """The graph of kept factor e, or of the next one; what only its order needs is shared."""
    graph, kept = dense.graph, dense.kept
    body, group = kept.first[e, 0], kept.first[e, 1]
    node, block = kept.first[e, 2], kept.first[e, 3]
    return Graph(
        kept.graphs[e],
        graph.place,
        graph.body[body:],
        graph.edges,
        graph.incident,
        graph.queue,
        graph.parent,
        graph.tree,
        graph.depth,
        graph.loops,
        graph.body_node[body:],
        graph.member[group:],
        graph.size[group:],
        graph.side[group:],
        graph.closing[group:],
        graph.next_loop,
        graph.group_node[group:],
        graph.node[node:],
        graph.start[node + e :],
        graph.row[block:],
        graph.mark,
        graph.child,
        graph.sibling,
        graph.near,
    )


@fused_kernel
def factor_of(dense: Dense, e: int) -> Factor:
    """Kept factor e, or room for the next one; the scratch of many right-hand sides is shared."""
    factor, kept = dense.equations, dense.kept
    node, block = kept.first[e, 2], kept.first[e, 3]
    return Factor(
        factor.C[node:],
        factor.inverse[node:],
        factor.share[node:],
        factor.order[node:],
        factor.ordered[node:],
        factor.block,
        factor.scale[node:],
        factor.live[node:],
        factor.X[block:],
        factor.x[node:],
        factor.many,
    )


@kernel
def is_held(problem: Problem, i: int) -> bool:
    """Whether row i is an equation of two bodies that cannot move, which has no node."""
    a, b = problem.body_a[i], problem.body_b[i]
    return not (problem.inverse_mass[a] > 0.0 or problem.inverse_mass[b] > 0.0)


@kernel
def keep_graph(problem: Problem, kept: KeptFactors, graph: Graph) -> None:
    """Count the graph that was written behind those that are kept as one of them.

    Its factor follows where it is needed (schur_complement.ensure_factor).

    Writes  kept; graph.count
    """
    e = kept.count[0]
    graph.count[4] = ORDERED
    kept.count[0], kept.exact[e] = e + 1, 1
    for k in range(4):
        kept.first[e + 1, k] = kept.first[e, k] + graph.count[k]
    for k in range(graph.count[0]):
        kept.number[graph.body[k]] = e
    for g in range(graph.count[1]):
        for r in range(graph.size[g]):
            if problem.cfm[graph.member[g, r]] != 0.0:
                kept.exact[e] = 0


@kernel
def number_rows(graph: Graph, islands: Islands, k: int) -> None:
    """Members that are rows of island k become rows of the whole problem.

    Writes  graph.member
    """
    start = islands.start[k]
    for g in range(graph.count[1]):
        for r in range(graph.size[g]):
            graph.member[g, r] = islands.order[start + graph.member[g, r]]


@kernel
def add_island(problem: Problem, dense: Dense, islands: Islands, k: int) -> None:
    """Keep the graph of the equations of island k, or of the whole problem (NONE), if it fits.

    Writes  dense.graph, kept
    """
    graph = graph_of(dense, dense.kept.count[0])
    if count_in_graph(problem) > 0 and write_graph(problem, graph):
        keep_graph(problem, dense.kept, graph)
        if k >= 0:
            number_rows(graph, islands, k)


@kernel
def _first_body(problem: Problem) -> int:
    """A body of the first equation that has a node, or NONE."""
    for i in range(problem.count[1]):
        if is_in_graph(problem, i) and not is_held(problem, i):
            a = problem.body_a[i]
            return int(a if problem.inverse_mass[a] > 0.0 else problem.body_b[i])
    return NONE


@kernel
def find_factor(problem: Problem, kept: KeptFactors) -> int:
    """The kept factor of the first equation of a part of the problem it was kept from, or NONE."""
    body = _first_body(problem)
    return int(kept.number[body]) if body >= 0 else NONE


@kernel
def take_over(problem: Problem, graph: Graph, factor: Factor) -> bool:
    """Let the members of a kept graph be rows of a part of the problem it was kept from.

    False, and nothing is changed, where these are not all equations of the factor.

    Writes  graph.member, factor.live
    """
    wanted, found = 0, 0
    for g in range(graph.count[1]):
        wanted += graph.size[g]
    for i in range(problem.count[1]):
        found += is_in_graph(problem, i) and not is_held(problem, i)
    if found != wanted:
        return False
    for k in range(graph.count[2]):
        factor.live[k] = 1
    g, r = 0, 0
    for i in range(problem.count[1]):
        if is_in_graph(problem, i) and not is_held(problem, i):
            graph.member[g, r] = i
            r += 1
            if r == graph.size[g]:
                g, r = g + 1, 0
    return True
