"""Arrays for the equations of a problem: the graph of a mechanism and its block factor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.solvers.direct.minimum_degree import BITS
from cardan.engine.world.equations import NODE_ROWS, SIDES, Factor, Graph, KeptFactors

# blocks of the factor of equations: a tree has one per node, loops add to that; 288 bytes each
BLOCKS_PER_NODE = 6
# groups of one mechanism with loops up to which they are ordered by their degrees
MOST_IN_LOOPS = 1024


def graph_arrays(n_bodies: int, n_groups: int) -> Graph:
    """Arrays for graphs of n_bodies (including the world) and n_groups groups of equations.

    A group has two bodies, and may have a graph of its own: there is an end of `start` for each,
    and one more for equations between bodies that cannot move.
    """
    # the first group that does not fit is found after its bodies
    n, n_graphs = min(n_bodies, 2 * n_groups + 2), n_groups + 1
    n_nodes = n + n_groups
    # more than one of each two nodes never is
    n_blocks = min(BLOCKS_PER_NODE * (n_bodies + n_groups), n_nodes * (n_nodes - 1) // 2)

    n_core = min(n_groups, MOST_IN_LOOPS)

    def whole(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    return Graph(
        count=whole(5),
        place=whole(n_bodies),
        body=whole(n),
        edges=whole(n + 1),
        incident=whole(2 * n_groups),
        queue=whole(n),
        parent=whole(n),
        tree=whole(n),
        depth=whole(n),
        loops=whole(n + 1),
        body_node=whole(n),
        member=whole(n_groups, NODE_ROWS),
        size=whole(n_groups),
        side=whole(n_groups, 2),
        closing=whole(n_groups),
        next_loop=whole(n_groups),
        group_node=whole(n_groups),
        node=whole(n_nodes),
        start=whole(n_nodes + n_graphs + 1),
        row=whole(n_blocks),
        mark=whole(n_nodes),
        child=whole(n_nodes),
        sibling=whole(n_nodes),
        near=whole(n_core, -(-n_core // BITS)),
    )


def factor_arrays(graph: Graph) -> Factor:
    """Arrays for the factor over a graph."""
    n_nodes, n_blocks = len(graph.node), len(graph.row)
    return Factor(
        C=np.zeros((n_nodes, NODE_ROWS, NODE_ROWS)),
        inverse=np.zeros((n_nodes, NODE_ROWS)),
        share=np.zeros(n_nodes),
        order=np.zeros((n_nodes, NODE_ROWS), np.int64),
        ordered=np.zeros(n_nodes, np.int64),
        block=np.zeros((NODE_ROWS, NODE_ROWS)),
        scale=np.zeros((n_nodes, NODE_ROWS)),
        live=np.zeros(n_nodes, np.int64),
        X=np.zeros((n_blocks, NODE_ROWS, NODE_ROWS)),
        x=np.zeros((n_nodes, NODE_ROWS)),
        many=np.zeros((n_nodes, NODE_ROWS, SIDES)),
    )


def kept_factors(graph: Graph) -> KeptFactors:
    """Arrays for as many factors as a graph may be divided into, and for the one that is next."""
    n_bodies, n = len(graph.place), len(graph.size) + 2
    return KeptFactors(
        count=np.zeros(2, np.int64),
        graphs=np.zeros((n, 5), np.int64),
        first=np.zeros((n + 1, 4), np.int64),
        exact=np.zeros(n, np.int64),
        due=np.zeros(n, np.int64),
        number=np.zeros(n_bodies, np.int64),
    )
