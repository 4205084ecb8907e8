"""Schur complement that eliminates the equations of a problem.

    [A_EE A_ER] [lam_E]   [b_E]   [0  ]      S   = A_RR - A_RE A_EE^-1 A_ER
    [A_RE A_RR] [lam_R] + [b_R] = [w_R]      b_S = b_R  - A_RE A_EE^-1 b_E

Rows E are the equations (lo = -inf, hi = inf); redundant ones are left out with lam = 0. The
remaining rows obey  S lam_R + b_S = w_R  with their own law; then
lam_E = -A_EE^-1 (b_E + A_ER lam_R).

A_EE is never formed. With K = [M J_E^T; J_E -cfm] and its factor (block_ldlt.py)

    K [v_s; y_s]    = [J_s^T; 0]              S_rs = J_r v_s + cfm,   s of R
    K [v_0; y_0]    = [0; -b_E]               b_S = b_R + J_R v_0
    K [v; -lam_E]   = [J_R^T lam_R; -b_E]     lam_E for given lam_R

The first two are solved together, eight right-hand sides at a time, that of b_E as the first of
all. Where these are all there are, the third is their sum: lam_E = -y_0 - sum_s y_s lam_s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up, add_up_matrix, goes_on, repeat
from cardan.engine.problem.given_slip import load_of_normal, yield_of
from cardan.engine.problem.operator import first_dependent, write_matrix
from cardan.engine.solvers.direct.block_ldlt import solve_many, solve_one, write_factor
from cardan.engine.solvers.direct.cholesky import DEPENDENT
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.solvers.direct.elimination_order import (
    count_in_graph,
    has_graph,
    is_equation,
    is_in_graph,
)
from cardan.engine.trees.spatial_arrays import dot6
from cardan.engine.world.equations import FACTORED, NODE_ROWS, ORDERED, SIDES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.equations import Factor, Graph
    from cardan.engine.world.problem import Dense, Problem


@kernel
def write_rest(problem: Problem, eliminate: bool, first: int, order: NDArray) -> int:
    """Write the rows that are not equations (or all) to `order`; return their number.

    Rows before `first` are not taken for equations.
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    m = 0
    for i in range(n_rows):
        if not (eliminate and first <= i < n_box and is_equation(problem, i)):
            order[m] = i
            m += 1
    return m


@kernel
def write_bounds(problem: Problem, dense: Dense, m: int) -> None:
    """Copy b and the bounds of the rows order[0:m] from the problem.

    Further terms of couplings are left without an impulse: it is that of the first.
    """
    order, vectors, normal = dense.indices[0], dense.vectors, dense.indices[8]
    n_equations = problem.count[0] - m
    for r in range(m):
        i = order[r]
        vectors[0, r] = problem.b[i]
        vectors[1, r] = problem.lo[i]
        vectors[2, r] = problem.hi[i]
        vectors[3, r] = problem.mu[i]
        vectors[4, r] = problem.diagonal[i]
        vectors[5, r] = problem.lam[i]
        if goes_on(problem, i):
            vectors[1, r], vectors[2, r], vectors[5, r] = 0.0, 0.0, 0.0
        # the normal of a dependent row is a contact row, and contacts stay behind the boxes
        normal[r] = problem.normal_row[i] - n_equations


@kernel
def write_sides(graph: Graph, b: NDArray, x: NDArray) -> None:
    """x <- [0; -b_E] over the nodes of a graph; b by row."""
    for k in range(graph.count[2]):
        for r in range(NODE_ROWS):
            x[k, r] = 0.0
    for g in range(graph.count[1]):
        k = graph.group_node[g]
        for r in range(graph.size[g]):
            x[k, r] = -b[graph.member[g, r]]


@kernel
def _put_side(J: NDArray, i: int, many: NDArray, k: int, s: int) -> None:
    """Add J_i^T to right-hand side s at node k."""
    for c in range(NODE_ROWS):
        many[k, c, s] += J[i, c]


@kernel
def _write_responses(problem: Problem, dense: Dense, begin: int, end: int) -> None:
    """factor.many <- answers of the bodies of the equations to the sides begin:end.

    Side 0 is b_E, side 1 + r the row order[r].
    """
    graph, factor = dense.graph, dense.equations
    many = factor.many
    n_nodes = graph.count[2]
    for k in range(n_nodes):
        for c in range(NODE_ROWS):
            for s in range(SIDES):
                many[k, c, s] = 0.0
    first = n_nodes
    if begin == 0:
        write_sides(graph, problem.b, many[:, :, 0])
        first = 0
    for s in range(max(begin, 1), end):
        i = dense.indices[0, s - 1]
        a, b = graph.place[problem.body_a[i]], graph.place[problem.body_b[i]]
        if a >= 0:
            _put_side(problem.J_a, i, many, graph.body_node[a], s - begin)
            first = min(first, graph.body_node[a])
        if b >= 0:
            _put_side(problem.J_b, i, many, graph.body_node[b], s - begin)
            first = min(first, graph.body_node[b])
    solve_many(graph, factor, first)


