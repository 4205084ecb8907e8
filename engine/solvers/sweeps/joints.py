"""Sweeps of box rows in which the equations of a joint are solved together.

One after the other, each equation waits for the velocities that the one before it left. Together,

    d = -K^-1 w,    K_ij = J_i M^-1 J_j^T + cfm_i (i = j),    w_i = J_i v + cfm_i lam_i + b_i

they all read the same velocities, and a joint is exact after its turn. Other box rows are swept one
after the other, as in `pgs.sweep_boxes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.direct.elimination_order import is_in_graph
from cardan.engine.solvers.sweeps.blocks import entry_of_pair
from cardan.engine.solvers.sweeps.pgs import (
    Six,
    along,
    load_six,
    pushed,
    relax_box,
    store_six,
)
from cardan.engine.world.equations import NODE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# a pivot below this share of A_ii: the equations of a joint depend on each other
DEPENDENT = 1e-9


@kernel
def _belongs(problem: Problem, first: int, i: int) -> bool:
    """Whether row i is an equation of the joint of row `first`."""
    if i >= problem.count[1] or not is_in_graph(problem, i):
        return False
    if problem.joint[i] != problem.joint[first]:
        return False
    same = problem.body_a[i] == problem.body_a[first]
    return bool(same and problem.body_b[i] == problem.body_b[first])


@kernel
def _invert(problem: Problem, first: int, n: int, lanes: Lanes) -> bool:
    """Write K^-1 of n rows to lanes.inverse; False where they depend on each other.

    Source  derived: Gauss-Jordan elimination; a positive definite matrix needs no pivoting
    """
    A = lanes.inverse[first : first + n]
    for r in range(n):
        for c in range(n):
            A[r, c] = entry_of_pair(problem, first + r, first + c)
        A[r, r] += problem.cfm[first + r]
    for p in range(n):
        if not A[p, p] > DEPENDENT * problem.diagonal[first + p]:
            return False
        inverse = 1.0 / A[p, p]
        A[p, p] = 1.0
        for c in range(n):
            A[p, c] *= inverse
        for r in range(n):
            if r != p:
                f = A[r, p]
                A[r, p] = 0.0
                for c in range(n):
                    A[r, c] -= f * A[p, c]
    return True


@kernel
def write_joints(problem: Problem, lanes: Lanes) -> None:
    """Find the joints among the box rows that are swept, and K^-1 of each.

    Writes  lanes.together, inverse
    """
    i, n_boxes = 0, lanes.count[2]
    while i < n_boxes:
        n = 1
        if problem.joint[i] >= 0 and is_in_graph(problem, i):
            while n < NODE_ROWS and i + n < n_boxes and _belongs(problem, i, i + n):
                n += 1
        if n > 1 and not _invert(problem, i, n, lanes):
            n = 1
        lanes.together[i] = n
        i += n


@fast_kernel
def _solve_joint(
    problem: Problem, lanes: Lanes, i: int, v_a: Six, v_b: Six
) -> tuple[Six, Six, float]:
    """Solve the joint with first row i; velocities of its bodies, and the largest D |change|."""
    lam, w, n = problem.lam, lanes.joint_w, lanes.together[i]
    for r in range(n):
        k = i + r
        speed = along(problem.J_a, k, v_a) + along(problem.J_b, k, v_b)
        w[r] = speed + (problem.b[k] + problem.cfm[k] * lam[k])
    largest = 0.0
    for r in range(n):
        k, row, d = i + r, lanes.inverse[i + r], 0.0
        for c in range(n):
            d -= row[c] * w[c]
        lam[k] += d
        v_a = pushed(v_a, problem.MJ_a, k, d)
        v_b = pushed(v_b, problem.MJ_b, k, d)
        largest = max(largest, abs(d) * problem.diagonal[k])
    return v_a, v_b, largest


@fast_kernel
def sweep_joints(problem: Problem, lanes: Lanes, v: NDArray) -> float:
    """Sweep the box rows in lanes; return the largest D |change| [m/s or rad/s].

    Reads   problem.w: steps of single rows; lanes.together, inverse
    Writes  problem.lam; v, which must be M^-1 J^T lam before; lanes.joint_w
    Check   tests/engine/solvers/sweeps/test_joints.py
    """
    body_a, body_b = problem.body_a, problem.body_b
    largest, n_boxes = 0.0, lanes.count[2]
    i = 0
    while i < n_boxes:
        a, b = body_a[i], body_b[i]
        v_a, v_b = load_six(v, a), load_six(v, b)
        while i < n_boxes and body_a[i] == a and body_b[i] == b:
            n = lanes.together[i]
            if n > 1:
                v_a, v_b, change = _solve_joint(problem, lanes, i, v_a, v_b)
            else:
                v_a, v_b, change = relax_box(problem, i, 1.0, v_a, v_b)
            largest = max(largest, change)
            i += n
        store_six(v, a, v_a)
        store_six(v, b, v_b)
    return largest
