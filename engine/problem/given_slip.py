"""Friction whose slip no impulse changes, because joints, motors and kinematic bodies give it.

Coulomb's law gives it the impulse -mu lam_n w/|w|. Such a row yields a little,

    w = J v + b + c lam,    c = slip / (mu lam_n)

so that it is at its limit from a small slip on, and rounding, or what a step makes of a turn, has
an impulse of a small share of that (decision 1230).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent
from cardan.engine.trees.paths import free_response

if TYPE_CHECKING:
    from cardan.engine.world.problem import Problem

# [m/s or rad/s] slip from which friction is at its limit, where a step makes none of a turn
LEAST_SLIP = 1e-5
# share of a load that each of several corners takes if nothing tells
CORNERS = 0.25
# most compliance, as a multiple of what the body would have if it were free
MOST_YIELD = 100.0


@kernel
def load_of_normal(lam: float, b: float, diagonal: float) -> float:
    """Normal impulse [N s] of the last step, or what would stop the approach b."""
    if lam > 0.0:
        return lam
    return CORNERS * max(-b, 0.0) / diagonal if diagonal > 0.0 else 0.0


@kernel
def yield_of(slip: float, limit: float, size: float) -> float:
    """Compliance with which friction of a limit [N s or N m s] reaches it at a slip.

    size: compliance of the body if it were free
    """
    slip, most = max(slip, LEAST_SLIP), MOST_YIELD * size
    return slip / limit if slip < most * limit else most


@kernel
def yield_friction(problem: Problem) -> None:
    """Rows of friction on trees that move no rate yield.

    Writes  problem.cfm, diagonal
    Check   tests/laws/test_given_slip.py
    """
    for i in range(first_dependent(problem), problem.count[0]):
        if problem.mu[i] > 0.0 and problem.diagonal[i] == 0.0:
            n = problem.normal_row[i]
            load = load_of_normal(problem.lam[n], problem.b[n], problem.diagonal[n])
            slip, limit = problem.error[i], problem.mu[i] * load
            problem.cfm[i] = yield_of(slip, limit, free_response(problem, i))
            problem.diagonal[i] = problem.cfm[i]
