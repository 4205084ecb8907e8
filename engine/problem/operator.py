"""A as an operator and as a matrix, two equivalent forms of w = A lam + b.

A = J M^-1 J^T + diag(cfm);  the rows' MJ_a, MJ_b are M^-1 J^T already, so
v = M^-1 J^T lam,   w = J v + cfm lam + b     needs no matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import ZERO3, Vec3
from cardan.engine.trees.operator import tree_velocities
from cardan.engine.trees.spatial_arrays import dot6

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem


@kernel
def _copy_six(X: NDArray, i: int, Y: NDArray, k: int) -> None:
    """Y_k <- X_i, rows of six."""
    put_four(four_of(X[i], 0), Y[k], 0)
    Y[k, 4], Y[k, 5] = X[i, 4], X[i, 5]


@kernel
def _add_six(X: NDArray, i: int, x: float, v: NDArray, k: int) -> None:
    """v_k += X_i x, rows of six."""
    put_four(four_of(v[k], 0) + four_of(X[i], 0) * x, v[k], 0)
    v[k, 4] += X[i, 4] * x
    v[k, 5] += X[i, 5] * x


@kernel
def copy_geometry(source: Problem, i: int, target: Problem, k: int) -> None:
    """Copy row i of one problem to row k of another without its law: bodies, J, M^-1 J^T, error."""
    target.body_a[k] = source.body_a[i]
    target.body_b[k] = source.body_b[i]
    _copy_six(source.J_a, i, target.J_a, k)
    _copy_six(source.J_b, i, target.J_b, k)
    _copy_six(source.MJ_a, i, target.MJ_a, k)
    _copy_six(source.MJ_b, i, target.MJ_b, k)
    target.diagonal[k] = source.diagonal[i]
    target.error[k] = source.error[i]
    target.joint[k] = source.joint[i]


@kernel
def first_dependent(problem: Problem) -> int:
    """The first box row whose bounds follow a normal impulse; n_box where there is none."""
    i = problem.count[1]
    while i > 0 and problem.normal_row[i - 1] >= 0:
        i -= 1
    return i


@kernel
def add_impulse(problem: Problem, i: int, x: float, v: NDArray) -> None:
    """v += M^-1 J_i^T x."""
    if x != 0.0:
        _add_six(problem.MJ_a, i, x, v, problem.body_a[i])
        _add_six(problem.MJ_b, i, x, v, problem.body_b[i])


@kernel
def add_push(problem: Problem, i: int, x: Vec3, v: NDArray) -> None:
    """v += M^-1 J^T x of the three rows of the contact with normal row i."""
    if x == ZERO3:
        return
    a, b = problem.body_a[i], problem.body_b[i]
    MJ_a, MJ_b = problem.MJ_a, problem.MJ_b
    for k in range(6):
        v[a, k] += MJ_a[i, k] * x[0] + MJ_a[i + 1, k] * x[1] + MJ_a[i + 2, k] * x[2]
        v[b, k] += MJ_b[i, k] * x[0] + MJ_b[i + 1, k] * x[1] + MJ_b[i + 2, k] * x[2]


@kernel
def clear_velocities(problem: Problem, i: int, v: NDArray) -> None:
    """v = 0 of the bodies of row i."""
    a, b = problem.body_a[i], problem.body_b[i]
    for k in range(6):
        v[a, k] = 0.0
        v[b, k] = 0.0


@kernel
def impulse_velocities(problem: Problem, x: NDArray, v: NDArray) -> None:
    """v = M^-1 J^T x for impulses x (>= n_rows,).

    Writes  v (n_bodies + 1, 6) rad/s, m/s   angular first, W; of the bodies of the rows only
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    for i in range(n_box):
        clear_velocities(problem, i, v)
    for i in range(n_box, n_rows, 3):
        clear_velocities(problem, i, v)
    for i in range(n_box):
        add_impulse(problem, i, x[i], v)
    for i in range(n_box, n_rows, 3):
        add_push(problem, i, (x[i], x[i + 1], x[i + 2]), v)
    tree_velocities(problem, x, v)


@kernel
def body_velocities(problem: Problem, v: NDArray) -> None:
    """v = M^-1 J^T lam: velocity change of each body by the impulses.

    Writes  v (n_bodies + 1, 6) rad/s, m/s   angular first, W; of the bodies of the rows only
    Check   tests/engine/problem/test_operator.py
    """
    impulse_velocities(problem, problem.lam, v)


@kernel
def relative_velocity(problem: Problem, v: NDArray, i: int) -> float:
    """J_i v [m/s or rad/s]."""
    a = problem.body_a[i]
    b = problem.body_b[i]
    w = 0.0
    for k in range(6):
        w += problem.J_a[i, k] * v[a, k]
    for k in range(6):
        w += problem.J_b[i, k] * v[b, k]
    return w


@kernel
def row_velocity(problem: Problem, v: NDArray, i: int) -> float:
    """w_i = J_i v + cfm_i lam_i + b_i for the row's own units [m/s or rad/s].

    Reads   v (n_bodies + 1, 6)   from body_velocities
    """
    return problem.b[i] + problem.cfm[i] * problem.lam[i] + relative_velocity(problem, v, i)


@kernel
def entry_by_bodies(problem: Problem, i: int, j: int) -> float:
    """A_ij of two rows without compliance, of bodies in no tree: by the bodies that both have."""
    a, b = problem.body_a[j], problem.body_b[j]
    total = 0.0
    if problem.body_a[i] == a:
        total += dot6(problem.J_a, i, problem.MJ_a, j)
    if problem.body_a[i] == b:
        total += dot6(problem.J_a, i, problem.MJ_b, j)
    if problem.body_b[i] == a:
        total += dot6(problem.J_b, i, problem.MJ_a, j)
    if problem.body_b[i] == b:
        total += dot6(problem.J_b, i, problem.MJ_b, j)
    return total


@kernel
def _mover(body: int, MJ: NDArray, i: int) -> int:
    """The body, or -1 when no impulse of row i moves it."""
    for k in range(6):
        if MJ[i, k] != 0.0:
            return body
    return -1


@kernel
def write_matrix(problem: Problem, order: NDArray, n: int, A: NDArray, movers: NDArray) -> None:
    """A over the rows order[0:n]; only bodies that two rows share couple them.

    Writes  A (>= n, >= n)        both triangles, exactly symmetric
            movers (2, >= n)      scratch
    Check   tests/engine/problem/test_operator.py
    """
    for p in range(n):
        i = order[p]
        movers[0, p] = _mover(problem.body_a[i], problem.MJ_a, i)
        movers[1, p] = _mover(problem.body_b[i], problem.MJ_b, i)
    for p in range(n):
        i = order[p]
        a = movers[0, p]
        b = movers[1, p]
        for q in range(p):
            aq = movers[0, q]
            bq = movers[1, q]
            value = 0.0
            if a >= 0:
                if a == aq:
                    value += dot6(problem.J_a, i, problem.MJ_a, order[q])
                if a == bq:
                    value += dot6(problem.J_a, i, problem.MJ_b, order[q])
            if b >= 0:
                if b == aq:
                    value += dot6(problem.J_b, i, problem.MJ_a, order[q])
                if b == bq:
                    value += dot6(problem.J_b, i, problem.MJ_b, order[q])
            A[p, q] = value
            A[q, p] = value
        A[p, p] = problem.diagonal[i]
