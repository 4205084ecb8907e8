"""Projected Jacobi: all rows use the velocities from before the sweep.

    lam_i <- P(lam_i - omega s_i w_i),    w = A lam + b

The classic step s_i = 1 / A_ii need not converge where rows share bodies. The safe step is the
inverse of a diagonal upper bound of A: sum_j |A_ij| with a matrix (Gershgorin); with bodies the
diagonal of the row after each body's mass is split among the rows on it (Tonge et al. 2012).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.problem.residual import largest_errors
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.steps import step_of
from cardan.engine.solvers.sweeps.system import (
    MEASURED,
    has_matrix,
    make_admissible,
    multiply,
    note,
)
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.sweeps.system import System
    from cardan.engine.world.problem import Problem


@kernel
def _split_diagonals(system: System, bound: NDArray) -> None:
    """bound_i = J_i (split M)^-1 J_i^T + cfm_i; system.v[:, 0] counts the rows on each body."""
    problem, v = system.problem, system.v
    n = problem.count[0]
    for i in range(n):
        v[problem.body_a[i], 0] = 0.0
        v[problem.body_b[i], 0] = 0.0
    for i in range(n):
        v[problem.body_a[i], 0] += 1.0
        v[problem.body_b[i], 0] += 1.0
    for i in range(n):
        a, b = 0.0, 0.0
        for k in range(6):
            a += problem.J_a[i, k] * problem.MJ_a[i, k]
            b += problem.J_b[i, k] * problem.MJ_b[i, k]
        bound[i] = v[problem.body_a[i], 0] * a + v[problem.body_b[i], 0] * b + problem.cfm[i]
    add_up(problem, bound)


@kernel
def write_upper_bounds(system: System, bound: NDArray) -> None:
    """Write a diagonal upper bound of symmetric A: x A x <= sum bound_i x_i^2, bound_i >= 0.

    Writes  bound (>= n_rows,); system.v is scratch
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    if not has_matrix(system):
        _split_diagonals(system, bound)
        return
    start, value = system.matrix.start, system.matrix.value
    for i in range(system.problem.count[0]):
        bound[i] = 0.0
        for k in range(start[i], start[i + 1]):
            bound[i] += abs(value[k])


@kernel
def _write_steps(system: System, safe: int, step: NDArray) -> None:
    """Write the step of each row; both tangents of a pair have the same."""
    problem = system.problem
    n_rows = problem.count[0]
    for i in range(n_rows):
        step[i] = problem.diagonal[i]
    if safe == 1:
        write_upper_bounds(system, step)
    if problem.friction_kind[0] != FRICTION_BOX:
        for i in range(first_dependent(problem), n_rows, 3):
            step[i + 1] = max(step[i + 1], step[i + 2])
            step[i + 2] = step[i + 1]
    for i in range(n_rows):
        step[i] = step_of(step[i])


@kernel
def _project_pair(problem: Problem, i: int, lam_n: float) -> None:
    """Project rows i, i + 1 on the friction set of mu lam_n."""
    kind = problem.friction_kind
    lam, radius = problem.lam, problem.mu[i] * lam_n
    lam[i], lam[i + 1] = project_pair(lam[i], lam[i + 1], radius, kind[0], kind[1])


@kernel
def step_against_velocities(problem: Problem, w: NDArray, omega: float, step: NDArray) -> None:
    """lam <- P(lam - omega step w), friction bounded by the new normal impulses."""
    lam, mu = problem.lam, problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    first = first_dependent(problem)
    for i in range(n_rows):
        lam[i] -= omega * step[i] * w[i]
    for i in range(first):
        lam[i] = clamp(lam[i], problem.lo[i], problem.hi[i])
    for i in range(n_box, n_rows, 3):
        lam[i] = max(lam[i], 0.0)
        _project_pair(problem, i + 1, lam[i])
    for i in range(first, n_box, 3):
        lam_n = lam[problem.normal_row[i]]
        lam[i] = clamp(lam[i], -mu[i] * lam_n, mu[i] * lam_n)
        _project_pair(problem, i + 1, lam_n)


@kernel
def jacobi(system: System, rules: StoppingRules, relaxation: float, safe: int) -> tuple[int, int]:
    """Iterate until the residual is small enough; return STOPPED_..., iterations.

    Reads   problem.lam   guess;   safe   1: steps that converge for symmetric A >= 0
    Writes  problem.lam, system.history
    Source  Saad 2003, 4.1, with projection
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem, step, w = system.problem, system.x[0], system.x[MEASURED]
    make_admissible(system)
    _write_steps(system, safe, step)
    for k in range(rules.max_iterations + 1):
        multiply(system, problem.lam, w)
        for i in range(problem.count[0]):
            w[i] += problem.b[i]
        error = largest_errors(problem, w)[0]
        if k > 0:
            note(system, k - 1, error)
        status = rule_that_applies(rules, error, inf)
        if status != GOES_ON:
            return status, k
        if k < rules.max_iterations:
            step_against_velocities(problem, w, relaxation, step)
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
