"""Accelerated projected gradient descent (APGD) on boxes and friction cones.

    minimise  lam A lam / 2 + (b + s) lam   over boxes and cones  |lam_t| <= mu lam_n

Nesterov's method, restarted whenever the step points uphill (O'Donoghue and Candes). The step
length 1 / L comes from a backtracking estimate of the curvature, and the best iterate is kept.
Distances use the metric of the diagonal, one number per contact, which removes the scale of the
masses.

The optimum for s = 0 solves the cone complementarity problem, a convex relaxation of Coulomb's law:
contacts that slide at a speed |w_t| separate at mu |w_t|. With `coulomb` the shift s_n = mu |w_t|
is updated from the current iterate whenever the relaxed problem is solved accurately enough (De
Saxce's correction as a fixed point).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up, goes_on
from cardan.engine.problem.operator import first_dependent
from cardan.engine.problem.projection import clamp, project_cone, project_disk
from cardan.engine.problem.residual import largest_errors
from cardan.engine.solvers.direct.cholesky import copy
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.system import has_matrix, make_admissible, multiply, note
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.sweeps.system import System
    from cardan.engine.world.problem import Problem

# L: value at which backtracking ends; its growth in backtracking; its decay
LARGEST, GROWTH, DECAY = 1e12, 2.0, 0.9
# the shift is updated when the relaxed error is below this share of the Coulomb error
INNER_SHARE = 0.1
# share of the metric that further rows of a coupling have
REPEATED = 1e-9
# rows of System.x: last iterate, its A lam; extrapolated point y, its A y; best; metric; s
LAST, A_LAST, POINT, A_POINT, BEST, METRIC, SHIFT = 0, 1, 2, 3, 4, 5, 6


@kernel
def write_metric(problem: Problem, metric: NDArray) -> None:
    """Write the metric: D of box rows, the largest D of each contact and dependent block.

    The first row of a coupling has the sum of its D, and the further ones, which repeat it, nearly
    none (0 were divided by).
    """
    D = problem.diagonal
    n_rows = problem.count[0]
    for i in range(n_rows):
        metric[i] = D[i] if D[i] > 0.0 else 1.0
    for i in range(first_dependent(problem), n_rows, 3):
        largest = max(D[i], D[i + 1], D[i + 2])
        for j in range(i, i + 3):
            metric[j] = largest if largest > 0.0 else 1.0
    add_up(problem, metric)
    total = 0.0
    for i in range(problem.count[2]):
        if goes_on(problem, i):
            metric[i] = REPEATED * total
        else:
            total = metric[i]


@kernel
def project_cones(problem: Problem, x: NDArray) -> None:
    """Project x on boxes and cones, dependent rows on the bounds from the normal impulses of x."""
    mu = problem.mu
    n_rows, n_box = problem.count[0], problem.count[1]
    first = first_dependent(problem)
    for i in range(first):
        x[i] = clamp(x[i], problem.lo[i], problem.hi[i])
    for i in range(n_box, n_rows, 3):
        x[i], x[i + 1], x[i + 2] = project_cone(x[i], x[i + 1], x[i + 2], mu[i + 1])
    for i in range(first, n_box, 3):
        x_n = x[problem.normal_row[i]]
        x[i] = clamp(x[i], -mu[i] * x_n, mu[i] * x_n)
        x[i + 1], x[i + 2] = project_disk(x[i + 1], x[i + 2], mu[i + 1] * x_n)


@kernel
def _forget_idle(problem: Problem) -> None:
    """Impulses that move no body are 0, and so are those of a contact whose normal moves none.

    Without a bound they would grow without end, and friction with them. A plain problem has a proof
    then that it has no solution, which is found by their growth.
    """
    lam, D = problem.lam, problem.diagonal
    for i in range(problem.count[1]):
        lam[i] = lam[i] if D[i] > 0.0 else 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        if not D[i] > 0.0:
            lam[i], lam[i + 1], lam[i + 2] = 0.0, 0.0, 0.0


@kernel
def _step(system: System, L: float) -> None:
    """lam <- P(y - (A y + b + s) / (L metric))."""
    problem, x = system.problem, system.x
    y, Ay, metric, shift = x[POINT], x[A_POINT], x[METRIC], x[SHIFT]
    for i in range(problem.count[0]):
        problem.lam[i] = y[i] - (Ay[i] + problem.b[i] + shift[i]) / (L * metric[i])
    if not has_matrix(system):
        _forget_idle(problem)
    project_cones(problem, problem.lam)


@kernel
def _fits(system: System, L: float) -> bool:
    """Whether d A d <= L |d|^2 for the last step d = lam - y; reads A lam from problem.w."""
    problem, x = system.problem, system.x
    curvature, squared = 0.0, 0.0
    for i in range(problem.count[0]):
        d = problem.lam[i] - x[POINT][i]
        curvature += d * (problem.w[i] - x[A_POINT][i])
        squared += d * d * x[METRIC][i]
    return curvature <= L * squared * (1.0 + 1e-12) or L > LARGEST


@kernel
def _is_uphill(system: System) -> bool:
    """Whether the gradient at y points along the change since the last iterate."""
    problem, x = system.problem, system.x
    total = 0.0
    for i in range(problem.count[0]):
        g = x[A_POINT][i] + problem.b[i] + x[SHIFT][i]
        total += g * (problem.lam[i] - x[LAST][i])
    return total > 0.0


@kernel
def relaxed_error(system: System) -> float:
    """Largest |y - P(y - w - s)| of box or contact, y = metric lam: the natural map of the CCP.

    Reads   problem.w   A lam
    """
    problem, metric, shift = system.problem, system.x[METRIC], system.x[SHIFT]
    lam, mu, Alam, b = problem.lam, problem.mu, problem.w, problem.b
    n_rows, n_box = problem.count[0], problem.count[1]
    worst = 0.0
    for i in range(first_dependent(problem)):
        y = metric[i] * lam[i]
        z = clamp(y - Alam[i] - b[i], metric[i] * problem.lo[i], metric[i] * problem.hi[i])
        worst = max(worst, abs(y - z))
    for i in range(n_box, n_rows, 3):
        D = metric[i]
        y0, y1, y2 = D * lam[i], D * lam[i + 1], D * lam[i + 2]
        z0 = y0 - Alam[i] - b[i] - shift[i]
        z1, z2 = y1 - Alam[i + 1] - b[i + 1], y2 - Alam[i + 2] - b[i + 2]
        z0, z1, z2 = project_cone(z0, z1, z2, mu[i + 1])
        worst = max(worst, sqrt((y0 - z0) ** 2 + (y1 - z1) ** 2 + (y2 - z2) ** 2))
    return worst


@kernel
def _write_shift(system: System) -> None:
    """s_n = mu |w_t| of every contact."""
    problem, shift = system.problem, system.x[SHIFT]
    w, b = problem.w, problem.b
    for i in range(problem.count[1], problem.count[0], 3):
        w1, w2 = w[i + 1] + b[i + 1], w[i + 2] + b[i + 2]
        shift[i] = problem.mu[i + 1] * sqrt(w1 * w1 + w2 * w2)


@kernel
def _coulomb_residual(system: System) -> float:
    """Largest natural map of the Coulomb law; problem.w holds A lam before and after."""
    problem = system.problem
    for i in range(problem.count[0]):
        problem.w[i] += problem.b[i]
    error = largest_errors(problem, problem.w)[0]
    for i in range(problem.count[0]):
        problem.w[i] -= problem.b[i]
    return error


@kernel
def _start(system: System, coulomb: int) -> None:
    """Initialise the iteration at the guess."""
    problem, x = system.problem, system.x
    n = problem.count[0]
    write_metric(problem, x[METRIC])
    make_admissible(system)
    multiply(system, problem.lam, problem.w)
    for i in range(n):
        x[SHIFT][i] = 0.0
    if coulomb == 1:
        _write_shift(system)
    _stand(system)
    copy(problem.lam, n, x[BEST])


@kernel
def _stand(system: System) -> None:
    """Restart: set y and the last iterate to lam."""
    n, x = system.problem.count[0], system.x
    for here, there in ((LAST, A_LAST), (POINT, A_POINT)):
        copy(system.problem.lam, n, x[here])
        copy(system.problem.w, n, x[there])


@kernel
def _move_on(system: System, beta: float) -> None:
    """Extrapolate: y = lam + beta (lam - last), and A y; then last <- lam."""
    problem, x = system.problem, system.x
    for i in range(problem.count[0]):
        lam, Alam = problem.lam[i], problem.w[i]
        x[POINT][i] = lam + beta * (lam - x[LAST][i])
        x[A_POINT][i] = Alam + beta * (Alam - x[A_LAST][i])
        x[LAST][i] = lam
        x[A_LAST][i] = Alam


@kernel
def apgd(system: System, rules: StoppingRules, coulomb: int) -> tuple[int, int]:
    """Iterate until the error is small enough; return STOPPED_..., iterations.

    The error is that of Coulomb's law with coulomb = 1, else that of the relaxation.

    Reads   problem.lam   guess
    Writes  problem.lam   best iterate; problem.w is scratch; system.history
    Source  Mazhar, Heyn, Negrut and Tasora 2015, "Using Nesterov's method to accelerate multibody
            dynamics with friction and contact".  Differs: metric, shift.
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    problem, x = system.problem, system.x
    n = problem.count[0]
    _start(system, coulomb)
    theta, L, least = 1.0, 1.0, np.inf
    for k in range(rules.max_iterations):
        _step(system, L)
        multiply(system, problem.lam, problem.w)
        while not _fits(system, L):
            L *= GROWTH
            _step(system, L)
            multiply(system, problem.lam, problem.w)
        relaxed = relaxed_error(system)
        error = _coulomb_residual(system) if coulomb == 1 else relaxed
        note(system, k, error)
        if error <= least:
            least = error
            copy(problem.lam, n, x[BEST])
        status = rule_that_applies(rules, error, np.inf)
        if status != GOES_ON:
            return status, k + 1
        if coulomb == 1 and relaxed <= INNER_SHARE * error:
            _write_shift(system)
            _stand(system)
            theta = 1.0
            continue
        if _is_uphill(system):
            theta = 1.0
            _move_on(system, 0.0)
        else:
            new = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta)
            _move_on(system, theta * (1.0 - theta) / (theta * theta + new))
            theta = new
        L *= DECAY
    copy(x[BEST], n, problem.lam)
    return STOPPED_MAX_ITERATIONS, rules.max_iterations
