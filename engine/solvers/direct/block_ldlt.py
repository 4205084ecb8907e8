"""Block LDL^T factorisation of the saddle-point matrix of bodies and equations.

    K = [M J^T; J -cfm] = sum over nodes k of  s_k [C_k; X_ik^T] D_k [C_k; X_ik^T]^T

With s = +1 for a body and -1 for a group every diagonal block is s times a positive definite one,
so no pivoting is needed. In the elimination order of a Graph, with C unit lower triangular:

    C_k D_k C_k^T = s_k K_kk,    Y_ik = C_k^-1 K_ik^T,    K_ij -= s_k Y_ik^T D_k^-1 Y_jk

An equation whose pivot falls below a share of its diagonal before elimination is redundant: its
pivot is set to infinity, which makes its impulse 0 (redundancy.py). Rows that a node does not have
are zero, so that nodes are taken by three rows or by six.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.inline import fused_kernel
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.redundancy import (
    closes_loop,
    node_size,
    put_back,
    put_in_order,
    sort_node,
    write_shares,
)
from cardan.engine.solvers.direct.three_rows import (
    FOUR,
    HALF,
    LAST,
    divide,
    factor_six,
    factor_three,
    fours_of,
    less_block,
    less_column,
    less_product,
    multiply,
    put_fours,
    put_three,
    solve_lower_rows,
    solve_upper_rows,
    subtract_narrow,
    subtract_wide,
    three_of,
)
from cardan.engine.spatial.mat3 import inverse_symmetric, load33
from cardan.engine.world.equations import NODE_ROWS, SIDES

if TYPE_CHECKING:
    from cardan.engine.solvers.direct.three_rows import Six
    from cardan.engine.world.equations import Factor, Graph
    from cardan.engine.world.problem import Problem


@kernel
def _find(graph: Graph, column: int, row: int) -> int:
    """The block (row, column)."""
    t = graph.start[column]
    while graph.row[t] != row:
        t += 1
    return t


@kernel
def _clear(graph: Graph, factor: Factor) -> None:
    """Set all blocks to zero."""
    for k in range(graph.count[2]):
        if factor.live[k] == 0:
            continue
        C, scale = factor.C[k], factor.scale[k]
        for r in range(NODE_ROWS):
            scale[r] = 0.0
            for c in range(NODE_ROWS):
                C[r, c] = 0.0
        for t in range(graph.start[k], graph.start[k + 1]):
            X = factor.X[t]
            for r in range(NODE_ROWS):
                for c in range(NODE_ROWS):
                    X[r, c] = 0.0


@kernel
def _write_masses(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Write M of every body, in W about its centre of mass."""
    for i in range(graph.count[0]):
        k = graph.body_node[i]
        if factor.live[k] == 0:
            continue
        body = graph.body[i]
        inertia = inverse_symmetric(load33(problem.inverse_inertia, body))
        mass = 1.0 / problem.inverse_mass[body]
        C, scale = factor.C[k], factor.scale[k]
        for r in range(3):
            for c in range(3):
                C[r, c] = inertia[r][c]
            C[3 + r, 3 + r] = mass
        for r in range(NODE_ROWS):
            scale[r] = C[r, r]


