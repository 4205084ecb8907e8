"""Projected Gauss-Seidel with subspace minimisation (PGS-SM).

After some sweeps the rows strictly inside their sets (equations, active normals, sticking tangents)
are free and all others are fixed. Conjugate gradients minimise lam A lam / 2 + b lam over the free
rows; the result is projected, and kept if its residual is smaller. Where contacts slide that is
rare, and the minimisations are then made less often.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import first_dependent
from cardan.engine.solvers.direct.cholesky import copy, dot
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.system import (
    MEASURED,
    make_admissible,
    measure,
    multiply,
    note,
    refresh,
    start_sweeps,
    sweep,
)
from cardan.engine.world.problem import FRICTION_BOX
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.sweeps.system import System
    from cardan.engine.world.problem import Problem

# sweeps before each minimisation; most CG steps in it; relative error at which CG stops
SWEEPS, GRADIENTS, SHARE = 5, 60, 1e-3
# a minimisation that leaves more than this share of the error doubles the sweeps before the next
# one, up to so many
PAID, MOST_SWEEPS = 0.5, 320
# share of a friction limit below which a tangent counts as sticking
INSIDE = 1.0 - 1e-9


@kernel
def _mark_pair(problem: Problem, i: int, lam_n: float, free: NDArray) -> None:
    """Whether the rows i, i + 1 lie strictly within mu lam_n."""
    lam, radius = problem.lam, problem.mu[i] * lam_n
    if problem.friction_kind[0] == FRICTION_BOX:
        for j in range(i, i + 2):
            free[j] = 1.0 if abs(lam[j]) < INSIDE * problem.mu[j] * lam_n else 0.0
        return
    inside = lam[i] ** 2 + lam[i + 1] ** 2 < (INSIDE * radius) ** 2
    free[i] = 1.0 if inside else 0.0
    free[i + 1] = free[i]


@kernel
def mark_free(problem: Problem, free: NDArray) -> None:
    """free_i <- 1 for rows strictly inside their sets, else 0."""
    lam = problem.lam
    n_rows, n_box = problem.count[0], problem.count[1]
    first = first_dependent(problem)
    for i in range(first):
        free[i] = 1.0 if problem.lo[i] < lam[i] < problem.hi[i] else 0.0
    for i in range(n_box, n_rows, 3):
        free[i] = 1.0 if lam[i] > 0.0 else 0.0
        _mark_pair(problem, i + 1, lam[i], free)
    for i in range(first, n_box, 3):
        lam_n = lam[problem.normal_row[i]]
        free[i] = 1.0 if abs(lam[i]) < INSIDE * problem.mu[i] * lam_n else 0.0
        _mark_pair(problem, i + 1, lam_n, free)
    for i in range(n_rows):
        if not problem.diagonal[i] > 0.0:
            free[i] = 0.0


@kernel
def minimise(system: System) -> None:
    """Minimise over the free rows by conjugate gradients from lam, preconditioned by the diagonal.

    Reads   system.x[0] free, x[MEASURED] w
    Writes  problem.lam; x[2] ... x[5] are scratch
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem = system.problem
    n, lam, D = problem.count[0], problem.lam, problem.diagonal
    free, w = system.x[0], system.x[MEASURED]
    r, z, p, Ap = system.x[2], system.x[3], system.x[4], system.x[5]
    for i in range(n):
        r[i] = -w[i] if free[i] > 0.0 else 0.0
        z[i] = r[i] / D[i] if free[i] > 0.0 else 0.0
        p[i] = z[i]
    rz = dot(r, z, n)
    goal = SHARE * SHARE * rz
    for _ in range(GRADIENTS):
        if not rz > goal:
            return
        multiply(system, p, Ap)
        curvature = dot(p, Ap, n)
        if not curvature > 0.0:
            return
        share = rz / curvature
        for i in range(n):
            lam[i] += share * p[i]
            if free[i] > 0.0:
                r[i] -= share * Ap[i]
                z[i] = r[i] / D[i]
        new = dot(r, z, n)
        for i in range(n):
            p[i] = z[i] + new / rz * p[i]
        rz = new


@kernel
def pgs_sm(system: System, rules: StoppingRules) -> tuple[int, int]:
    """Alternate sweeps and minimisations until the residual is small enough.

    Returns STOPPED_... and the number of sweeps.

    Reads   problem.lam   guess
    Writes  problem.lam, system.history (per sweep: the residual after its cycle)
    Source  Morales, Nocedal and Smelyanskiy 2008, "An algorithm for the fast solution of symmetric
            linear complementarity problems".  Differs: conjugate gradients, friction sets,
            and minimisations are delayed where they do not reduce the residual.
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem, x = system.problem, system.x
    n = problem.count[0]
    make_admissible(system)
    start_sweeps(system)
    done, pause = 0, SWEEPS
    while done < rules.max_iterations:
        first = done
        change = inf
        while done < min(first + pause, rules.max_iterations) and change > rules.residual:
            change = sweep(system, 1.0)
            done += 1
        error = measure(system)
        if error > rules.residual:
            copy(problem.lam, n, x[1])
            mark_free(problem, x[0])
            minimise(system)
            make_admissible(system)
            better = measure(system)
            pause = SWEEPS if better < PAID * error else min(2 * pause, MOST_SWEEPS)
            if better < error:
                error = better
            else:
                copy(x[1], n, problem.lam)
                refresh(system)
        for k in range(first, done):
            note(system, k, error)
        status = rule_that_applies(rules, error, change)
        if status != GOES_ON:
            return status, done
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
