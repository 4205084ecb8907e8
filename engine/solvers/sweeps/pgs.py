"""Sweeps of projected Gauss-Seidel without a matrix: velocities of the bodies couple the rows.

    w_i  = J_i v + cfm_i lam_i + b_i
    lam_i <- P(lam_i - (omega / D_i) w_i),    v += M^-1 J_i^T (change of lam_i)

Boxes first, then contacts: the normal, then both tangents together on the disk or polygon of
mu lam_n (or one after the other on the square), then dependent rows with the normal impulses of
this sweep, so that lam is admissible after it.

A contact reads and writes the velocities of its two bodies once: its three w use the same v, and
changes of earlier rows of the block enter the later ones through couplings of the block, which
blocks.py writes. An impulse on a body of a tree moves all its bodies: one traversal a block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.problem.coupled import goes_on
from cardan.engine.problem.operator import (
    add_impulse,
    entry_by_bodies,
    first_dependent,
    relative_velocity,
)
from cardan.engine.problem.projection import clamp, project_disk, project_pair, project_polygon
from cardan.engine.solvers.sweeps.steps import step_of
from cardan.engine.solvers.sweeps.trees import move_trees, moves_trees
from cardan.engine.trees.operator import push_trees
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_POLYGON

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem

# six numbers of a body or a row: angular x y z, linear x y z
Six = tuple[float, float, float, float, float, float]


@fast_kernel
def load_six(X: NDArray, i: int) -> Six:
    """Row i of (n, 6) in registers."""
    x = X[i]
    return x[0], x[1], x[2], x[3], x[4], x[5]


@fast_kernel
def store_six(X: NDArray, i: int, x: Six) -> None:
    """Row i of (n, 6) back to memory."""
    row = X[i]
    row[0], row[1], row[2] = x[0], x[1], x[2]
    row[3], row[4], row[5] = x[3], x[4], x[5]


@fast_kernel
def along(J: NDArray, i: int, v: Six) -> float:
    """J_i v, angular and linear halves summed separately."""
    j = J[i]
    return (j[0] * v[0] + j[1] * v[1] + j[2] * v[2]) + (j[3] * v[3] + j[4] * v[4] + j[5] * v[5])


@fast_kernel
def pushed(v: Six, MJ: NDArray, i: int, change: float) -> Six:
    """v + MJ_i change."""
    m = MJ[i]
    return (
        v[0] + m[0] * change,
        v[1] + m[1] * change,
        v[2] + m[2] * change,
        v[3] + m[3] * change,
        v[4] + m[4] * change,
        v[5] + m[5] * change,
    )


@fast_kernel
def relax_box(problem: Problem, i: int, omega: float, v_a: Six, v_b: Six) -> tuple[Six, Six, float]:
    """Relax box row i; return the velocities of its bodies, and D |change| [m/s or rad/s]."""
    old = problem.lam[i]
    w = along(problem.J_a, i, v_a) + along(problem.J_b, i, v_b)
    w += problem.b[i] + problem.cfm[i] * old
    x = old - omega * problem.w[i] * w
    x = problem.lo[i] if x < problem.lo[i] else x
    x = problem.hi[i] if x > problem.hi[i] else x
    problem.lam[i] = x
    v_a, v_b = pushed(v_a, problem.MJ_a, i, x - old), pushed(v_b, problem.MJ_b, i, x - old)
    return v_a, v_b, abs(x - old) * problem.diagonal[i]


@fast_kernel
def sweep_boxes(problem: Problem, v: NDArray, n: int, omega: float) -> float:
    """Sweep the first n box rows, none dependent; return the largest D |change| [m/s or rad/s].

    Consecutive rows of the same bodies, those of a joint, read and write their velocities once,
    unless they move trees.
    """
    largest, i = 0.0, 0
    while i < n:
        a, b = problem.body_a[i], problem.body_b[i]
        v_a, v_b = load_six(v, a), load_six(v, b)
        in_trees = moves_trees(problem, i)
        while i < n and problem.body_a[i] == a and problem.body_b[i] == b:
            old = problem.lam[i]
            v_a, v_b, change = relax_box(problem, i, omega, v_a, v_b)
            largest = max(largest, change)
            i += 1
            if in_trees:
                push_trees(problem, i - 1, problem.lam[i - 1] - old)
                break
        store_six(v, a, v_a)
        store_six(v, b, v_b)
        if in_trees:
            move_trees(problem, v, i - 1)
    return largest


@kernel
def end_of_coupling(problem: Problem, first: int) -> int:
    """The row after the last one of the coupling that begins at row `first`."""
    end = first + 1
    while goes_on(problem, end):
        end += 1
    return end


@kernel
def coupled_diagonal(problem: Problem, first: int, end: int) -> float:
    """The diagonal D of a coupling, the sum of A over its rows; in trees an upper bound of it."""
    D, bound, exact = problem.cfm[first], 0.0, True
    for i in range(first, end):
        # n rows have at most the diagonal n sum of D_i when they are added up
        bound += (end - first) * problem.diagonal[i]
        exact = exact and not moves_trees(problem, i)
        for j in range(first, end):
            D += entry_by_bodies(problem, i, j)
    return D if exact else bound


@kernel
def coupled_velocity(problem: Problem, v: NDArray, first: int) -> float:
    """J v of row `first`, or of the coupling that begins there: the sum of its rows."""
    total = relative_velocity(problem, v, first)
    for i in range(first + 1, end_of_coupling(problem, first)):
        total += relative_velocity(problem, v, i)
    return total


@kernel
def impulse_of_coupling(problem: Problem, v: NDArray, first: int, step: float) -> float:
    """Impulse that the rows of the coupling at row `first` share after a step omega / D."""
    w = problem.b[first] + problem.cfm[first] * problem.lam[first]
    w += coupled_velocity(problem, v, first)
    return clamp(problem.lam[first] - step * w, problem.lo[first], problem.hi[first])


@kernel
def sweep_couplings(problem: Problem, v: NDArray, omega: float) -> float:
    """Sweep all couplings; return the largest D |change| [m/s or rad/s]."""
    largest, first = 0.0, 0
    while first < problem.count[2]:
        end = end_of_coupling(problem, first)
        D = coupled_diagonal(problem, first, end)
        x = impulse_of_coupling(problem, v, first, omega * step_of(D))
        change = x - problem.lam[first]
        for i in range(first, end):
            add_impulse(problem, i, change, v)
            problem.lam[i] = x
            if moves_trees(problem, i):
                push_trees(problem, i, change)
        for i in range(first, end):
            if moves_trees(problem, i):
                move_trees(problem, v, i)
        largest = max(largest, abs(change) * D)
        first = end
    return largest


@fast_kernel
def _block_velocities(problem: Problem, i: int, v_a: Six, v_b: Six) -> tuple[float, float, float]:
    """w of the normal row i and of its two tangents."""
    J_a, J_b = problem.J_a, problem.J_b
    lam, bias, cfm = problem.lam, problem.b, problem.cfm
    j, k = i + 1, i + 2
    return (
        along(J_a, i, v_a) + along(J_b, i, v_b) + (bias[i] + cfm[i] * lam[i]),
        along(J_a, j, v_a) + along(J_b, j, v_b) + (bias[j] + cfm[j] * lam[j]),
        along(J_a, k, v_a) + along(J_b, k, v_b) + (bias[k] + cfm[k] * lam[k]),
    )


@fast_kernel
def _push_block(v_a: Six, MJ: NDArray, i: int, d: tuple[float, float, float]) -> Six:
    """v + M^-1 J^T d over the three rows of the contact with normal row i."""
    return pushed(pushed(pushed(v_a, MJ, i, d[0]), MJ, i + 1, d[1]), MJ, i + 2, d[2])


@kernel
def _move_trees_of_block(
    problem: Problem, v: NDArray, i: int, d: tuple[float, float, float]
) -> None:
    """Move the trees of a block by changes d of its impulses."""
    for k in range(3):
        push_trees(problem, i + k, d[k])
    move_trees(problem, v, i)


@fast_kernel
def _move_block(
    problem: Problem, v: NDArray, i: int, d: tuple[float, float, float], before: tuple[Six, Six]
) -> None:
    """v = before + M^-1 J^T d of the block with first row i, of its bodies and their trees."""
    store_six(v, problem.body_a[i], _push_block(before[0], problem.MJ_a, i, d))
    store_six(v, problem.body_b[i], _push_block(before[1], problem.MJ_b, i, d))
    if moves_trees(problem, i):
        _move_trees_of_block(problem, v, i, d)


@fast_kernel
def _finish_block(
    problem: Problem, i: int, x: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    """Write the new impulses of a contact; return their changes and the largest D |change|."""
    lam, D = problem.lam, problem.diagonal
    d0, d1, d2 = x[0] - lam[i], x[1] - lam[i + 1], x[2] - lam[i + 2]
    lam[i], lam[i + 1], lam[i + 2] = x
    change = max(abs(d0) * D[i], max(abs(d1), abs(d2)) * max(D[i + 1], D[i + 2]))
    return d0, d1, d2, change


@fast_kernel
def sweep_cone(problem: Problem, v: NDArray, i: int, omega: float) -> float:
    """Update the contact with normal row i, friction on disk or polygon; return D |change|."""
    lam, step, coupling = problem.lam, problem.w, problem.lo
    a = problem.body_a[i]
    b = problem.body_b[i]
    v_a = load_six(v, a)
    v_b = load_six(v, b)
    w0, w1, w2 = _block_velocities(problem, i, v_a, v_b)
    x = lam[i] - omega * step[i] * w0
    x = 0.0 if x < 0.0 else x
    d0 = x - lam[i]
    scale = omega * step[i + 1]
    y1 = lam[i + 1] - scale * (w1 + coupling[i + 1] * d0)
    y2 = lam[i + 2] - scale * (w2 + coupling[i + 2] * d0)
    radius = problem.mu[i + 1] * x
    if problem.friction_kind[0] == FRICTION_POLYGON:
        y1, y2 = project_polygon(y1, y2, radius, problem.friction_kind[1])
    else:
        y1, y2 = project_disk(y1, y2, radius)
    d0, d1, d2, change = _finish_block(problem, i, (x, y1, y2))
    _move_block(problem, v, i, (d0, d1, d2), (v_a, v_b))
    return change


@fast_kernel
def sweep_cones(problem: Problem, v: NDArray, omega: float) -> float:
    """Sweep all contacts, friction on disk or polygon; return the largest D |change|."""
    largest = 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        largest = max(largest, sweep_cone(problem, v, i, omega))
    return largest


@fast_kernel
def _clip(x: float, limit: float) -> float:
    """Clamp x to [-limit, limit]."""
    x = -limit if x < -limit else x
    return limit if x > limit else x


@fast_kernel
def sweep_squares(problem: Problem, v: NDArray, omega: float) -> float:
    """Sweep all contacts, friction on the square; return the largest D |change|."""
    lam, step, coupling, mu = problem.lam, problem.w, problem.lo, problem.mu
    largest = 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        a = problem.body_a[i]
        b = problem.body_b[i]
        v_a = load_six(v, a)
        v_b = load_six(v, b)
        w0, w1, w2 = _block_velocities(problem, i, v_a, v_b)
        x = lam[i] - omega * step[i] * w0
        x = 0.0 if x < 0.0 else x
        d0 = x - lam[i]
        y1 = lam[i + 1] - omega * step[i + 1] * (w1 + coupling[i + 1] * d0)
        y1 = _clip(y1, mu[i + 1] * x)
        w2 += coupling[i + 2] * d0 + problem.hi[i + 1] * (y1 - lam[i + 1])
        y2 = _clip(lam[i + 2] - omega * step[i + 2] * w2, mu[i + 2] * x)
        d0, d1, d2, change = _finish_block(problem, i, (x, y1, y2))
        _move_block(problem, v, i, (d0, d1, d2), (v_a, v_b))
        largest = max(largest, change)
    return largest


@fast_kernel
def _rolling_pair(
    problem: Problem, i: int, y: tuple[float, float], lam_n: float
) -> tuple[float, float]:
    """Project unconstrained impulses y of rows i + 1, i + 2; y[1] excludes the update of y[0]."""
    kind = problem.friction_kind[0]
    radius = problem.mu[i + 1] * lam_n
    if kind != FRICTION_BOX:
        return project_pair(y[0], y[1], radius, kind, problem.friction_kind[1])
    y1 = _clip(y[0], radius)
    # in a square one after the other: the second includes the update of the first
    w2 = problem.hi[i + 1] * (y1 - problem.lam[i + 1])
    return y1, _clip(y[1] - problem.w[i + 2] * w2, problem.mu[i + 2] * lam_n)


@fast_kernel
def sweep_dependent(problem: Problem, v: NDArray, omega: float) -> float:
    """Sweep all dependent blocks with current normal impulses; return the largest D |change|."""
    lam, step, coupling = problem.lam, problem.w, problem.lo
    largest = 0.0
    for i in range(first_dependent(problem), problem.count[1], 3):
        a = problem.body_a[i]
        b = problem.body_b[i]
        v_a = load_six(v, a)
        v_b = load_six(v, b)
        lam_n = lam[problem.normal_row[i]]
        w0, w1, w2 = _block_velocities(problem, i, v_a, v_b)
        x = _clip(lam[i] - omega * step[i] * w0, problem.mu[i] * lam_n)
        d0 = x - lam[i]
        y1 = lam[i + 1] - omega * step[i + 1] * (w1 + coupling[i + 1] * d0)
        y2 = lam[i + 2] - omega * step[i + 2] * (w2 + coupling[i + 2] * d0)
        y1, y2 = _rolling_pair(problem, i, (y1, y2), lam_n)
        d0, d1, d2, change = _finish_block(problem, i, (x, y1, y2))
        _move_block(problem, v, i, (d0, d1, d2), (v_a, v_b))
        largest = max(largest, change)
    return largest


@kernel
def sweep_bodies(problem: Problem, v: NDArray, omega: float) -> float:
    """Sweep all rows once: boxes, contacts, dependent blocks; return the largest D |change|.

    Reads   problem.w, lo, hi of tangents   from blocks.write_steps
    Writes  problem.lam; v, which must be M^-1 J^T lam before
    Source  Catto 2005, "Iterative Dynamics with Temporal Coherence"; disk: Jean and Moreau 1992
    Check   tests/engine/solvers/sweeps/test_pgs.py
    """
    change = sweep_couplings(problem, v, omega)
    change = max(change, sweep_boxes(problem, v, first_dependent(problem), omega))
    if problem.friction_kind[0] == FRICTION_BOX:
        change = max(change, sweep_squares(problem, v, omega))
    else:
        change = max(change, sweep_cones(problem, v, omega))
    return max(change, sweep_dependent(problem, v, omega))
