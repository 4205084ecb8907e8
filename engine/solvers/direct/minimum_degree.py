"""Elimination order of mechanisms with many loops: nets, trusses, lattices.

Where loops share bodies, the order of a spanning forest may cause more fill-in than there is room
for. Here the branches that hang on the loops are eliminated first, from their ends, each body
followed by its joint (a group of rows). All other bodies follow, which couples the joints at each
of them, and then these joints, always one that is coupled to the fewest others. A joint is
redundant only with others that are eliminated before it, and closes a loop if those connect its
bodies already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Graph

NONE = -1
# groups in a word of `near`
BITS = 32


@kernel
def count_bits(x: int) -> int:
    """Number of ones among 32 bits.

    Source  Warren 2012, "Hacker's Delight", 5-1
    """
    x -= (x >> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) & 0xFFFFFFFF) >> 24


@kernel
def _number(graph: Graph, n: int, node: int) -> int:
    """Give a node, a body or -1 - group, number n; return the next number."""
    graph.node[n] = node
    if node >= 0:
        graph.body_node[node] = n
    else:
        graph.group_node[-1 - node] = n
    return n + 1


@kernel
def _only_group(graph: Graph, body: int) -> int:
    """The group of a body without a number, if there is just one, else NONE."""
    found = NONE
    for t in range(graph.edges[body], graph.edges[body + 1]):
        g = graph.incident[t]
        if graph.group_node[g] == NONE:
            if found != NONE:
                return NONE
            found = g
    return found


@kernel
def _number_ends(graph: Graph) -> int:
    """Number the branches that hang on loops, from their ends; return the next number."""
    n = 0
    for k in range(graph.count[0]):
        body = k
        while body >= 0 and graph.body_node[body] == NONE:
            g = _only_group(graph, body)
            if g == NONE:
                break
            n = _number(graph, n, body)
            n = _number(graph, n, -1 - g)
            body = graph.side[g, 0] + graph.side[g, 1] - body
    return n


@kernel
def _couple(graph: Graph, n_core: int) -> None:
    """Write which of the groups without a number share a body.

    Reads   graph.mark: number of a group among these
    Writes  graph.near
    """
    near = graph.near
    words = (n_core + BITS - 1) // BITS
    for i in range(n_core):
        for w in range(words):
            near[i, w] = 0
    for k in range(graph.count[0]):
        for s in range(graph.edges[k], graph.edges[k + 1]):
            i = graph.mark[graph.incident[s]]
            for t in range(graph.edges[k], graph.edges[k + 1]):
                j = graph.mark[graph.incident[t]]
                if i >= 0 and j >= 0 and i != j:
                    near[i, j // BITS] |= 1 << j % BITS


@kernel
def _degree(near: NDArray, i: int, words: int) -> int:
    """Number of groups that group i is coupled to."""
    total = 0
    for w in range(words):
        total += count_bits(near[i, w])
    return total


@kernel
def _remove(near: NDArray, i: int, n_core: int, degree: NDArray) -> None:
    """Eliminate group i: those that it was coupled to are coupled to each other."""
    words = (n_core + BITS - 1) // BITS
    for at in range(words):
        others = near[i, at]
        while others != 0:
            j = BITS * at + count_bits((others & -others) - 1)
            others &= others - 1
            for w in range(words):
                near[j, w] |= near[i, w]
            near[j, j // BITS] &= ~(1 << j % BITS)
            near[j, i // BITS] &= ~(1 << i % BITS)
            degree[j] = _degree(near, j, words)


@kernel
def _number_groups(graph: Graph, n: int, n_core: int) -> int:
    """Number the groups that are left, always one of least degree; return the next number.

    Reads   graph.child: these groups
    Writes  graph.sibling: degrees, NONE of those that have a number; near
    """
    degree, words = graph.sibling, (n_core + BITS - 1) // BITS
    for i in range(n_core):
        degree[i] = _degree(graph.near, i, words)
    least = 0
    for _ in range(n_core):
        best = NONE
        for i in range(n_core):
            if degree[i] >= 0 and (best == NONE or degree[i] < degree[best]):
                best = i
                if degree[i] <= least:
                    break
        # an elimination lowers a degree by one at most
        least = degree[best] - 1
        _remove(graph.near, best, n_core, degree)
        degree[best] = NONE
        n = _number(graph, n, -1 - graph.child[best])
    return n


@kernel
def _mark_loops(graph: Graph) -> None:
    """Mark the groups whose bodies are joined by groups that are eliminated before.

    Writes  graph.closing, loops
    """
    sets, ground = graph.loops, graph.count[0]
    make_sets(sets)
    for k in range(graph.count[2]):
        g = -1 - graph.node[k]
        if g < 0:
            continue
        a, b = graph.side[g, 0], graph.side[g, 1]
        a, b = a if a >= 0 else ground, b if b >= 0 else ground
        graph.closing[g] = 1 if find_root(sets, a) == find_root(sets, b) else 0
        union(sets, a, b)


@kernel
def write_nodes_by_degree(graph: Graph) -> bool:
    """Number bodies and groups in the order of elimination; False where the scratch is too small.

    Source  Tinney and Walker 1967, scheme 2, for the order of the groups
    Check   tests/engine/solvers/direct/test_elimination_order.py
    """
    for k in range(graph.count[0]):
        graph.body_node[k] = NONE
    for g in range(graph.count[1]):
        graph.group_node[g], graph.mark[g] = NONE, NONE
    n = _number_ends(graph)
    for k in range(graph.count[0]):
        if graph.body_node[k] == NONE:
            n = _number(graph, n, k)
    n_core = 0
    for g in range(graph.count[1]):
        if graph.group_node[g] == NONE:
            graph.mark[g], graph.child[n_core] = n_core, g
            n_core += 1
    if n_core > graph.near.shape[0]:
        return False
    _couple(graph, n_core)
    graph.count[2] = _number_groups(graph, n, n_core)
    _mark_loops(graph)
    return True
