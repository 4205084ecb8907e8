"""Interface of the iterations to a problem: product with A, sweep, projection, residual.

A is defined by bodies and rows (world.problem.Problem, in a simulation) or given by its non-zeros
(matrix.py, in public functions); the iterations do not depend on which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.coupled import add_up, repeat
from cardan.engine.problem.operator import (
    body_velocities,
    first_dependent,
    impulse_velocities,
    relative_velocity,
)
from cardan.engine.problem.residual import largest_errors
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.solvers.sweeps.blocks import project_impulses, write_steps
from cardan.engine.solvers.sweeps.matrix import (
    Matrix,
    MatrixProblem,
    row_product,
    sweep_matrix,
    write_pair_diagonals,
)
from cardan.engine.solvers.sweeps.pgs import sweep_bodies
from cardan.engine.world.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray


# scratch vectors of a System; build/allocate.py allocates as many
N_VECTORS = 8
# the last of them holds A lam + b while the residual is measured
MEASURED = N_VECTORS - 1


@struct
class System(NamedTuple):
    """A problem, its A, and scratch."""

    problem: Problem
    matrix: Matrix
    v: NDArray  # (n_bodies + 1, 6) rad/s, m/s   velocities of bodies; (0, 6) with a matrix
    x: NDArray  # (N_VECTORS, >= n_rows)         scratch of any unit
    history: NDArray  # (k,) m/s or rad/s        out: residual of the first k iterations; k may be 0


@kernel
def has_matrix(system: System) -> bool:
    """Whether A is given by its non-zeros."""
    return bool(system.matrix.start.shape[0] > 1)


@kernel
def law_of(system: System) -> DenseProblem:
    """The law of a system whose A is given by its non-zeros; its own A is empty."""
    p = system.problem
    kind, directions = p.friction_kind[0], p.friction_kind[1]
    sizes = (p.count[0], p.count[1], kind, directions, first_dependent(p))
    return DenseProblem(
        system.v, p.b, p.lo, p.hi, p.mu, p.diagonal, p.lam, p.w, *sizes, p.normal_row
    )


@kernel
def multiply(system: System, x: NDArray, y: NDArray) -> None:
    """y = A x; of a coupling x of its first row counts, and y is there.

    Writes  y (>= n_rows,); x of further rows of couplings; system.v is scratch
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem = system.problem
    n = problem.count[0]
    if has_matrix(system):
        for i in range(n):
            y[i] = row_product(system.matrix, x, i)
        return
    repeat(problem, x)
    impulse_velocities(problem, x, system.v)
    for i in range(n):
        y[i] = relative_velocity(problem, system.v, i) + problem.cfm[i] * x[i]
    add_up(problem, y)


@kernel
def start_sweeps(system: System) -> None:
    """Write the steps of sweeps and the velocities by the current impulses.

    Writes  problem.w, problem.lo and hi of tangents, system.v   as in blocks.py and matrix.py
    """
    if has_matrix(system):
        write_pair_diagonals(MatrixProblem(law_of(system), system.matrix))
    else:
        write_steps(system.problem)
        body_velocities(system.problem, system.v)


@kernel
def refresh(system: System) -> None:
    """Recompute the velocities that sweeps use, after lam was changed otherwise."""
    if not has_matrix(system):
        body_velocities(system.problem, system.v)


@kernel
def sweep(system: System, omega: float) -> float:
    """One Gauss-Seidel sweep of all rows; return the largest D |change| [m/s or rad/s]."""
    if has_matrix(system):
        return sweep_matrix(MatrixProblem(law_of(system), system.matrix), omega)
    return sweep_bodies(system.problem, system.v, omega)


@kernel
def measure(system: System) -> float:
    """Largest natural map of the current impulses [m/s or rad/s]; keeps steps and velocities.

    With bodies, system.v is recomputed as by `refresh`.

    Writes  system.x[MEASURED]   w = A lam + b
    """
    w = system.x[MEASURED]
    multiply(system, system.problem.lam, w)
    for i in range(system.problem.count[0]):
        w[i] += system.problem.b[i]
    return largest_errors(system.problem, w)[0]


@kernel
def note(system: System, k: int, error: float) -> None:
    """Record the residual after iteration k = 0, 1, ..., if the history has room."""
    if k < system.history.shape[0]:
        system.history[k] = error


@kernel
def wants_history(system: System, k: int) -> bool:
    """Whether the history has room for the residual after iteration k."""
    return bool(k < system.history.shape[0])


@kernel
def make_admissible(system: System) -> None:
    """Project lam on its set; replace values that are not finite by 0."""
    problem = system.problem
    for i in range(problem.count[0]):
        if not np.isfinite(problem.lam[i]):
            problem.lam[i] = 0.0
    project_impulses(problem)