@kernel
def _side_of(J: NDArray, i: int, many: NDArray, k: int, s: int) -> float:
    """J_i times right-hand side s at node k."""
    total = 0.0
    for c in range(NODE_ROWS):
        total += J[i, c] * many[k, c, s]
    return total


@kernel
def _coupling(problem: Problem, J: NDArray, i: int, body: int, j: int) -> float:
    """Contribution to A_ij of a body of row i that has no equations."""
    total = 0.0
    if problem.inverse_mass[body] > 0.0:
        if problem.body_a[j] == body:
            total += dot6(J, i, problem.MJ_a, j)
        if problem.body_b[j] == body:
            total += dot6(J, i, problem.MJ_b, j)
    return total


@kernel
def _add_answers(problem: Problem, dense: Dense, m: int) -> None:
    """b_S += J_R v_0, of the first right-hand side."""
    graph, many, b = dense.graph, dense.equations.many, dense.vectors[0]
    for r in range(m):
        i = dense.indices[0, r]
        body_a, body_b = graph.place[problem.body_a[i]], graph.place[problem.body_b[i]]
        if body_a >= 0:
            b[r] += _side_of(problem.J_a, i, many, graph.body_node[body_a], 0)
        if body_b >= 0:
            b[r] += _side_of(problem.J_b, i, many, graph.body_node[body_b], 0)


@kernel
def _write_complement(problem: Problem, dense: Dense, m: int) -> None:
    """Write S to dense.S and add to b_S, eight right-hand sides at a time."""
    graph, many, S = dense.graph, dense.equations.many, dense.S
    order = dense.indices[0]
    for begin in range(0, m + 1, SIDES):
        end = min(begin + SIDES, m + 1)
        _write_responses(problem, dense, begin, end)
        if begin == 0:
            _add_answers(problem, dense, m)
        first = max(begin, 1) - 1
        for r in range(first, m):
            i = order[r]
            body_a, body_b = problem.body_a[i], problem.body_b[i]
            a, b = graph.place[body_a], graph.place[body_b]
            for c in range(first, min(end - 1, r + 1)):
                j, s = order[c], 1 + c - begin
                value = problem.cfm[i] if r == c else 0.0
                if a >= 0:
                    value += _side_of(problem.J_a, i, many, graph.body_node[a], s)
                else:
                    value += _coupling(problem, problem.J_a, i, body_a, j)
                if b >= 0:
                    value += _side_of(problem.J_b, i, many, graph.body_node[b], s)
                else:
                    value += _coupling(problem, problem.J_b, i, body_b, j)
                S[r, c] = value
                S[c, r] = value


@kernel
def silence(problem: Problem, dense: Dense, m: int) -> None:
    """Clear rows of S that the equations decide alone: they hold rounding, which must not push.

    Without a scale and b no solver gives normals among them an impulse, or iterates for what none
    changes. A motor against a lock keeps both, and pushes with its largest force. Friction keeps
    both and yields: where the equations let surfaces slide it is at its limit.
    """
    S, b, scale, mu, normal = (
        dense.S,
        dense.vectors[0],
        dense.vectors[4],
        dense.vectors[3],
        dense.indices[8],
    )
    eliminated = problem.count[0] - m
    for r in range(m):
        if not S[r, r] > DEPENDENT * scale[r]:
            slides = mu[r] > 0.0 and normal[r] >= 0
            if r >= problem.count[1] - eliminated and not slides:
                b[r], scale[r] = 0.0, 0.0
            for s in range(m):
                S[r, s] = 0.0
                S[s, r] = 0.0
            if slides:
                i, n = dense.indices[0, r], normal[r]
                load = load_of_normal(dense.vectors[5, n], b[n], S[n, n])
                S[r, r] = yield_of(problem.error[i], mu[r] * load, scale[r])


@kernel
def add_up_rest(problem: Problem, dense: Dense, m: int) -> None:
    """Add up the rows of couplings, which are the first of R, in S and b_S."""
    b, scale = dense.vectors[0], dense.vectors[4]
    add_up_matrix(problem, dense.indices[0], m, dense.S)
    add_up(problem, b)
    add_up(problem, scale)


@kernel
def rest_of(problem: Problem, dense: Dense, m: int) -> DenseProblem:
    """The dense problem on m rows, all that are not eliminated, from what `dense` holds of it.

    Reads   dense: S; vectors 0 b, 1 lo, 2 hi, 3 mu, 4 scale, 5 lam, 6 w; indices 8 normal
    """
    eliminated = problem.count[0] - m
    return DenseProblem(
        dense.S,
        dense.vectors[0],
        dense.vectors[1],
        dense.vectors[2],
        dense.vectors[3],
        dense.vectors[4],
        dense.vectors[5],
        dense.vectors[6],
        m,
        problem.count[1] - eliminated,
        problem.friction_kind[0],
        problem.friction_kind[1],
        first_dependent(problem) - eliminated,
        dense.indices[8],
    )


