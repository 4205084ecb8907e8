"""Gauss-Seidel sweeps where A is given: as a full matrix, or by its non-zeros.

    w_i = A_i lam + b_i,    lam_i <- P(lam_i - (omega / D_i) w_i)

Boxes first, then contacts: the normal, then both tangents together on the disk or polygon of
mu lam_n, or one after the other on the square; then dependent rows. With lo = -inf, hi = inf
everywhere it is the classic iteration for A lam = -b.

For the convex relaxation of Coulomb's law the three rows of a contact move together, on its cone:

    x_c <- P_K(x_c - (omega / t_c) w_c),    t_c the trace of the contact's own block of A
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import clamp, project_cone, project_pair
from cardan.engine.solvers.direct.cholesky import dot
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    write_velocities,
)
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.steps import block_diagonal, step_of
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@struct
class Matrix(NamedTuple):
    """A in compressed sparse rows; if empty (start has at most one entry), A is given otherwise."""

    start: NDArray  # (n + 1,) int64   of each row in column and value
    column: NDArray  # (nnz,) int64
    value: NDArray  # (nnz,)


@struct
class MatrixProblem(NamedTuple):
    """A problem whose A is given in one of two forms."""

    law: DenseProblem  # its A is empty where the non-zeros are given
    sparse: Matrix


@kernel
def is_sparse(problem: MatrixProblem) -> bool:
    """Whether A is given by its non-zeros."""
    return bool(problem.sparse.start.shape[0] > 1)


@fast_kernel
def row_product(matrix: Matrix, x: NDArray, i: int) -> float:
    """A_i x."""
    column, value = matrix.column, matrix.value
    total = 0.0
    for k in range(matrix.start[i], matrix.start[i + 1]):
        total += value[k] * x[column[k]]
    return total


@kernel
def entry(problem: MatrixProblem, i: int, j: int) -> float:
    """A_ij."""
    matrix = problem.sparse
    if not is_sparse(problem):
        return problem.law.A[i, j]
    total = 0.0
    for k in range(matrix.start[i], matrix.start[i + 1]):
        if matrix.column[k] == j:
            total += matrix.value[k]
    return total


@kernel
def velocity(problem: MatrixProblem, i: int) -> float:
    """w_i at the current impulses."""
    law = problem.law
    if is_sparse(problem):
        return law.b[i] + row_product(problem.sparse, law.lam, i)
    return law.b[i] + dot(law.A[i], law.lam, law.n)


@kernel
def diagonal(problem: MatrixProblem, i: int) -> float:
    """A_ii."""
    return problem.law.scale[i] if is_sparse(problem) else problem.law.A[i, i]


@kernel
def write_pair_diagonals(problem: MatrixProblem) -> None:
    """Write an upper bound of the block of each pair of tangents, or of rolling friction.

    Writes  lo of the first row of each pair; contacts and dependent blocks have one
    """
    law = problem.law
    for i in range(law.first_dependent + 1, law.n, 3):
        # mean of both couplings, for unsymmetric A
        c = 0.5 * (entry(problem, i, i + 1) + entry(problem, i + 1, i))
        law.lo[i] = block_diagonal(diagonal(problem, i), diagonal(problem, i + 1), c)


@kernel
def _step(problem: MatrixProblem, i: int, omega: float, bounds: tuple[float, float]) -> float:
    """Update row i within its bounds; return D |change|."""
    law, D = problem.law, diagonal(problem, i)
    if not D > 0.0:
        return 0.0
    old = law.lam[i]
    law.lam[i] = clamp(old - omega * velocity(problem, i) / D, bounds[0], bounds[1])
    return abs(law.lam[i] - old) * law.scale[i]


@kernel
def _pair_step(problem: MatrixProblem, i: int, omega: float, radius: float) -> float:
    """Update rows i, i + 1 together within a radius; return D |change|."""
    law, lam = problem.law, problem.law.lam
    D = law.lo[i]
    if not D > 0.0:
        return 0.0
    w1, w2 = velocity(problem, i), velocity(problem, i + 1)
    old1, old2, step = lam[i], lam[i + 1], omega / D
    lam[i], lam[i + 1] = project_pair(
        old1 - step * w1, old2 - step * w2, radius, law.friction_kind, law.directions
    )
    change = max(abs(lam[i] - old1), abs(lam[i + 1] - old2))
    return change * max(law.scale[i], law.scale[i + 1])


@kernel
def _within(problem: MatrixProblem, i: int, omega: float, lam_n: float) -> float:
    """Update row i within mu lam_n; return D |change|."""
    limit = problem.law.mu[i] * lam_n
    return _step(problem, i, omega, (-limit, limit))


@kernel
def _sweep_pair(problem: MatrixProblem, i: int, omega: float, lam_n: float) -> float:
    """Update rows i, i + 1 within mu lam_n: together, or in a square one after the other."""
    if problem.law.friction_kind != FRICTION_BOX:
        return _pair_step(problem, i, omega, problem.law.mu[i] * lam_n)
    change = _within(problem, i, omega, lam_n)
    return max(change, _within(problem, i + 1, omega, lam_n))


@kernel
def _sweep_boxes(problem: MatrixProblem, omega: float) -> float:
    """Sweep all box rows that are not dependent; return the largest D |change|."""
    law, largest = problem.law, 0.0
    for i in range(law.first_dependent):
        largest = max(largest, _step(problem, i, omega, (law.lo[i], law.hi[i])))
    return largest


@kernel
def sweep_matrix(problem: MatrixProblem, omega: float) -> float:
    """Sweep all rows once, in order; return the largest D |change| [m/s or rad/s].

    Reads   problem.law.lo of pairs   from write_pair_diagonals
    Writes  problem.law.lam
    """
    law = problem.law
    largest = _sweep_boxes(problem, omega)
    for i in range(law.n_box, law.n, 3):
        largest = max(largest, _step(problem, i, omega, (0.0, inf)))
        largest = max(largest, _sweep_pair(problem, i + 1, omega, law.lam[i]))
    for i in range(law.first_dependent, law.n_box, 3):
        lam_n = law.lam[law.normal[i]]
        largest = max(largest, _within(problem, i, omega, lam_n))
        largest = max(largest, _sweep_pair(problem, i + 1, omega, lam_n))
    return largest


@kernel
def sweep_relaxed(problem: MatrixProblem, omega: float) -> float:
    """Sweep as sweep_matrix, for the convex relaxation of Coulomb's law, without dependent rows.

    Source  Tasora and Anitescu 2011, "A matrix-free cone complementarity approach for solving
            large-scale, nonsmooth, rigid body dynamics"
    Check   tests/engine/complementarity/test_classes.py
    """
    law, lam, D = problem.law, problem.law.lam, problem.law.scale
    largest = _sweep_boxes(problem, omega)
    for i in range(law.n_box, law.n, 3):
        trace = D[i] + D[i + 1] + D[i + 2]
        step = omega * step_of(trace)
        old0, old1, old2 = lam[i], lam[i + 1], lam[i + 2]
        s0 = old0 - step * velocity(problem, i)
        s1 = old1 - step * velocity(problem, i + 1)
        s2 = old2 - step * velocity(problem, i + 2)
        lam[i], lam[i + 1], lam[i + 2] = project_cone(s0, s1, s2, law.mu[i + 1])
        change = max(abs(lam[i] - old0), abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
        largest = max(largest, change * trace)
    return largest


@kernel
def _rule(dp: DenseProblem, change: float, rules: StoppingRules) -> int:
    """The rule that applies; the residual is measured where there is a rule for it."""
    if rules.residual < 0.0:
        return rule_that_applies(rules, inf, change)
    write_velocities(dp)
    return rule_that_applies(rules, dense_residual(dp), change)


@kernel
def sweep_dense(dp: DenseProblem, omega: float, rules: StoppingRules) -> tuple[int, int]:
    """Iterate Gauss-Seidel (omega = 1) or SOR until a rule applies; STOPPED_..., sweeps.

    The guess in dp.lam must lie in its set (project_guess).

    Writes  dp.lam; dp.w, and dp.lo of tangents and dependent rows, are scratch
    Source  Saad 2003, 4.1, with projection
    Check   tests/engine/solvers/sweeps/test_gauss_seidel.py
    """
    none = dp.normal[:0]
    problem = MatrixProblem(dp, Matrix(none, none, dp.lam[:0]))
    write_pair_diagonals(problem)
    for k in range(rules.max_iterations):
        status = _rule(dp, sweep_matrix(problem, omega), rules)
        if status != GOES_ON:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
