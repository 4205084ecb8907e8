"""The order in which bodies and equations are eliminated so that trees stay sparse.

The equations are not solved as A lam = -b, where all joints of a hub couple with each other, but as

    [M   J^T ] [ v ]   [ f ]
    [J  -cfm ] [-lam] = [-b]

whose graph is that of bodies and joints. Breadth first from what cannot move makes a spanning
forest; leaves go first, each body followed by the joint towards its root, so that a tree of n
bodies leaves n blocks. A group that closes a loop goes right before the body where both its
branches meet: by then nothing is left of it but what the loop does not decide already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.equations import NODE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Graph
    from cardan.engine.world.problem import Problem

NONE, UNSEEN = -1, -2


@kernel
def is_equation(problem: Problem, i: int) -> bool:
    """Whether row i (a box row) has no bounds, not even such as follow a normal impulse."""
    free = problem.lo[i] == -np.inf and problem.hi[i] == np.inf
    return free and problem.normal_row[i] < 0


@kernel
def count_equations(problem: Problem) -> int:
    """How many rows have no bounds."""
    n = 0
    for i in range(problem.count[1]):
        if is_equation(problem, i):
            n += 1
    return n


@kernel
def _place_of(problem: Problem, body: int, graph: Graph) -> int:
    """Number of a body in the graph, a new one if need be; NONE when it cannot move."""
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
    """Groups of equations and the bodies between them; False when they do not fit."""
    place = graph.place
    for i in range(problem.count[0]):
        place[problem.body_a[i]] = NONE
        place[problem.body_b[i]] = NONE
    graph.count[0] = 0
    last_a, last_b = -1, -1
    g = -1
    for i in range(problem.count[1]):
        if not is_equation(problem, i):
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
    """Groups at every body, ascending."""
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
    """Body joins the forest below `parent` by `group`; returns the new length of the queue."""
    graph.queue[n] = body
    graph.parent[body] = parent
    graph.tree[body] = group
    graph.depth[body] = graph.depth[parent] + 1 if parent >= 0 else 0
    return n + 1


@kernel
def _grow(graph: Graph, head: int, n: int) -> int:
    """Breadth first from the bodies queue[head:n]; returns the new length of the queue."""
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
    """The spanning forest: from bodies on fixed ones, then from the first body of what floats."""
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
    """The body where the paths of a and b to their roots meet, or NONE."""
    while a != b and a >= 0 and b >= 0:
        if graph.depth[a] >= graph.depth[b]:
            a = graph.parent[a]
        else:
            b = graph.parent[b]
    return a if a == b else NONE


@kernel
def _write_loops(graph: Graph) -> None:
    """Groups outside the forest, by the body where their branches meet (last: by none)."""
    n_bodies = graph.count[0]
    for k in range(n_bodies + 1):
        graph.loops[k] = NONE
    for g in range(graph.count[1] - 1, -1, -1):
        a, b = graph.side[g, 0], graph.side[g, 1]
        if (a >= 0 and graph.tree[a] == g) or (b >= 0 and graph.tree[b] == g):
            continue
        k = _meeting(graph, a, b)
        k = n_bodies if k < 0 else k
        graph.next_loop[g] = graph.loops[k]
        graph.loops[k] = g


@kernel
def _add_loops(graph: Graph, k: int, n: int) -> int:
    """The loops that close below body k become nodes."""
    g = graph.loops[k]
    while g >= 0:
        graph.group_node[g] = n
        graph.node[n] = -1 - g
        n += 1
        g = graph.next_loop[g]
    return n


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
    """Node `other` has a block in column k, unless it is there already or is gone."""
    if other > k and graph.mark[other] != k:
        graph.mark[other] = k
        if blocks < graph.row.shape[0]:
            graph.row[blocks] = other
        blocks += 1
    return blocks


@kernel
def _sort(x: NDArray, start: int, end: int) -> None:
    """Ascending, by insertion: columns are short."""
    for i in range(start + 1, end):
        value = x[i]
        j = i - 1
        while j >= start and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value


@kernel
def write_columns(graph: Graph) -> bool:
    """The blocks below the diagonal of every node, fill-in included; False when too many.

    A column holds the neighbours of its node and what the columns hold whose first block it is.

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
    """Everything about the equations but their numbers; False when there is not enough room.

    Takes a time ~ rows + blocks.

    Source  Baraff 1996, "Linear-Time Dynamics using Lagrange Multipliers"
    Check   tests/engine/solvers/direct/test_elimination_order.py
    """
    if not write_groups(problem, graph):
        return False
    span(graph)
    write_nodes(graph)
    return write_columns(graph)
