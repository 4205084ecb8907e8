"""Steps, couplings and sets of rows for sweeps over bodies.

Fields of Problem that a solver may use as scratch hold them:

    contact with normal row i      i            i + 1                   i + 2
    w                              1 / D_n      step of tangent 1       step of tangent 2
    lo                                          A[i + 1, i]             A[i + 2, i]
    hi                                          A[i + 2, i + 1]

Dependent blocks hold the same numbers, their spin row in the place of the normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.projection import clamp, project_pair
from cardan.engine.solvers.sweeps.steps import block_diagonal, step_of
from cardan.engine.solvers.sweeps.trees import coupling_by_trees, moves_trees, write_response
from cardan.engine.world.problem import FRICTION_BOX

if TYPE_CHECKING:
    from cardan.engine.world.problem import Problem


@kernel
def entry_of_pair(problem: Problem, i: int, j: int) -> float:
    """A_ij of two rows between the same bodies, of what bodies in no tree add to it."""
    total = 0.0
    for k in range(6):
        total += problem.J_a[i, k] * problem.MJ_a[j, k]
        total += problem.J_b[i, k] * problem.MJ_b[j, k]
    return total


@kernel
def _add_trees(problem: Problem, i: int) -> None:
    """Add to the couplings of a block what trees add to them."""
    write_response(problem, i)
    problem.lo[i + 1] += coupling_by_trees(problem, i + 1)
    problem.lo[i + 2] += coupling_by_trees(problem, i + 2)
    write_response(problem, i + 1)
    problem.hi[i + 1] += coupling_by_trees(problem, i + 2)


@kernel
def write_block(problem: Problem, i: int) -> None:
    """Write steps and couplings of the contact or dependent block with first row i."""
    D, step = problem.diagonal, problem.w
    problem.lo[i + 1] = entry_of_pair(problem, i + 1, i)
    problem.lo[i + 2] = entry_of_pair(problem, i + 2, i)
    problem.hi[i + 1] = entry_of_pair(problem, i + 2, i + 1)
    if moves_trees(problem, i):
        _add_trees(problem, i)
    c = problem.hi[i + 1]
    step[i] = step_of(D[i])
    if problem.friction_kind[0] != FRICTION_BOX:
        step[i + 1] = step_of(block_diagonal(D[i + 1], D[i + 2], c))
        step[i + 2] = step[i + 1]
    else:
        step[i + 1] = step_of(D[i + 1])
        step[i + 2] = step_of(D[i + 2])


@kernel
def write_box_steps(problem: Problem, n: int) -> None:
    """Write the steps 1 / D_i of the first n box rows, and project their guess on its set."""
    for i in range(n):
        problem.w[i] = step_of(problem.diagonal[i])
        problem.lam[i] = clamp(problem.lam[i], problem.lo[i], problem.hi[i])
        if i < problem.count[2]:
            problem.w[i] = 0.0  # swept by sweep_couplings


@kernel
def write_steps(problem: Problem) -> None:
    """Write steps and couplings of every row, in the layout of the table above.

    The step is 1 / D_i; for both tangents of a disk 1 over the larger eigenvalue of their block.
    """
    first = first_dependent(problem)
    write_box_steps(problem, first)
    for i in range(first, problem.count[0], 3):
        write_block(problem, i)


@kernel
def _project_tangents(problem: Problem, i: int, radius: float) -> None:
    """Project lam of the rows i + 1, i + 2 on the friction set of a radius."""
    lam, kind = problem.lam, problem.friction_kind
    lam[i + 1], lam[i + 2] = project_pair(lam[i + 1], lam[i + 2], radius, kind[0], kind[1])


@kernel
def project_contact(problem: Problem, i: int) -> None:
    """Project the guess of the contact with normal row i on its set."""
    problem.lam[i] = max(problem.lam[i], 0.0)
    _project_tangents(problem, i, problem.mu[i + 1] * problem.lam[i])


@kernel
def project_impulses(problem: Problem) -> None:
    """Project the guess problem.lam on its set."""
    lam, mu = problem.lam, problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    first = first_dependent(problem)
    for i in range(first):
        lam[i] = clamp(lam[i], problem.lo[i], problem.hi[i])
    for i in range(n_box, n_rows, 3):
        project_contact(problem, i)
    for i in range(first, n_box, 3):
        lam_n = lam[problem.normal_row[i]]
        lam[i] = clamp(lam[i], -mu[i] * lam_n, mu[i] * lam_n)
        _project_tangents(problem, i, mu[i + 1] * lam_n)