@kernel
def _write_jacobians(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Write J of every group into the row of the later of group and body; write cfm."""
    for g in range(graph.count[1]):
        k = graph.group_node[g]
        if factor.live[k] == 0:
            continue
        for s in range(2):
            if graph.side[g, s] < 0:
                continue
            body = graph.body_node[graph.side[g, s]]
            J = problem.J_a if s == 0 else problem.J_b
            X = factor.X[_find(graph, min(k, body), max(k, body))]
            for r in range(graph.size[g]):
                i = graph.member[g, r]
                for c in range(NODE_ROWS):
                    if body < k:
                        X[c, r] = J[i, c]
                    else:
                        X[r, c] = J[i, c]
        for r in range(graph.size[g]):
            cfm = problem.cfm[graph.member[g, r]]
            factor.C[k, r, r] = cfm
            factor.scale[k, r] = cfm


@fused_kernel
def _weights(factor: Factor, k: int, sign: float) -> Six:
    """Sign D^-1 of node k."""
    inverse, signs = factor.inverse[k], (sign, sign, sign)
    return multiply(signs, three_of(inverse, 0)), multiply(signs, three_of(inverse, HALF))


@kernel
def _factor_node(graph: Graph, factor: Factor, k: int, n: int) -> None:
    """Write C and D^-1 of node k, and Y of its blocks into X."""
    C, inverse, scale, share = factor.C[k], factor.inverse[k], factor.scale[k], factor.share[k]
    if graph.node[k] < 0 and closes_loop(graph, -1 - graph.node[k]):
        sort_node(graph, factor, k)
    if n <= HALF:
        factor_three(C, inverse, scale, 0, share)
    else:
        factor_six(C, inverse, scale, share)
    for t in range(graph.start[k], graph.start[k + 1]):
        divide(C, n, node_size(graph, graph.row[t]), factor.X[t])


@kernel
def _eliminate(graph: Graph, factor: Factor, k: int) -> None:
    """Subtract the contribution of node k from the later nodes."""
    n, end = node_size(graph, k), graph.start[k + 1]
    is_body = graph.node[k] >= 0
    _factor_node(graph, factor, k, n)
    w = _weights(factor, k, 1.0 if is_body else -1.0)
    for t in range(graph.start[k], end):
        i, X = graph.row[t], factor.X[t]
        rows, same = node_size(graph, i), is_body == (graph.node[i] >= 0)
        square = _weights(factor, k, 1.0 if same else -1.0)
        subtract_narrow(X, X, n, square, min(rows, FOUR), factor.C[i])
        if rows > FOUR:
            subtract_wide(X, X, n, square, (FOUR, rows), factor.C[i])
        if is_body and not same:
            for r in range(rows):
                for c in range(n):
                    factor.scale[i, r] += X[c, r] * X[c, r] * factor.inverse[k, c]
        u = graph.start[i]
        for t2 in range(t + 1, end):
            while graph.row[u] != graph.row[t2]:
                u += 1
            if node_size(graph, graph.row[t2]) <= FOUR:
                subtract_narrow(X, factor.X[t2], n, w, rows, factor.X[u])
            else:
                subtract_wide(X, factor.X[t2], n, w, (0, rows), factor.X[u])


@kernel
def write_factor(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Compute the factor over the elimination order in `graph`.

    Check   tests/engine/solvers/direct/test_elimination_order.py
    """
    for k in range(graph.count[2]):
        factor.live[k] = 1
    write_live_factor(problem, graph, factor)


@kernel
def write_live_factor(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Write the factor of the nodes with factor.live = 1; of joined ones all are, or none."""
    _clear(graph, factor)
    write_shares(problem, graph, factor)
    _write_masses(problem, graph, factor)
    _write_jacobians(problem, graph, factor)
    for k in range(graph.count[2]):
        if factor.live[k] == 1:
            _eliminate(graph, factor, k)


@fused_kernel
def _reach_one(graph: Graph, factor: Factor, t: int, w: Six, six: bool) -> None:
    """Subtract X^T w of block t from the number of its node; `six`: not only its first three."""
    X, y = factor.X[t], factor.x[graph.row[t]]
    value = less_product(four_of(y, 0), w[0], fours_of(X, 0, 0))
    end = less_product(four_of(y, LAST), w[0], fours_of(X, 0, LAST))
    if six:
        value = less_product(value, w[1], fours_of(X, HALF, 0))
        end = less_product(end, w[1], fours_of(X, HALF, LAST))
    put_four(value, y, 0)
    put_four(end, y, LAST)


@kernel
def _forward(graph: Graph, factor: Factor, k: int) -> None:
    """x_k <- C^-1 x_k; subtract its contribution from the later nodes."""
    n, x = node_size(graph, k), factor.x[k]
    w = _weights(factor, k, 1.0 if graph.node[k] >= 0 else -1.0)
    low, high = solve_lower_rows(factor.C[k], n, (three_of(x, 0), three_of(x, HALF)))
    put_three(low, x, 0)
    put_three(high, x, HALF)
    w = multiply(w[0], low), multiply(w[1], high)
    for t in range(graph.start[k], graph.start[k + 1]):
        _reach_one(graph, factor, t, w, n > HALF)


@kernel
def _backward(graph: Graph, factor: Factor, k: int) -> None:
    """x_k <- s C^-T D^-1 (x_k - contribution of the later nodes)."""
    n, x = node_size(graph, k), factor.x[k]
    w = _weights(factor, k, 1.0 if graph.node[k] >= 0 else -1.0)
    rest = three_of(x, 0), three_of(x, HALF)
    for t in range(graph.start[k], graph.start[k + 1]):
        y = factor.x[graph.row[t]]
        columns = node_size(graph, graph.row[t])
        rest = less_block(rest, factor.X[t], n, columns, (three_of(y, 0), three_of(y, HALF)))
    rest = multiply(w[0], rest[0]), multiply(w[1], rest[1])
    low, high = solve_upper_rows(factor.C[k], n, rest)
    put_three(low, x, 0)
    if n > HALF:
        put_three(high, x, HALF)


@kernel
def solve_one(graph: Graph, factor: Factor) -> None:
    """factor.x <- K^-1 factor.x, of the nodes with factor.live = 1."""
    n_nodes = graph.count[2]
    for k in range(n_nodes):
        if factor.live[k] == 0:
            continue
        if factor.ordered[k] == 1:
            put_in_order(factor, k, node_size(graph, k), factor.x[k])
        _forward(graph, factor, k)
    for k in range(n_nodes - 1, -1, -1):
        if factor.live[k] == 0:
            continue
        _backward(graph, factor, k)
        if factor.ordered[k] == 1:
            put_back(factor, k, node_size(graph, k), factor.x[k])


@kernel
def _forward_four(graph: Graph, factor: Factor, k: int, at: int) -> None:
    """`_forward` for four right-hand sides from `at` on."""
    n, x = node_size(graph, k), factor.many[k]
    w = _weights(factor, k, 1.0 if graph.node[k] >= 0 else -1.0)
    low, high = solve_lower_rows(factor.C[k], n, (fours_of(x, 0, at), fours_of(x, HALF, at)))
    put_fours(low, x, 0, at)
    put_fours(high, x, HALF, at)
    low, high = multiply(w[0], low), multiply(w[1], high)
    for t in range(graph.start[k], graph.start[k + 1]):
        X, y = factor.X[t], factor.many[graph.row[t]]
        for r in range(node_size(graph, graph.row[t])):
            value = less_column(four_of(y[r], at), X, 0, r, low)
            if n > HALF:
                value = less_column(value, X, HALF, r, high)
            put_four(value, y[r], at)


@kernel
def _backward_four(graph: Graph, factor: Factor, k: int, at: int) -> None:
    """`_backward` for four right-hand sides from `at` on."""
    n, x = node_size(graph, k), factor.many[k]
    w = _weights(factor, k, 1.0 if graph.node[k] >= 0 else -1.0)
    rest = fours_of(x, 0, at), fours_of(x, HALF, at)
    for t in range(graph.start[k], graph.start[k + 1]):
        y = factor.many[graph.row[t]]
        columns = node_size(graph, graph.row[t])
        part = fours_of(y, 0, at), fours_of(y, HALF, at)
        rest = less_block(rest, factor.X[t], n, columns, part)
    rest = multiply(w[0], rest[0]), multiply(w[1], rest[1])
    low, high = solve_upper_rows(factor.C[k], n, rest)
    put_fours(low, x, 0, at)
    if n > HALF:
        put_fours(high, x, HALF, at)


@kernel
def solve_many(graph: Graph, factor: Factor, first: int) -> None:
    """factor.many <- K^-1 factor.many: eight right-hand sides, zero before node `first`."""
    n_nodes = graph.count[2]
    for k in range(first, n_nodes):
        if factor.ordered[k] == 1:
            for s in range(SIDES):
                put_in_order(factor, k, node_size(graph, k), factor.many[k, :, s])
        _forward_four(graph, factor, k, 0)
        _forward_four(graph, factor, k, FOUR)
    for k in range(n_nodes - 1, -1, -1):
        _backward_four(graph, factor, k, 0)
        _backward_four(graph, factor, k, FOUR)
        if factor.ordered[k] == 1:
            for s in range(SIDES):
                put_back(factor, k, node_size(graph, k), factor.many[k, :, s])
