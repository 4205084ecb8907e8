"""Block LDL^T factorisation of the saddle-point matrix of bodies and equations.

    K = [M J^T; J -cfm] = L D L^T,    D_k = s_k C_k C_k^T,    L_ik = s_k X_ik^T C_k^-1

With s = +1 for a body and -1 for a group every diagonal block is s times a positive definite one,
so Cholesky's method factors each and no pivoting is needed. In the elimination order of a Graph:

    X_ik = C_k^-1 K_ik^T,    K_ij -= s_k X_ik^T X_jk

An equation whose pivot falls below a share of its diagonal before elimination is redundant: its
pivot is set to infinity, which makes its impulse 0 (redundancy.py).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.inline import fused_kernel
from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.direct.redundancy import (
    closes_loop,
    node_size,
    put_back,
    put_in_order,
    sort_node,
    write_shares,
)
from cardan.engine.spatial.mat3 import inverse_symmetric, load33
from cardan.engine.world.equations import NODE_ROWS, SIDES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Factor, Graph
    from cardan.engine.world.problem import Problem

# one component of eight right-hand sides: stays in two registers while terms are subtracted
Sides = tuple[Any, Any]


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


@fast_kernel
def _cholesky(C: NDArray, inverse: NDArray, scale: NDArray, n: int, share: float) -> None:
    """Overwrite the lower triangle of C with its Cholesky factor.

    Writes  C; inverse (n,): inverse of the factor's diagonal, 0 for a pivot that is too small
    """
    for c in range(n):
        pivot = C[c, c]
        for t in range(c):
            pivot -= C[c, t] * C[c, t]
        inverse[c] = 1.0 / sqrt(pivot) if pivot > share * scale[c] else 0.0
        for r in range(c + 1, n):
            value = C[r, c]
            for t in range(c):
                value -= C[r, t] * C[c, t]
            C[r, c] = value * inverse[c]
    for c in range(n, NODE_ROWS):
        inverse[c] = 0.0


@fast_kernel
def _divide(C: NDArray, inverse: NDArray, n: int, X: NDArray) -> None:
    """X <- C^-1 X."""
    for c in range(n):
        x0, x1, x2, x3, x4, x5 = X[c, 0], X[c, 1], X[c, 2], X[c, 3], X[c, 4], X[c, 5]
        for t in range(c):
            f = C[c, t]
            x0 -= f * X[t, 0]
            x1 -= f * X[t, 1]
            x2 -= f * X[t, 2]
            x3 -= f * X[t, 3]
            x4 -= f * X[t, 4]
            x5 -= f * X[t, 5]
        f = inverse[c]
        X[c, 0] = x0 * f
        X[c, 1] = x1 * f
        X[c, 2] = x2 * f
        X[c, 3] = x3 * f
        X[c, 4] = x4 * f
        X[c, 5] = x5 * f


@fused_kernel
def _add_product(X: NDArray, Y: NDArray, n: int, sign: float, rows: int, Z: NDArray) -> None:
    """Z += sign X^T Y over n rows of both; `rows` rows of Z."""
    for r in range(rows):
        four, z4, z5 = four_of(Z[r], 0), Z[r, 4], Z[r, 5]
        for c in range(n):
            f = sign * X[c, r]
            four += f * four_of(Y[c], 0)
            z4 += f * Y[c, 4]
            z5 += f * Y[c, 5]
        put_four(four, Z[r], 0)
        Z[r, 4], Z[r, 5] = z4, z5


@kernel
def _eliminate(graph: Graph, factor: Factor, k: int) -> None:
    """Subtract the contribution of node k from the later nodes."""
    n = node_size(graph, k)
    is_body = graph.node[k] >= 0
    sign = 1.0 if is_body else -1.0
    C, inverse = factor.C[k], factor.inverse[k]
    if not is_body and closes_loop(graph, -1 - graph.node[k]):
        sort_node(graph, factor, k)
    _cholesky(C, inverse, factor.scale[k], n, factor.share[k])
    first, end = graph.start[k], graph.start[k + 1]
    for t in range(first, end):
        _divide(C, inverse, n, factor.X[t])
    for t in range(first, end):
        i = graph.row[t]
        rows = node_size(graph, i)
        X = factor.X[t]
        same = is_body == (graph.node[i] >= 0)
        _add_product(X, X, n, -1.0 if same else 1.0, rows, factor.C[i])
        if is_body and not same:
            for r in range(rows):
                for c in range(n):
                    factor.scale[i, r] += X[c, r] * X[c, r]
        u = graph.start[i]
        for t2 in range(t + 1, end):
            while graph.row[u] != graph.row[t2]:
                u += 1
            _add_product(X, factor.X[t2], n, -sign, rows, factor.X[u])


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


@fast_kernel
def _forward(graph: Graph, factor: Factor, k: int) -> None:
    """x_k <- C^-1 x_k; subtract its contribution from the later nodes."""
    n = node_size(graph, k)
    sign = 1.0 if graph.node[k] >= 0 else -1.0
    C, inverse, x = factor.C[k], factor.inverse[k], factor.x[k]
    for c in range(n):
        value = x[c]
        for t in range(c):
            value -= C[c, t] * x[t]
        x[c] = value * inverse[c]
    for t in range(graph.start[k], graph.start[k + 1]):
        X, y = factor.X[t], factor.x[graph.row[t]]
        y0, y1, y2, y3, y4, y5 = y[0], y[1], y[2], y[3], y[4], y[5]
        for c in range(n):
            f = sign * x[c]
            y0 -= f * X[c, 0]
            y1 -= f * X[c, 1]
            y2 -= f * X[c, 2]
            y3 -= f * X[c, 3]
            y4 -= f * X[c, 4]
            y5 -= f * X[c, 5]
        y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5


@fast_kernel
def _backward(graph: Graph, factor: Factor, k: int) -> None:
    """x_k <- s C^-T (x_k - contribution of the later nodes)."""
    n = node_size(graph, k)
    sign = 1.0 if graph.node[k] >= 0 else -1.0
    C, inverse, x = factor.C[k], factor.inverse[k], factor.x[k]
    for t in range(graph.start[k], graph.start[k + 1]):
        X, y = factor.X[t], factor.x[graph.row[t]]
        y0, y1, y2, y3, y4, y5 = y[0], y[1], y[2], y[3], y[4], y[5]
        for c in range(n):
            total = X[c, 0] * y0 + X[c, 1] * y1 + X[c, 2] * y2
            x[c] -= total + X[c, 3] * y3 + X[c, 4] * y4 + X[c, 5] * y5
    for c in range(n - 1, -1, -1):
        value = x[c]
        for t in range(c + 1, n):
            value -= C[t, c] * x[t]
        x[c] = value * inverse[c]
    for c in range(n):
        x[c] *= sign


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


@fused_kernel
def _load_sides(x: NDArray) -> Sides:
    """One component of all right-hand sides, x (8,)."""
    return four_of(x, 0), four_of(x, 4)


@fused_kernel
def _store_sides(value: Sides, x: NDArray) -> None:
    """x (8,) <- one component of all right-hand sides."""
    put_four(value[0], x, 0)
    put_four(value[1], x, 4)


@fused_kernel
def _subtract(value: Sides, f: float, x: NDArray) -> Sides:
    """Value - f x, x (8,)."""
    return value[0] - f * four_of(x, 0), value[1] - f * four_of(x, 4)


@fused_kernel
def _scale(f: float, x: NDArray) -> None:
    """x *= f, x (8,)."""
    put_four(f * four_of(x, 0), x, 0)
    put_four(f * four_of(x, 4), x, 4)


@kernel
def _forward_many(graph: Graph, factor: Factor, k: int) -> None:
    """`_forward` for eight right-hand sides."""
    n = node_size(graph, k)
    sign = 1.0 if graph.node[k] >= 0 else -1.0
    C, inverse, x = factor.C[k], factor.inverse[k], factor.many[k]
    for c in range(n):
        value = _load_sides(x[c])
        for t in range(c):
            value = _subtract(value, C[c, t], x[t])
        _store_sides(value, x[c])
        _scale(inverse[c], x[c])
    for t in range(graph.start[k], graph.start[k + 1]):
        X, y = factor.X[t], factor.many[graph.row[t]]
        for r in range(NODE_ROWS):
            value = _load_sides(y[r])
            for c in range(n):
                value = _subtract(value, sign * X[c, r], x[c])
            _store_sides(value, y[r])


@kernel
def _backward_many(graph: Graph, factor: Factor, k: int) -> None:
    """`_backward` for eight right-hand sides."""
    n = node_size(graph, k)
    sign = 1.0 if graph.node[k] >= 0 else -1.0
    C, inverse, x = factor.C[k], factor.inverse[k], factor.many[k]
    for t in range(graph.start[k], graph.start[k + 1]):
        X, y = factor.X[t], factor.many[graph.row[t]]
        for c in range(n):
            value = _load_sides(x[c])
            for r in range(NODE_ROWS):
                value = _subtract(value, X[c, r], y[r])
            _store_sides(value, x[c])
    for c in range(n - 1, -1, -1):
        value = _load_sides(x[c])
        for t in range(c + 1, n):
            value = _subtract(value, C[t, c], x[t])
        _store_sides(value, x[c])
        _scale(inverse[c], x[c])
    for c in range(n):
        _scale(sign, x[c])


@kernel
def solve_many(graph: Graph, factor: Factor, first: int) -> None:
    """factor.many <- K^-1 factor.many: eight right-hand sides, zero before node `first`."""
    n_nodes = graph.count[2]
    for k in range(first, n_nodes):
        if factor.ordered[k] == 1:
            for s in range(SIDES):
                put_in_order(factor, k, node_size(graph, k), factor.many[k, :, s])
        _forward_many(graph, factor, k)
    for k in range(n_nodes - 1, -1, -1):
        _backward_many(graph, factor, k)
        if factor.ordered[k] == 1:
            for s in range(SIDES):
                put_back(factor, k, node_size(graph, k), factor.many[k, :, s])