@kernel
def ensure_factor(problem: Problem, graph: Graph, factor: Factor) -> None:
    """Compute the factor over a graph, unless the caller has it at hand (graph.count)."""
    if graph.count[4] != FACTORED:
        write_factor(problem, graph, factor)
    if graph.count[4] == ORDERED:
        graph.count[4] = FACTORED


@kernel
def reduce_problem(problem: Problem, dense: Dense, eliminate: bool) -> DenseProblem:
    """Form the dense problem on the rows that are not equations.

    Without `eliminate` the dense problem is the whole Problem. With it, dense.graph must be the
    graph of this problem (elimination_order.has_graph).

    Source  Baraff 1996, "Linear-Time Dynamics using Lagrange Multipliers", for the split
    Check   tests/engine/solvers/direct/test_schur_complement.py
    Writes  dense: equations; S; vectors 0 b, 1 lo, 2 hi, 3 mu, 4 scale, 5 lam, 6 w;
            indices 0 order, 1 and 2 scratch, 8 normal
    """
    order = dense.indices[0]
    m = write_rest(problem, eliminate, problem.count[2], order)
    write_bounds(problem, dense, m)
    graph, factor = dense.graph, dense.equations
    if not eliminate:
        write_matrix(problem, order, m, dense.S, dense.indices[1:3])
        add_up_matrix(problem, order, m, dense.S)
    else:
        ensure_factor(problem, graph, factor)
        if m > 0:
            _write_complement(problem, dense, m)
            add_up_rest(problem, dense, m)
            silence(problem, dense, m)
    return rest_of(problem, dense, m)


@kernel
def _push(J: NDArray, i: int, lam: float, x: NDArray, k: int) -> None:
    """x_k += J_i^T lam."""
    for c in range(NODE_ROWS):
        x[k, c] += J[i, c] * lam


@kernel
def answer_equations(problem: Problem, dense: Dense) -> None:
    """Solve for lam_E with the impulses of all other rows given; redundant equations get 0.

    Reads   dense.graph, dense.equations   of this problem (write_graph, write_factor)
    Writes  problem.lam of the equations; dense.equations.x
    Check   tests/engine/solvers/direct/test_schur_complement.py
    """
    graph, factor = dense.graph, dense.equations
    write_sides(graph, problem.b, factor.x)
    for i in range(problem.count[0]):
        lam = problem.lam[i]
        if lam == 0.0 or (i < problem.count[1] and is_in_graph(problem, i)):
            continue
        a, b = graph.place[problem.body_a[i]], graph.place[problem.body_b[i]]
        if a >= 0:
            _push(problem.J_a, i, lam, factor.x, graph.body_node[a])
        if b >= 0:
            _push(problem.J_b, i, lam, factor.x, graph.body_node[b])
    solve_one(graph, factor)
    for i in range(problem.count[1]):
        if is_in_graph(problem, i):
            problem.lam[i] = 0.0
    for g in range(graph.count[1]):
        k = graph.group_node[g]
        for r in range(graph.size[g]):
            problem.lam[graph.member[g, r]] = -factor.x[k, r]


@kernel
def _add_up_answers(problem: Problem, dense: Dense, m: int) -> None:
    """lam_E from the answers to b_E and to the m rows order[0:m], which are all at hand."""
    graph, many, order = dense.graph, dense.equations.many, dense.indices[0]
    for g in range(graph.count[1]):
        k = graph.group_node[g]
        for r in range(graph.size[g]):
            total = many[k, r, 0]
            for s in range(m):
                total += many[k, r, 1 + s] * problem.lam[order[s]]
            problem.lam[graph.member[g, r]] = -total


@kernel
def restore_solution(problem: Problem, dense: Dense, dp: DenseProblem, eliminate: bool) -> None:
    """Write problem.lam from lam_R and solve for lam_E; redundant equations get 0."""
    for r in range(dp.n):
        problem.lam[dense.indices[0, r]] = dp.lam[r]
    repeat(problem, problem.lam)
    if eliminate and 0 < dp.n < SIDES:
        _add_up_answers(problem, dense, dp.n)
    elif eliminate:
        answer_equations(problem, dense)


@kernel
def solve_equations(problem: Problem, dense: Dense) -> None:
    """Write the factor and solve the equations; do nothing where loops exceed the memory.

    Writes  problem.lam of the equations; dense.graph, dense.equations
    """
    if count_in_graph(problem) > 0 and has_graph(problem, dense.graph):
        ensure_factor(problem, dense.graph, dense.equations)
        answer_equations(problem, dense)
