"""Dense Schur complement for problems with bodies of kinematic trees.

The split is that of schur_complement.py. Joints of trees have no equations, so the equations E are
the few of loops and couplings. With R the remaining rows,

    X = A_EE^-1 A_ER,   y = A_EE^-1 b_E,   S = A_RR - A_RE X,   b_S = b_R - A_RE y
    lam_E = -(y + X lam_R)

A_EE = L L^T is factored row by row; A_RE X = Y^T Y with Y = L^-1 A_ER. Redundant equations (a
planar loop has three) are left out with lam = 0, even if inconsistent: those whose pivot is
rounding, or what errors of closure leave, beside the size that A_ii would have if no rate missed
the equation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up_matrix, goes_on, repeat
from cardan.engine.solvers.direct.cholesky import DEPENDENT, TELLING, Factor, add_row, subtract
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.solvers.direct.elimination_order import is_equation
from cardan.engine.solvers.direct.redundancy import MOST_OPEN, OPEN
from cardan.engine.solvers.direct.schur_complement import rest_of, silence, write_bounds, write_rest
from cardan.engine.trees.operator import is_on_tree, reach_of, write_tree_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Dense, Problem


# rows enter the factor by their pivots: those above TELLING first, then by this ratio
STEP = 1e-2


@kernel
def write_order(problem: Problem, eliminate: bool, dense: Dense) -> int:
    """Write the rows of R, then E, to dense.indices[0]; return the number of rows of R."""
    order = dense.indices[0]
    m = write_rest(problem, eliminate, 0, order)
    n = m
    if eliminate:
        for i in range(problem.count[1]):
            if is_equation(problem, i):
                order[n] = i
                n += 1
    return m


@kernel
def redundant_share(remains: float) -> float:
    """Share of its size below which a pivot is redundant; remains: what errors of closure leave."""
    return max(DEPENDENT, min(OPEN * remains, MOST_OPEN))


@kernel
def write_sizes(problem: Problem, order: NDArray, m: int, n: int, size: NDArray) -> float:
    """Sizes of A_ii of the equations m ... n - 1; return the share of them that is redundant.

    Writes  size (n,)
    """
    remains, head = 0.0, m
    for e in range(m, n):
        size[e], rest = reach_of(problem, order[e])
        if size[e] > 0.0:
            remains = max(remains, rest / size[e])
        if goes_on(problem, order[e]):
            size[head] += size[e]
        else:
            head = e
    return redundant_share(remains)


@kernel
def drop_redundant(problem: Problem) -> None:
    """Set A_ii = 0, which leaves a row alone, of equations that are redundant each by itself.

    A planar loop has three. Sweeps and pivots would divide by what errors of closure leave of them.
    Terms of couplings are left as they are.

    Writes  problem.diagonal, lam
    Check   tests/laws/test_missed_rates.py
    """
    first, end, remains = problem.count[2], problem.count[1], 0.0
    for i in range(first, end):
        if is_on_tree(problem, i) and is_equation(problem, i):
            size, rest = reach_of(problem, i)
            if size > 0.0:
                remains = max(remains, rest / size)
    least = redundant_share(remains)
    for i in range(first, end):
        if is_on_tree(problem, i) and is_equation(problem, i):
            size, _ = reach_of(problem, i)
            if not problem.diagonal[i] > least * size:
                problem.diagonal[i], problem.lam[i] = 0.0, 0.0


@kernel
def factor_equations(
    S: NDArray, size: NDArray, least: float, bounds: tuple[int, int], taken: NDArray, factor: Factor
) -> None:
    """Factor the independent ones of the rows bounds of S, rows with large pivots first.

    Reads   size (n,) of A_ii; least: the share of it that is redundant
    Writes  factor; taken (n,): 1 for the rows in the factor
    """
    m, n = bounds
    factor.size[0] = 0
    for e in range(m, n):
        taken[e] = 0
    share = TELLING
    while True:
        for e in range(m, n):
            if taken[e] == 0 and S[e, e] > share * size[e]:
                taken[e] = add_row(S, e, share * size[e] / S[e, e], factor)
        if share == least:
            break
        share = max(STEP * share, least)


@kernel
def solve_lower_rows(factor: Factor, S: NDArray, n: int) -> None:
    """The rows of the factor in S, n columns of them, <- L^-1 times them."""
    L, order, first = factor.L, factor.order, factor.first
    for p in range(factor.size[0]):
        x = S[order[p]]
        for q in range(first[p], p):
            subtract(x, L[p, q], S[order[q]], n)
        for k in range(n):
            x[k] /= L[p, p]


@kernel
def solve_upper_rows(factor: Factor, S: NDArray, n: int) -> None:
    """The same with L^-T."""
    L, order, first = factor.L, factor.order, factor.first
    for p in range(factor.size[0] - 1, -1, -1):
        x = S[order[p]]
        for k in range(n):
            x[k] /= L[p, p]
        for q in range(first[p], p):
            subtract(S[order[q]], L[p, q], x, n)


@kernel
def take_out(factor: Factor, S: NDArray, b: NDArray, m: int) -> None:
    """S <- S - Y^T Y and b_R <- b_R - Y^T z, for Y = L^-1 A_ER and z = L^-1 b_E in column m."""
    for p in range(factor.size[0]):
        x = S[factor.order[p]]
        for r in range(m):
            if x[r] != 0.0:
                b[r] -= x[r] * x[m]
                subtract(S[r], x[r], x, m)


@kernel
def eliminate_equations(problem: Problem, dense: Dense, m: int) -> None:
    """Eliminate the equations from S and b.

    Writes  dense.S[0:m, 0:m]: S; dense.S[m + e, 0:m]: X of equation e; vectors[0]: b_S;
            vectors[7]: y; vectors[4, m:]: sizes of the equations
    """
    S, order, y, taken = dense.S, dense.indices[0], dense.vectors[7], dense.indices[4]
    factor = Factor(dense.factor, dense.indices[5], dense.indices[6], dense.indices[2])
    n, sizes = problem.count[0], dense.vectors[4]
    least = write_sizes(problem, order, m, n, sizes)
    factor_equations(S, sizes, least, (m, n), taken, factor)
    # A_EE is in the factor: its first column has b_E now
    for e in range(m, n):
        S[e, m] = problem.b[order[e]]
        for r in range(m + 1):
            S[e, r] = S[e, r] if taken[e] == 1 else 0.0
    solve_lower_rows(factor, S, m + 1)
    take_out(factor, S, dense.vectors[0], m)
    solve_upper_rows(factor, S, m + 1)
    for e in range(m, n):
        y[e] = S[e, m]


@kernel
def reduce_on_trees(problem: Problem, dense: Dense, eliminate: bool) -> DenseProblem:
    """Form the dense problem on the rows that are not equations.

    The caller must ensure that all rows fit.

    Writes  dense: S; vectors 0 b, 1 lo, 2 hi, 3 mu, 4 scale, 5 lam, 6 w, 7 y; indices 0 order,
            8 normal; path, path_tree
    Check   tests/engine/solvers/direct/test_tree_elimination.py
    """
    n = problem.count[0]
    order = dense.indices[0]
    m = write_order(problem, eliminate, dense)
    write_bounds(problem, dense, m)
    write_tree_matrix(problem, order, n, dense)
    add_up_matrix(problem, order, n, dense.S)
    if m < n:
        eliminate_equations(problem, dense, m)
    silence(problem, dense, m)
    return rest_of(problem, dense, m)


@kernel
def restore_on_trees(problem: Problem, dense: Dense, dp: DenseProblem) -> None:
    """Write problem.lam from lam_R and lam_E; redundant equations get 0."""
    order, y, S = dense.indices[0], dense.vectors[7], dense.S
    m = dp.n
    for r in range(m):
        problem.lam[order[r]] = dp.lam[r]
    for e in range(m, problem.count[0]):
        total = y[e]
        for r in range(m):
            total += S[e, r] * dp.lam[r]
        problem.lam[order[e]] = -total
    repeat(problem, problem.lam)
