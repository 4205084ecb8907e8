"""What stands pushes as it did in the last step: a guess that is an answer already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.residual import larger, residual
from cardan.engine.solvers.direct.elimination_order import count_equations
from cardan.engine.solvers.sweeps.pgs import project_impulses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem

# share of the tolerance that forces may be out of balance where a guess is taken for an answer
BALANCED = 1e-2


@kernel
def _is_rigid_with_friction(problem: Problem) -> bool:
    """Whether the bounds of some row depend on the answer, and no row gives way."""
    friction, compliance = 0.0, 0.0
    for i in range(first_dependent(problem), problem.count[0]):
        friction = max(friction, problem.mu[i])
    for i in range(problem.count[0]):
        compliance = max(compliance, problem.cfm[i])
    return bool(friction > 0.0 and compliance == 0.0)


@kernel
def _gained(problem: Problem, v: NDArray, body: int) -> float:
    """Largest part of what forces and impulses together give a body [m/s or rad/s]."""
    worst = 0.0
    for k in range(6):
        given = problem.velocity_free[body, k] - problem.velocity_old[body, k]
        worst = larger(worst, abs(given + v[body, k]))
    return worst


@kernel
def imbalance(problem: Problem, v: NDArray) -> float:
    """Largest change of a velocity that forces and impulses together make [m/s or rad/s].

        v_free - v_old + v,   v = M^-1 J^T lam

    Reads   v, of problem.lam
    """
    worst = 0.0
    last_a, last_b = -1, -1
    for i in range(problem.count[0]):
        a, b = problem.body_a[i], problem.body_b[i]
        if a != last_a or b != last_b:
            worst = larger(worst, larger(_gained(problem, v, a), _gained(problem, v, b)))
            last_a, last_b = a, b
    return worst


@kernel
def is_solution(problem: Problem, v: NDArray, tolerance: float) -> tuple[bool, float, float]:
    """Whether the guess is an answer to a rigid problem with friction and without equations.

    Returns that, and if so its residual and Coulomb error [m/s].

    The law must hold within the tolerance, and forces must balance much better, on bodies that keep
    their velocities. An error of the impulses acts anew in every step, and what it moved has to be
    stopped again: within the tolerance alone the two would take turns for ever. An error of
    velocities that balanced forces leave alone is solved for when it has moved bodies too far.
    Equations and springs are solved to rounding, whatever the tolerance: they never get away with a
    guess (a small velocity of what gives way is no small force).

    Reads   problem.lam
    Writes  problem.lam, moved into its set; problem.w; v (n_bodies + 1, 6) scratch
    Check   tests/engine/solvers/test_warm_start.py
    """
    if count_equations(problem) > 0 or not _is_rigid_with_friction(problem):
        return False, 0.0, 0.0
    project_impulses(problem)
    error, coulomb_error = residual(problem, v)
    if not error <= tolerance:
        return False, 0.0, 0.0
    return bool(imbalance(problem, v) <= BALANCED * tolerance), error, coulomb_error
