"""Gauss-Seidel on friction cones for the convex relaxation of Coulomb's law.

    x_c <- P_K(x_c - (omega / t_c) w_c),    t_c the trace of the contact's own block of A

The problem is that of solvers/gradient/apgd.py, given by a matrix; boxes as in csr.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.problem.projection import clamp, project_cone
from cardan.engine.solvers.gradient.apgd import METRIC, SHIFT, relaxed_error, write_metric
from cardan.engine.solvers.sweeps.csr import row_product
from cardan.engine.solvers.sweeps.system import make_admissible, multiply, note, wants_history
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from cardan.engine.solvers.sweeps.system import System


@fast_kernel
def sweep_relaxed(system: System, omega: float) -> float:
    """Sweep all rows once; return the largest D |change|."""
    problem, matrix = system.problem, system.matrix
    lam, b, D, mu = problem.lam, problem.b, problem.diagonal, problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    largest = 0.0
    for i in range(n_box):
        old = lam[i]
        step = omega / D[i] if D[i] > 0.0 else 0.0
        w = b[i] + row_product(matrix, lam, i)
        lam[i] = clamp(old - step * w, problem.lo[i], problem.hi[i])
        largest = max(largest, abs(lam[i] - old) * D[i])
    for i in range(n_box, n_rows, 3):
        trace = D[i] + D[i + 1] + D[i + 2]
        step = omega / trace if trace > 0.0 else 0.0
        old0, old1, old2 = lam[i], lam[i + 1], lam[i + 2]
        s0 = old0 - step * (b[i] + row_product(matrix, lam, i))
        s1 = old1 - step * (b[i + 1] + row_product(matrix, lam, i + 1))
        s2 = old2 - step * (b[i + 2] + row_product(matrix, lam, i + 2))
        lam[i], lam[i + 1], lam[i + 2] = project_cone(s0, s1, s2, mu[i + 1])
        change = max(abs(lam[i] - old0), abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
        largest = max(largest, change * trace)
    return largest


@kernel
def relaxed_sweeps(
    system: System, max_iterations: int, tolerance: float, omega: float
) -> tuple[int, int]:
    """Sweep until the relaxed error is at most `tolerance`; return STOPPED_..., sweeps.

    Writes  problem.lam, system.history; problem.w, system.x are scratch
    Source  Tasora and Anitescu 2011, "A matrix-free cone complementarity approach for solving
            large-scale, nonsmooth, rigid body dynamics"
    Check   tests/engine/complementarity/test_classes.py
    """
    problem = system.problem
    make_admissible(system)
    write_metric(problem, system.x[METRIC])
    for i in range(problem.count[0]):
        system.x[SHIFT][i] = 0.0
    for k in range(max_iterations):
        change = sweep_relaxed(system, omega)
        if change <= tolerance or wants_history(system, k):
            multiply(system, problem.lam, problem.w)
            error = relaxed_error(system)
            note(system, k, error)
            if error <= tolerance:
                return STOPPED_TOLERANCE, k + 1
    return STOPPED_MAX_ITERATIONS, max_iterations
