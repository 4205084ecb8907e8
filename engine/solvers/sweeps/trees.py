"""Projected Gauss-Seidel on kinematic trees, for problems too large for a dense method.

The sweeps are those of pgs.py, but an impulse on a body of a tree moves all bodies of that tree:
every change of an impulse costs one traversal of its trees.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import (
    body_velocities,
    first_dependent,
    row_velocity,
)
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.pgs import (
    end_of_coupling,
    impulse_of_coupling,
    project_impulses,
)
from cardan.engine.solvers.sweeps.steps import step_of
from cardan.engine.trees.operator import answer, push_node, touch, tree_of
from cardan.engine.trees.spatial_arrays import add_to6, load6
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem


@kernel
def add_response(problem: Problem, v: NDArray, body: int) -> None:
    """Add the response of a body's tree to the velocities of all its bodies, once."""
    tree, work = problem.mobility.tree, problem.mobility.work
    t = tree_of(tree, body)
    if t < 0 or work.touched[t] == 0:
        return
    answer(tree, work, body, work.qdd)
    for i in range(tree.start[t], tree.start[t + 1]):
        if tree.body[i] >= 0:
            add_to6(v, tree.body[i], load6(work.A, i))


@kernel
def change_impulse(problem: Problem, v: NDArray, i: int, lam: float) -> float:
    """Set the impulse of row i and update velocities; return D |change| [m/s or rad/s]."""
    tree, work = problem.mobility.tree, problem.mobility.work
    change = lam - problem.lam[i]
    if change == 0.0:
        return 0.0
    problem.lam[i] = lam
    a, b = problem.body_a[i], problem.body_b[i]
    for k in range(6):
        v[a, k] += problem.MJ_a[i, k] * change
        v[b, k] += problem.MJ_b[i, k] * change
    if touch(tree, work, a):
        push_node(tree, work, a, problem.J_a, i, change)
    if touch(tree, work, b):
        push_node(tree, work, b, problem.J_b, i, change)
    add_response(problem, v, a)
    add_response(problem, v, b)
    return abs(change) * problem.diagonal[i]


@kernel
def unconstrained_impulse(problem: Problem, v: NDArray, i: int, D: float) -> float:
    """Impulse of row i that gives w_i = 0 with all other impulses fixed."""
    return problem.lam[i] - row_velocity(problem, v, i) / D if D > 0.0 else problem.lam[i]


@kernel
def sweep_pair(problem: Problem, v: NDArray, i: int, lam_n: float) -> float:
    """Update rows i and i + 1 together within mu lam_n."""
    # a safe step for any coupling of the two
    D = problem.diagonal[i] + problem.diagonal[i + 1]
    y1, y2 = unconstrained_impulse(problem, v, i, D), unconstrained_impulse(problem, v, i + 1, D)
    kind = problem.friction_kind
    y1, y2 = project_pair(y1, y2, problem.mu[i] * lam_n, kind[0], kind[1])
    change = change_impulse(problem, v, i, y1)
    return max(change, change_impulse(problem, v, i + 1, y2))


@kernel
def sweep_tree_couplings(problem: Problem, v: NDArray) -> float:
    """As sweep_couplings; return the largest D |change| [m/s or rad/s]."""
    largest, first = 0.0, 0
    while first < problem.count[2]:
        end = end_of_coupling(problem, first)
        # n rows have at most the diagonal n sum of D_i when they are added up
        D = 0.0
        for i in range(first, end):
            D += (end - first) * problem.diagonal[i]
        x = impulse_of_coupling(problem, v, first, step_of(D))
        for i in range(first, end):
            largest = max(largest, change_impulse(problem, v, i, x))
        first = end
    return largest


@kernel
def tree_sweeps(problem: Problem, v: NDArray, rules: StoppingRules) -> tuple[int, int]:
    """Sweep until the largest D |change| stalls; return STOPPED_..., sweeps.

    Reads   problem.lam   guess
    Writes  problem.lam; v (n_bodies + 1, 6) scratch
    Check   tests/engine/solvers/direct/test_tree_elimination.py
    """
    project_impulses(problem)
    body_velocities(problem, v)
    n_rows, n_box, first = problem.count[0], problem.count[1], first_dependent(problem)
    for sweep in range(rules.max_iterations):
        largest = sweep_tree_couplings(problem, v)
        for i in range(problem.count[2], first):
            x = clamp(
                unconstrained_impulse(problem, v, i, problem.diagonal[i]),
                problem.lo[i],
                problem.hi[i],
            )
            largest = max(largest, change_impulse(problem, v, i, x))
        for i in range(n_box, n_rows, 3):
            x = max(unconstrained_impulse(problem, v, i, problem.diagonal[i]), 0.0)
            largest = max(largest, change_impulse(problem, v, i, x))
            largest = max(largest, sweep_pair(problem, v, i + 1, x))
        for i in range(first, n_box, 3):
            lam_n = problem.lam[problem.normal_row[i]]
            limit = problem.mu[i] * lam_n
            x = clamp(unconstrained_impulse(problem, v, i, problem.diagonal[i]), -limit, limit)
            largest = max(largest, change_impulse(problem, v, i, x))
            largest = max(largest, sweep_pair(problem, v, i + 1, lam_n))
        status = rule_that_applies(rules, inf, largest)
        if status != GOES_ON:
            return status, sweep + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
