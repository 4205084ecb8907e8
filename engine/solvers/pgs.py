"""Projected Gauss-Seidel without a matrix: the velocities of the bodies carry the coupling.

    w_i  = J_i v + cfm_i lam_i + b_i
    lam_i <- P(lam_i - (omega / D_i) w_i),    v += M^-1 J_i^T (change of lam_i)

Boxes first, then contacts: the normal, then both tangents at once on the disk mu lam_n (or one
after the other on the square), so that lam is admissible after every visit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.kernel import fast_kernel, kernel
from engine.solvers.gauss_seidel import block_diagonal
from engine.solvers.operator import body_velocities
from engine.solvers.projection import clamp, project_disk
from engine.world.problem import FRICTION_CONE
from engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Problem


@kernel
def _inverse(D: float) -> float:
    """1 / D, and 0 for a row that nothing can move."""
    return 1.0 / D if D > 0.0 else 0.0


@kernel
def write_steps(problem: Problem) -> None:
    """problem.w[i] = step of row i: 1 / D_i; for disks 1 over the larger eigenvalue of the pair.

    problem.w is free until residual.py writes it.
    """
    D, step = problem.diagonal, problem.w
    n_rows, n_box = problem.count[0], problem.count[1]
    for i in range(n_rows):
        step[i] = _inverse(D[i])
    if problem.friction_kind[0] == FRICTION_CONE:
        for i in range(n_box, n_rows, 3):
            c = 0.0
            for k in range(6):
                c += problem.J_a[i + 1, k] * problem.MJ_a[i + 2, k]
                c += problem.J_b[i + 1, k] * problem.MJ_b[i + 2, k]
            step[i + 1] = _inverse(block_diagonal(D[i + 1], D[i + 2], c))
            step[i + 2] = step[i + 1]


@kernel
def project_impulses(problem: Problem) -> None:
    """Move the guess problem.lam into its set."""
    lam, mu = problem.lam, problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    for i in range(n_box):
        lam[i] = clamp(lam[i], problem.lo[i], problem.hi[i])
    for i in range(n_box, n_rows, 3):
        lam[i] = max(lam[i], 0.0)
        limit1 = mu[i + 1] * lam[i]
        limit2 = mu[i + 2] * lam[i]
        if problem.friction_kind[0] == FRICTION_CONE:
            lam[i + 1], lam[i + 2] = project_disk(lam[i + 1], lam[i + 2], limit1)
        else:
            lam[i + 1] = clamp(lam[i + 1], -limit1, limit1)
            lam[i + 2] = clamp(lam[i + 2], -limit2, limit2)


@fast_kernel
def velocity(problem: Problem, v: NDArray, i: int, a: int, b: int) -> float:
    """w_i from the velocities of bodies a and b; sums in four strands."""
    J_a = problem.J_a[i]
    J_b = problem.J_b[i]
    v_a = v[a]
    v_b = v[b]
    s0 = J_a[0] * v_a[0] + J_a[1] * v_a[1] + J_a[2] * v_a[2]
    s1 = J_a[3] * v_a[3] + J_a[4] * v_a[4] + J_a[5] * v_a[5]
    s2 = J_b[0] * v_b[0] + J_b[1] * v_b[1] + J_b[2] * v_b[2]
    s3 = J_b[3] * v_b[3] + J_b[4] * v_b[4] + J_b[5] * v_b[5]
    return (s0 + s1) + (s2 + s3) + (problem.b[i] + problem.cfm[i] * problem.lam[i])


@fast_kernel
def push(problem: Problem, v: NDArray, i: int, change: float) -> None:
    """v += M^-1 J_i^T change for the two bodies of row i."""
    MJ_a = problem.MJ_a[i]
    MJ_b = problem.MJ_b[i]
    v_a = v[problem.body_a[i]]
    v_b = v[problem.body_b[i]]
    for k in range(6):
        v_a[k] += MJ_a[k] * change
    for k in range(6):
        v_b[k] += MJ_b[k] * change


@kernel
def _visit_box(problem: Problem, v: NDArray, i: int, lo: float, hi: float, omega: float) -> float:
    """One row with bounds; returns D_i |change of lam_i| / omega [m/s or rad/s]."""
    old = problem.lam[i]
    w = velocity(problem, v, i, problem.body_a[i], problem.body_b[i])
    x = old - omega * problem.w[i] * w
    x = lo if x < lo else x
    x = hi if x > hi else x
    problem.lam[i] = x
    push(problem, v, i, x - old)
    return abs(x - old) * problem.diagonal[i]


@kernel
def sweep_boxes(problem: Problem, v: NDArray, omega: float) -> float:
    """All box rows once; returns the largest D |change|."""
    largest = 0.0
    for i in range(problem.count[1]):
        change = _visit_box(problem, v, i, problem.lo[i], problem.hi[i], omega)
        largest = max(largest, change)
    return largest


@kernel
def sweep_cones(problem: Problem, v: NDArray, omega: float) -> float:
    """All contacts once, friction on the disk; returns the largest D |change|."""
    lam, step = problem.lam, problem.w
    largest = 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        a = problem.body_a[i]
        b = problem.body_b[i]
        old = lam[i]
        x = old - omega * step[i] * velocity(problem, v, i, a, b)
        x = 0.0 if x < 0.0 else x
        lam[i] = x
        push(problem, v, i, x - old)
        largest = max(largest, abs(x - old) * problem.diagonal[i])
        old1 = lam[i + 1]
        old2 = lam[i + 2]
        scale = omega * step[i + 1]
        y1 = old1 - scale * velocity(problem, v, i + 1, a, b)
        y2 = old2 - scale * velocity(problem, v, i + 2, a, b)
        y1, y2 = project_disk(y1, y2, problem.mu[i + 1] * x)
        lam[i + 1] = y1
        lam[i + 2] = y2
        push(problem, v, i + 1, y1 - old1)
        push(problem, v, i + 2, y2 - old2)
        change = max(abs(y1 - old1), abs(y2 - old2))
        largest = max(largest, change * max(problem.diagonal[i + 1], problem.diagonal[i + 2]))
    return largest


@kernel
def sweep_squares(problem: Problem, v: NDArray, omega: float) -> float:
    """All contacts once, friction on the square; returns the largest D |change|."""
    largest = 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        largest = max(largest, _visit_box(problem, v, i, 0.0, np.inf, omega))
        for k in range(i + 1, i + 3):
            limit = problem.mu[k] * problem.lam[i]
            largest = max(largest, _visit_box(problem, v, k, -limit, limit, omega))
    return largest


@kernel
def pgs(
    problem: Problem, v: NDArray, max_iterations: int, tolerance: float, relaxation: float
) -> tuple[int, int]:
    """Sweep until the largest D |change| of a sweep is at most `tolerance`; STOPPED_..., sweeps.

    Reads   problem.lam   guess
    Writes  problem.lam
            problem.w     scratch: the steps
            v (n_bodies + 1, 6)   scratch: M^-1 J^T lam
    Source  Catto 2005, "Iterative Dynamics with Temporal Coherence"; disk: Jean and Moreau
    Check   tests/engine/solvers/test_pgs.py
    """
    project_impulses(problem)
    write_steps(problem)
    body_velocities(problem, v)
    for k in range(max_iterations):
        change = sweep_boxes(problem, v, relaxation)
        if problem.friction_kind[0] == FRICTION_CONE:
            change = max(change, sweep_cones(problem, v, relaxation))
        else:
            change = max(change, sweep_squares(problem, v, relaxation))
        if change <= tolerance:
            return STOPPED_TOLERANCE, k + 1
    return STOPPED_MAX_ITERATIONS, max_iterations
