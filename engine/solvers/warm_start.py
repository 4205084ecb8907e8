"""Warm start: acceptance of the last step's impulses as the solution, for bodies at rest."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.residual import larger, residual
from cardan.engine.solvers.direct.elimination_order import count_equations
from cardan.engine.solvers.sweeps.blocks import project_impulses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem

# largest force imbalance, as a share of the tolerance, at which a guess is accepted
BALANCED = 1e-2


@kernel
def _is_rigid_with_friction(problem: Problem) -> bool:
    """Whether the bounds of some row depend on lam, and no other row has compliance."""
    friction, compliance = 0.0, 0.0
    for i in range(first_dependent(problem), problem.count[0]):
        friction = max(friction, problem.mu[i])
    for i in range(problem.count[0]):
        if problem.mu[i] == 0.0:
            compliance = max(compliance, problem.cfm[i])
    return bool(friction > 0.0 and compliance == 0.0)


@kernel
def _unbalanced(problem: Problem, v: NDArray, body: int) -> float:
    """Largest velocity change of a body by forces and impulses together [m/s or rad/s]."""
    worst = 0.0
    for k in range(6):
        given = problem.velocity_free[body, k] - problem.velocity_old[body, k]
        worst = larger(worst, abs(given + v[body, k]))
    return worst


@kernel
def imbalance(problem: Problem, v: NDArray) -> float:
    """Largest velocity change of any body by forces and impulses [m/s or rad/s].

        v_free - v_old + v,   v = M^-1 J^T lam

    Reads   v, of problem.lam
    """
    worst = 0.0
    last_a, last_b = -1, -1
    for i in range(problem.count[0]):
        a, b = problem.body_a[i], problem.body_b[i]
        if a != last_a or b != last_b:
            worst = larger(worst, larger(_unbalanced(problem, v, a), _unbalanced(problem, v, b)))
            last_a, last_b = a, b
    return worst


@kernel
def is_solution(problem: Problem, v: NDArray, tolerance: float) -> tuple[bool, float, float]:
    """Whether the guess solves a rigid problem with friction and without equations.

    Also returns its residual and Coulomb error [m/s]; inf where they were not measured, since the
    problem is another.

    The law must hold within the tolerance, and forces must balance much better, on bodies with
    constant velocities. An error of the impulses acts in every step and has to be corrected again:
    with the tolerance alone both would alternate for ever. An error of the velocities under
    balanced forces is corrected when it has moved bodies too far. Equations and springs are always
    solved to rounding and never accepted here (a small velocity of a compliant row is not a small
    force).

    Reads   problem.lam
    Writes  problem.lam, projected on its set; problem.w; v (n_bodies + 1, 6) scratch
    Check   tests/engine/solvers/test_warm_start.py
    """
    if count_equations(problem, 0) > 0 or not _is_rigid_with_friction(problem):
        return False, inf, inf
    project_impulses(problem)
    error, coulomb_error = residual(problem, v)
    balanced = error <= tolerance and imbalance(problem, v) <= BALANCED * tolerance
    return bool(balanced), error, coulomb_error
