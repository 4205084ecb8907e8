"""Gauss-Seidel on friction cones for the convex relaxation of Coulomb's law.

    x_c <- P_K(x_c - (omega / t_c) w_c),    t_c the trace of the contact's own block of A

The problem is that of solvers/gradient/apgd.py, given by a matrix; boxes as in csr.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.problem.projection import project_cone
from cardan.engine.solvers.gradient.apgd import METRIC, SHIFT, relaxed_error, write_metric
from cardan.engine.solvers.sweeps.csr import change_box, row_product
from cardan.engine.solvers.sweeps.steps import step_of
from cardan.engine.solvers.sweeps.system import multiply

if TYPE_CHECKING:
    from cardan.engine.solvers.sweeps.system import System


@fast_kernel
def sweep_relaxed(system: System, omega: float) -> float:
    """Sweep all rows once; return the largest D |change|.

    Source  Tasora and Anitescu 2011, "A matrix-free cone complementarity approach for solving
            large-scale, nonsmooth, rigid body dynamics"
    Check   tests/engine/complementarity/test_classes.py
    """
    problem, matrix = system.problem, system.matrix
    lam, b, D, mu = problem.lam, problem.b, problem.diagonal, problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    largest = 0.0
    for i in range(n_box):
        largest = max(largest, change_box(problem, matrix, i, omega * step_of(D[i])))
    for i in range(n_box, n_rows, 3):
        trace = D[i] + D[i + 1] + D[i + 2]
        step = omega * step_of(trace)
        old0, old1, old2 = lam[i], lam[i + 1], lam[i + 2]
        s0 = old0 - step * (b[i] + row_product(matrix, lam, i))
        s1 = old1 - step * (b[i + 1] + row_product(matrix, lam, i + 1))
        s2 = old2 - step * (b[i + 2] + row_product(matrix, lam, i + 2))
        lam[i], lam[i + 1], lam[i + 2] = project_cone(s0, s1, s2, mu[i + 1])
        change = max(abs(lam[i] - old0), abs(lam[i + 1] - old1), abs(lam[i + 2] - old2))
        largest = max(largest, change * trace)
    return largest


@kernel
def start_relaxed(system: System) -> None:
    """Write the metric of the relaxed error, without De Saxce's shift."""
    write_metric(system.problem, system.x[METRIC])
    for i in range(system.problem.count[0]):
        system.x[SHIFT][i] = 0.0


@kernel
def measure_relaxed(system: System) -> float:
    """Error of the relaxation at the current impulses [m/s or rad/s]; problem.w is scratch."""
    multiply(system, system.problem.lam, system.problem.w)
    return relaxed_error(system)
