"""Elimination order of bodies and equations that produces no fill-in on trees.

The equations are not solved as A lam = -b, where all joints of a hub couple with each other, but as

    [M   J^T ] [ v ]   [ f ]
    [J  -cfm ] [-lam] = [-b]

whose graph is that of bodies and joints. A breadth-first search from the fixed bodies makes a
spanning forest. Leaves are eliminated first, each body followed by the joint towards its root, so
that the factor of a tree has no fill-in. A group that closes a loop is eliminated just before the
lowest common ancestor of its two bodies; its redundant equations then have zero pivots. Where
many loops fill more than there is room for, the order is another one (minimum_degree.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.minimum_degree import write_nodes_by_degree
from cardan.engine.world.equations import NODE_ROWS, ORDERED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Graph
    from cardan.engine.world.problem import Problem

NONE, UNSEEN = -1, -2


@kernel
def is_equation(problem: Problem, i: int) -> bool:
    """Whether box row i is unbounded, also by a normal impulse."""
    free = problem.lo[i] == -np.inf and problem.hi[i] == np.inf
    return free and problem.normal_row[i] < 0


@kernel
def is_in_graph(problem: Problem, i: int) -> bool:
    """Whether box row i is an equation between two bodies, not a term of a coupling."""
    return i >= problem.count[2] and is_equation(problem, i)


@kernel
def count_equations(problem: Problem, first: int) -> int:
    """Number of rows without bounds from box row `first` on."""
    n = 0
    for i in range(first, problem.count[1]):
        if is_equation(problem, i):
            n += 1
    return n


@kernel
def count_in_graph(problem: Problem) -> int:
    """Number of equations between two bodies."""
    return count_equations(problem, problem.count[2])


@kernel
def _place_of(problem: Problem, body: int, graph: Graph) -> int:
    """Number of a body in the graph, assigned if new; NONE when the body cannot move."""
    if not problem.inverse_mass[body] > 0.0:
        return NONE
    if graph.place[body] < 0:
        n = graph.count[0]
        graph.place[body] = n
        graph.body[n] = body
        graph.count[0] = n + 1
    return graph.place[body]


@kernel
def write_groups(problem: Problem, graph: Graph) -> bool:
    """Write the groups of equations and their bodies; return False when they do not fit."""
    place = graph.place
    for i in range(problem.count[0]):
        place[problem.body_a[i]] = NONE
        place[problem.body_b[i]] = NONE
    graph.count[0] = 0
    last_a, last_b = -1, -1
    g = -1
    for i in range(problem.count[1]):
        if not is_in_graph(problem, i):
            continue
        a, b = problem.body_a[i], problem.body_b[i]
        if a != last_a or b != last_b or graph.size[g] == NODE_ROWS:
            last_a, last_b = -1, -1
            a_node, b_node = _place_of(problem, a, graph), _place_of(problem, b, graph)
            if a_node < 0 and b_node < 0:
                continue
            g += 1
            if g >= graph.size.shape[0]:
                return False
            last_a, last_b = a, b
            graph.side[g, 0] = a_node
            graph.side[g, 1] = b_node
            graph.size[g] = 0
        graph.member[g, graph.size[g]] = i
        graph.size[g] += 1
    graph.count[1] = g + 1
    return True


@kernel
def _write_incidence(graph: Graph) -> None:
    """Write the groups of every body in ascending order."""
    n_bodies, n_groups = graph.count[0], graph.count[1]
    edges = graph.edges
    for k in range(n_bodies + 1):
        edges[k] = 0
    for g in range(n_groups):
        for s in range(2):
            if graph.side[g, s] >= 0:
                edges[graph.side[g, s]] += 1
    total = 0
    for k in range(n_bodies):
        total += edges[k]
        edges[k] = total
    edges[n_bodies] = total
    for g in range(n_groups - 1, -1, -1):
        for s in range(2):
            k = graph.side[g, s]
            if k >= 0:
                edges[k] -= 1
                graph.incident[edges[k]] = g


@kernel
def _enter(graph: Graph, n: int, body: int, parent: int, group: int) -> int:
    """Add a body to the forest below `parent` by `group`; return the new length of the queue."""
    graph.queue[n] = body
    graph.parent[body] = parent
    graph.tree[body] = group
    graph.depth[body] = graph.depth[parent] + 1 if parent >= 0 else 0
    return n + 1


@kernel
def _grow(graph: Graph, head: int, n: int) -> int:
    """Search breadth-first from the bodies queue[head:n]; return the new length of the queue."""
    while head < n:
        p = graph.queue[head]
        head += 1
        for t in range(graph.edges[p], graph.edges[p + 1]):
            g = graph.incident[t]
            other = graph.side[g, 0] + graph.side[g, 1] - p
            if other >= 0 and graph.tree[other] == UNSEEN:
                n = _enter(graph, n, other, p, g)
    return n


@kernel
def span(graph: Graph) -> None:
    """Build the spanning forest: from bodies joined to fixed ones, then from floating ones."""
    n_bodies, n_groups = graph.count[0], graph.count[1]
    _write_incidence(graph)
    for k in range(n_bodies):
        graph.tree[k] = UNSEEN
    n = 0
    for g in range(n_groups):
        a, b = graph.side[g, 0], graph.side[g, 1]
        if min(a, b) < 0 and graph.tree[max(a, b)] == UNSEEN:
            n = _enter(graph, n, max(a, b), NONE, g)
    n = _grow(graph, 0, n)
    for k in range(n_bodies):
        if graph.tree[k] == UNSEEN:
            n = _grow(graph, n, _enter(graph, n, k, NONE, NONE))


@kernel
def _meeting(graph: Graph, a: int, b: int) -> int:
    """Lowest common ancestor of a and b in the forest, or NONE."""
    while a != b and a >= 0 and b >= 0:
        if graph.depth[a] >= graph.depth[b]:
            a = graph.parent[a]
        else:
            b = graph.parent[b]
    return a if a == b else NONE


@kernel
def _write_loops(graph: Graph) -> None:
    """Sort the groups outside the forest by lowest common ancestor (last: those without one)."""
    n_bodies = graph.count[0]
    for k in range(n_bodies + 1):
        graph.loops[k] = NONE
    for g in range(graph.count[1] - 1, -1, -1):
        a, b = graph.side[g, 0], graph.side[g, 1]
        if graph.closing[g] == 0:
            continue
        k = _meeting(graph, a, b)
        k = n_bodies if k < 0 else k
        graph.next_loop[g] = graph.loops[k]
        graph.loops[k] = g


@kernel
def _add_loops(graph: Graph, k: int, n: int) -> int:
    """Add the loops whose lowest common ancestor is body k as nodes."""
    g = graph.loops[k]
    while g >= 0:
        graph.group_node[g] = n
        graph.node[n] = -1 - g
        n += 1
        g = graph.next_loop[g]
    return n


@kernel
def mark_loops(graph: Graph) -> None:
    """Mark the groups outside the forest."""
    for g in range(graph.count[1]):
        a, b = graph.side[g, 0], graph.side[g, 1]
        inside = (a >= 0 and graph.tree[a] == g) or (b >= 0 and graph.tree[b] == g)
        graph.closing[g] = 0 if inside else 1


@kernel
def write_nodes(graph: Graph) -> None:
    """Number bodies and groups in the order of elimination."""
    _write_loops(graph)
    n_bodies = graph.count[0]
    n = 0
    for t in range(n_bodies - 1, -1, -1):
        k = graph.queue[t]
        n = _add_loops(graph, k, n)
        graph.body_node[k] = n
        graph.node[n] = k
        n += 1
        g = graph.tree[k]
        if g >= 0:
            graph.group_node[g] = n
            graph.node[n] = -1 - g
            n += 1
    graph.count[2] = _add_loops(graph, n_bodies, n)


@kernel
def _meet(graph: Graph, k: int, other: int, blocks: int) -> int:
    """Add the block (other, k) unless it exists or node `other` is already eliminated."""
    if other > k and graph.mark[other] != k:
        graph.mark[other] = k
        if blocks < graph.row.shape[0]:
            graph.row[blocks] = other
        blocks += 1
    return blocks


@kernel
def _sort(x: NDArray, start: int, end: int) -> None:
    """Sort ascending by insertion; columns are short."""
    for i in range(start + 1, end):
        value = x[i]
        j = i - 1
        while j >= start and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value


@kernel
def write_columns(graph: Graph) -> bool:
    """Write the blocks below every diagonal, with fill-in; return False when they do not fit.

    Column k holds the neighbours of node k and the blocks of all columns whose first block is k.

    Source  Davis 2006, "Direct Methods for Sparse Linear Systems", chapter 4
    """
    n = graph.count[2]
    for k in range(n):
        graph.mark[k] = NONE
        graph.child[k] = NONE
    blocks = 0
    for k in range(n):
        graph.start[k] = blocks
        first = blocks
        body = graph.node[k]
        if body >= 0:
            for t in range(graph.edges[body], graph.edges[body + 1]):
                blocks = _meet(graph, k, graph.group_node[graph.incident[t]], blocks)
        else:
            for s in range(2):
                other = graph.side[-1 - body, s]
                if other >= 0:
                    blocks = _meet(graph, k, graph.body_node[other], blocks)
        c = graph.child[k]
        while c >= 0:
            for t in range(graph.start[c], graph.start[c + 1]):
                blocks = _meet(graph, k, graph.row[t], blocks)
            c = graph.sibling[c]
        if blocks > graph.row.shape[0]:
            return False
        _sort(graph.row, first, blocks)
        graph.start[k + 1] = blocks
        if blocks > first:
            p = graph.row[first]
            graph.sibling[k] = graph.child[p]
            graph.child[p] = k
    graph.count[3] = blocks
    return True


@kernel
def write_graph(problem: Problem, graph: Graph) -> bool:
    """Symbolic factorisation of the equations; return False when the memory does not suffice.

    The time is proportional to rows + blocks.

    Source  Baraff 1996, "Linear-Time Dynamics using Lagrange Multipliers"
    Check   tests/engine/solvers/direct/test_elimination_order.py
    """
    if not write_groups(problem, graph):
        return False
    span(graph)
    mark_loops(graph)
    write_nodes(graph)
    return write_columns(graph) or (write_nodes_by_degree(graph) and write_columns(graph))


@kernel
def has_graph(problem: Problem, graph: Graph) -> bool:
    """Write the graph unless the caller has it at hand; False as write_graph."""
    return bool(graph.count[4] >= ORDERED or write_graph(problem, graph))
