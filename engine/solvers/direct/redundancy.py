"""Redundant equations: which pivots of the block factor are noise, and the order of rows.

Joints of a spanning tree are never redundant, however unlike the masses are. Loops are not quite
closed where equations are written: an error C leaves a pivot of the order of (C/L)^2 to an equation
that would be redundant in a closed loop. Of a group that closes a loop, rows with telling pivots
are taken first.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.cholesky import DEPENDENT, TELLING
from cardan.engine.world.equations import NODE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Factor, Graph
    from cardan.engine.world.problem import Problem

# the same share of one joint in the spanning tree, whose equations are independent: rounding
ROUNDING = 1e-13
# pivots that errors of closure leave: this multiple of (C/L)^2; at most. Measured: 0.009 of it, in
# Bennett's and spherical linkages at 3 to 60 rad/s and 1 ms
OPEN, MOST_OPEN = 1.0, 1e-6


@kernel
def node_size(graph: Graph, k: int) -> int:
    """Rows of a node."""
    return NODE_ROWS if graph.node[k] >= 0 else graph.size[-1 - graph.node[k]]


@kernel
def _gyration(problem: Problem, body: int) -> float:
    """Square of a radius of gyration of a body that moves [m^2]."""
    inertia = problem.inverse_inertia[body]
    return 3.0 * problem.inverse_mass[body] / (inertia[0, 0] + inertia[1, 1] + inertia[2, 2])


@kernel
def _square(J: NDArray, i: int, first: int) -> float:
    """Squared length of three columns of J_i."""
    return J[i, first] ** 2 + J[i, first + 1] ** 2 + J[i, first + 2] ** 2


@kernel
def _openness(problem: Problem, graph: Graph, factor: Factor) -> float:
    """Largest (C/L)^2 of all live equations: how far the mechanism is from closed.

    C of a length is compared with the arms of its row and the gyration of its bodies.
    """
    largest = 0.0
    for g in range(graph.count[1]):
        if factor.live[graph.group_node[g]] == 0:
            continue
        radius = inf
        for s in range(2):
            if graph.side[g, s] >= 0:
                radius = min(radius, _gyration(problem, graph.body[graph.side[g, s]]))
        for r in range(graph.size[g]):
            i = graph.member[g, r]
            C = problem.error[i]
            if problem.cfm[i] > 0.0:
                continue
            if _square(problem.J_b, i, 3) > 0.0:
                arm = max(_square(problem.J_a, i, 0), _square(problem.J_b, i, 0))
                C /= sqrt(radius + arm)
            largest = max(largest, C * C)
    return largest


@kernel
def _is_one_joint(problem: Problem, graph: Graph, g: int) -> bool:
    """Whether all rows of a group belong to one joint."""
    first = problem.joint[graph.member[g, 0]]
    for r in range(graph.size[g]):
        if problem.joint[graph.member[g, r]] != first:
            return False
    return bool(first >= 0)


@kernel
def closes_loop(graph: Graph, g: int) -> bool:
    """Whether a group joins bodies that others join already, so that it may be redundant."""
    return bool(graph.closing[g])


@kernel
def write_shares(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Which share of its scale makes a pivot redundant, by node; no node is ordered yet.

    How far loops are from closed is measured where there are any.

    Writes  factor.share, ordered
    """
    open_share = -1.0
    for k in range(graph.count[2]):
        if factor.live[k] == 0:
            continue
        factor.share[k], factor.ordered[k] = 0.0, 0
        g = -1 - graph.node[k]
        if g < 0:
            continue
        factor.share[k] = ROUNDING
        if closes_loop(graph, g) or not _is_one_joint(problem, graph, g):
            if open_share < 0.0:
                open_share = max(
                    DEPENDENT, min(OPEN * _openness(problem, graph, factor), MOST_OPEN)
                )
            factor.share[k] = open_share


@kernel
def _next_row(W: NDArray, scale: NDArray, taken: int, n: int) -> int:
    """The first row with a telling pivot that is not in the bits `taken`, else that with most."""
    best, most = -1, -1.0
    for c in range(n):
        if taken >> c & 1:
            continue
        size = W[c, c] / scale[c] if scale[c] > 0.0 else 0.0
        if size > TELLING:
            return c
        if size > most:
            best, most = c, size
    return best


@kernel
def copy_symmetric(C: NDArray, n: int, W: NDArray) -> None:
    """W <- the symmetric matrix whose lower triangle is that of C."""
    for r in range(n):
        for c in range(r + 1):
            W[r, c] = C[r, c]
            W[c, r] = C[r, c]


@kernel
def _choose_order(C: NDArray, scale: NDArray, n: int, W: NDArray, order: NDArray) -> bool:
    """Order the rows of a group by their pivots, telling ones first; whether any is moved.

    Writes  order; W: scratch
    """
    copy_symmetric(C, n, W)
    taken, moved = 0, False
    for m in range(n):
        p = _next_row(W, scale, taken, n)
        order[m] = p
        moved = moved or p != m
        taken |= 1 << p
        if not W[p, p] > 0.0:
            continue
        for r in range(n):
            if not taken >> r & 1:
                f = W[r, p] / W[p, p]
                for c in range(n):
                    W[r, c] -= f * W[p, c]
    return moved


@kernel
def sort_node(graph: Graph, factor: Factor, k: int) -> None:
    """Bring the rows of a group that closes a loop into the order of elimination.

    Writes  factor.order, ordered; C, scale and the blocks X of its column
    """
    n, W, order = node_size(graph, k), factor.block, factor.order[k]
    C, scale = factor.C[k], factor.scale[k]
    if not _choose_order(C, scale, n, W, order):
        return
    factor.ordered[k] = 1
    copy_symmetric(C, n, W)
    for r in range(n):
        for c in range(r + 1):
            C[r, c] = W[order[r], order[c]]
    for r in range(n):
        W[0, r] = scale[r]
    for r in range(n):
        scale[r] = W[0, order[r]]
    for t in range(graph.start[k], graph.start[k + 1]):
        X = factor.X[t]
        for r in range(n):
            for c in range(NODE_ROWS):
                W[r, c] = X[r, c]
        for r in range(n):
            for c in range(NODE_ROWS):
                X[r, c] = W[order[r], c]


@kernel
def put_in_order(factor: Factor, k: int, n: int, x: NDArray) -> None:
    """The rows of an ordered node of a right-hand side, (6,) or (6, 8), in its order."""
    W, order = factor.block, factor.order[k]
    for r in range(n):
        W[0, r] = x[r]
    for r in range(n):
        x[r] = W[0, order[r]]


@kernel
def put_back(factor: Factor, k: int, n: int, x: NDArray) -> None:
    """Undo `put_in_order`."""
    W, order = factor.block, factor.order[k]
    for r in range(n):
        W[0, r] = x[r]
    for r in range(n):
        x[order[r]] = W[0, r]
