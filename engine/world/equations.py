"""Scratch for elimination of a Problem's equations: bodies and groups of rows as nodes of a graph."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# rows of one group of equations, coordinates of one body: the largest node
NODE_ROWS = 6
# right-hand sides that are solved simultaneously
SIDES = 8

# graph.count[4]: what of an island's equations is at hand
NOTHING, ORDERED, FACTORED = 0, 1, 2
# kept.count[1]: what a solve does with factors, and whether those of the last one are kept
DROP, KEEP, REUSE, KEPT = 0, 1, 2, 3


@struct
class Graph(NamedTuple):
    """Couplings of the nodes, and their order of elimination.

    Bodies are numbered in the order of the equations. A group is up to six equations between the
    same two bodies; one of its sides may be -1: a body that cannot move.
    """

    count: (
        NDArray  # (5,) int64           bodies, groups, nodes, blocks; NOTHING, ORDERED or FACTORED
    )
    place: NDArray  # (n_bodies,) int64    number in the graph of a body of some row, -1: none
    body: NDArray  # (b,) int64            which body this is
    edges: NDArray  # (b + 1,) int64       first entry of each body in `incident`
    incident: NDArray  # (2 g,) int64      groups at a body
    queue: NDArray  # (b,) int64           bodies, nearest to the fixed ones first
    parent: NDArray  # (b,) int64          body of the spanning forest towards its root, or -1
    tree: NDArray  # (b,) int64            group that leads there; -1: none, it floats; -2: not visited
    depth: NDArray  # (b,) int64           distance from the root
    loops: NDArray  # (b + 1,) int64       first group that closes a loop below this body, last: below none
    body_node: NDArray  # (b,) int64
    member: NDArray  # (g, 6) int64        rows of a group
    size: NDArray  # (g,) int64            number of its rows
    side: NDArray  # (g, 2) int64          its bodies, or -1
    closing: NDArray  # (g,) int64         1: closes a loop of those eliminated before it
    next_loop: NDArray  # (g,) int64       next group that closes a loop below the same body, or -1
    group_node: NDArray  # (g,) int64
    node: NDArray  # (k,) int64            body it is, or -1 - group
    start: NDArray  # (k + 1,) int64       first block of each column
    row: NDArray  # (blocks,) int64        node of each block, ascending in its column
    mark: NDArray  # (k,) int64            last column that visited a node
    child: NDArray  # (k,) int64           first column whose first block is here, or -1
    sibling: NDArray  # (k,) int64         next such column, or -1
    near: NDArray  # (c, c/32) int64       bits: groups of loops that are coupled; scratch


@struct
class Factor(NamedTuple):
    """Block factor C of [M J^T; J -cfm] over the nodes of a Graph, padded to six."""

    C: NDArray  # (k, 6, 6) unit of M or A   below the diagonal of each node's triangle
    inverse: NDArray  # (k, 6) unit of 1/C   of the diagonal; 0: a redundant equation
    share: NDArray  # (k,) -                 of `scale`: a smaller pivot is a redundant equation
    order: (
        NDArray  # (k, 6) int64           of groups that close loops: their rows, telling ones first
    )
    ordered: NDArray  # (k,) int64           1: the rows of a node stand in that order in C and X
    block: NDArray  # (6, 6) unit of A       scratch
    scale: NDArray  # (k, 6) unit of A       reference of a pivot's size
    live: NDArray  # (k,) int64              0: left out of the factor and of solutions
    X: NDArray  # (blocks, 6, 6) unit of C   transposed: X[t, column, row]
    x: NDArray  # (k, 6) N s, m/s ...        a right-hand side, then its solution
    many: NDArray  # (k, 6, 8) N s, m/s ...  eight at once


@struct
class KeptFactors(NamedTuple):
    """Factors of the equations of islands, one after the other in one Graph and one Factor."""

    count: NDArray  # (2,) int64           factors; DROP, KEEP, REUSE or KEPT
    graphs: NDArray  # (n, 5) int64        graph.count of each
    first: NDArray  # (n + 1, 4) int64     first body, group, node and block of each, then of what is free
    exact: NDArray  # (n,) int64           1: of the poses of the kick, and no row yields
    due: NDArray  # (n,) int64             1: a set of its bodies takes part in a pass of position correction
    number: NDArray  # (n_bodies,) int64          factor of each body, -1: none
