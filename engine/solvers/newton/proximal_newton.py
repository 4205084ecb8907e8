"""Proximal Newton method for contacts with friction, alternating with Gauss-Seidel sweeps.

Redundant contacts leave lam undetermined and the Newton matrix singular. The proximal point method
regularises the problem around the current impulses lam_k: solve

    w + alpha D (lam - lam_k)   instead of   w,    D the scale of the rows

whose solution is unique for friction without sliding and close to lam_k otherwise, and set lam_k to
it. At a fixed point the added term vanishes, so the fixed point obeys the unmodified law. alpha
decreases after a Newton iteration that succeeded; after one that failed it increases, and sweeps
determine the active and sliding contacts again.

A guess with a small residual needs no sweeps: for bodies at rest one Newton step suffices. Without
one, the problem is first regularised around zero and solved from there. Of all impulses that differ
by what moves nothing, that is the one of least sum D lam^2: symmetric loads have symmetric
impulses. Sweeps distribute a load by the order of the rows: two equal pads hold a box by unequal
pressures, and it rotates when it slips. They are used only where Newton steps fail.

More contacts may hold a body than its motion determines, and their velocities without impulses then
differ by what one step leaves of second order: four wheels that roll on one axle each. Rigid
friction responds with impulses that move nothing, up to the limit of friction, for a micrometre
per second. A guess with so small an error (SMALL) is not solved from zero again, and
turns end when one does not halve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.problem.projection import clamp
from cardan.engine.solvers.direct.cholesky import copy
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    project_guess,
    write_velocities,
)
from cardan.engine.solvers.newton.natural_map import map_error, write_natural_map
from cardan.engine.solvers.newton.semismooth import NewtonScratch, newton, newton_step
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.matrix import sweep_dense
from cardan.engine.world.report import (
    STOPPED_MAX_ITERATIONS,
    STOPPED_NO_SOLUTION,
    STOPPED_STALLED,
    STOPPED_TOLERANCE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# sweeps before the first Newton step and after each that failed
SWEEPS_PER_TURN = 25
NEWTON_STEPS_PER_TURN = 12
# one cycle costs up to 12 factorisations; stop when so many cycles did not halve the error; with 5
# a large published pile (286 contacts) ends at 5e-7 instead of 1e-13
PATIENCE = 8
# and when so many did not halve a small one, a share of the mean idle approach
SMALL, SMALL_PATIENCE = 1e-4, 1
# a guess has the right active set if its error is below this share of the idle error
NEARLY = 0.1
# Newton steps on such a guess before sweeps start, while each leaves less than a share of the error
STEPS_ON_GUESS, HELPED = 4, 0.5
# alpha there: nearly undamped, one step leaves about 1e-6 of the error
ALPHA_ON_GUESS = 1e-7
# alpha around zero, first and last: the first is solved from anywhere, the last leaves about 1e-6
# of the velocities to the steps on a guess
FIRST_ALPHA_FROM_ZERO, LAST_ALPHA_FROM_ZERO = 1e-2, 1e-6
# rows up to which a problem is solved from zero: some ten factorisations in place of one; and up to
# which an answer with a small error will do, since of more rows more are redundant
FROM_ZERO_ROWS, ROUGH_ROWS = 100, 48
# target error as a share of the tolerance, so that the next time steps can keep these impulses
TIGHT = 1e-6
# alpha: first, least, largest
FIRST_ALPHA, LEAST_ALPHA, LARGEST_ALPHA = 1e-4, 1e-10, 1.0


@struct
class ProximalNewtonScratch(NamedTuple):
    """Scratch of solve_proximal_newton."""

    newton: NewtonScratch
    best: NDArray  # (>= n,)     best lam
    center: NDArray  # (>= n,)   lam_k
    diagonal: NDArray  # (>= n,) of A before regularisation
    b: NDArray  # (>= n,)        before regularisation
    guess: NDArray  # (>= n,)    lam before the solution from zero
    idle: NDArray  # (>= n,)     w at the impulses of least size, write_idle_velocities


@kernel
def _regularised_newton(
    dp: DenseProblem,
    scratch: ProximalNewtonScratch,
    center: NDArray,
    alpha: float,
    rules: tuple[int, float],
) -> tuple[int, int]:
    """Newton on the problem regularised around a center; A and b are restored bit for bit.

    rules: steps, tolerance [m/s or rad/s]
    """
    for i in range(dp.n):
        hold = alpha * dp.scale[i]
        scratch.diagonal[i] = dp.A[i, i]
        scratch.b[i] = dp.b[i]
        dp.A[i, i] += hold
        dp.b[i] -= hold * center[i]
    status, count = newton(dp, scratch.newton, rules[0], rules[1])
    for i in range(dp.n):
        dp.A[i, i] = scratch.diagonal[i]
        dp.b[i] = scratch.b[i]
    return status, count


@kernel
def _proximal_newton(
    dp: DenseProblem, scratch: ProximalNewtonScratch, alpha: float, steps: int, tolerance: float
) -> tuple[int, int]:
    """Newton on the problem regularised around lam."""
    copy(dp.lam, dp.n, scratch.center)
    return _regularised_newton(dp, scratch, scratch.center, alpha, (steps, tolerance))


@kernel
def write_idle_velocities(dp: DenseProblem, idle: NDArray) -> None:
    """idle = w where every impulse is the least there may be: 0, or that of a motor of given force.

    Such a motor may be all that presses contacts together.
    """
    copy(dp.b, dp.n, idle)
    for j in range(dp.first_dependent):
        given = clamp(0.0, dp.lo[j], dp.hi[j])
        if given != 0.0:
            for i in range(dp.n):
                idle[i] += dp.A[i, j] * given


@kernel
def idle_error(dp: DenseProblem, idle: NDArray) -> float:
    """Largest of the idle velocities that impulses can change, of contacts only approaches."""
    largest = 0.0
    for i in range(dp.n_box):
        if dp.lo[i] < dp.hi[i] or i >= dp.first_dependent:
            largest = max(largest, abs(idle[i]))
    for i in range(dp.n_box, dp.n, 3):
        largest = max(largest, -idle[i])
    return largest


@kernel
def small_error(dp: DenseProblem, idle: NDArray) -> float:
    """Error that is worth one turn but no solution from zero: a share of the mean approach."""
    total, count = 0.0, 0
    for i in range(dp.n_box, dp.n, 3):
        if idle[i] < 0.0:
            total -= idle[i]
            count += 1
    return SMALL * total / count if count > 0 else SMALL * idle_error(dp, idle)


@kernel
def polish_guess(dp: DenseProblem, scratch: ProximalNewtonScratch, goal: float) -> int:
    """Apply Newton steps to a guess with a small residual; return their number.

    Their matrix is that of the problem regularised around the iterate itself.

    Reads   dp.w of the guess; scratch.idle; goal [m/s or rad/s] of the residual
    Writes  dp.lam, never worse than it was; dp.w
    """
    first = error = dense_residual(dp)
    if not error < NEARLY * idle_error(dp, scratch.idle) or error <= goal:
        return 0
    copy(dp.lam, dp.n, scratch.best)
    inner, total = scratch.newton, 0
    merit = write_natural_map(dp, inner.F)
    while total < STEPS_ON_GUESS and error > goal:
        total += 1
        merit = newton_step(dp, inner, merit, ALPHA_ON_GUESS)
        found = map_error(dp, inner.F) if merit < np.inf else np.inf
        if not found < error:
            copy(inner.start, dp.n, dp.lam)
            break
        helped = found < HELPED * error
        error = found
        if not helped:
            break
    project_guess(dp)
    write_velocities(dp)
    if not dense_residual(dp) < first:
        copy(scratch.best, dp.n, dp.lam)
        write_velocities(dp)
    return total


@kernel
def _alternate(
    dp: DenseProblem,
    scratch: ProximalNewtonScratch,
    keep: bool,
    max_iterations: int,
    tolerance: float,
) -> tuple[int, int]:
    """Alternate sweeps and proximal Newton steps; return STOPPED_..., iterations.

    keep: whether a guess better than all iterates is the answer; sweeps may overwrite any other.

    Writes  dp.lam   the iterate of least residual; dp.w
    """
    best = dense_residual(dp) if keep else np.inf
    copy(dp.lam, dp.n, scratch.best)
    sweeps = min(SWEEPS_PER_TURN, max_iterations)
    status, total = sweep_dense(dp, 1.0, StoppingRules(sweeps, tolerance, -1.0))
    write_velocities(dp)
    if status == STOPPED_TOLERANCE:
        return status, total
    error = dense_residual(dp)
    # error not finite or beyond any motion: halving it would need too many cycles
    if not error < LARGEST:
        return STOPPED_NO_SOLUTION, total
    if error < best:
        best = error
        copy(dp.lam, dp.n, scratch.best)
    goal, small = 0.5 * error, small_error(dp, scratch.idle)
    waited = 0
    alpha = FIRST_ALPHA
    status = STOPPED_MAX_ITERATIONS
    while sweeps < max_iterations and best > tolerance:
        inner = max(0.01 * error, 0.1 * tolerance)
        solved, count = _proximal_newton(dp, scratch, alpha, NEWTON_STEPS_PER_TURN, inner)
        total += count
        if solved == STOPPED_TOLERANCE:
            alpha = max(0.1 * alpha, LEAST_ALPHA)
        else:
            alpha = min(10.0 * alpha, LARGEST_ALPHA)
            rules = StoppingRules(min(SWEEPS_PER_TURN, max_iterations - sweeps), tolerance, -1.0)
            solved, count = sweep_dense(dp, 1.0, rules)
            sweeps += count
            total += count
        write_velocities(dp)
        error = dense_residual(dp)
        if error < best:
            best = error
            copy(dp.lam, dp.n, scratch.best)
        waited += 1
        if error <= goal:
            goal = 0.5 * error
            waited = 0
        elif waited >= (SMALL_PATIENCE if best < small else PATIENCE):
            status = STOPPED_STALLED
            break
    copy(scratch.best, dp.n, dp.lam)
    write_velocities(dp)
    return STOPPED_TOLERANCE if best <= tolerance else status, total


@kernel
def solve_from_zero(
    dp: DenseProblem, scratch: ProximalNewtonScratch, tolerance: float, enough: float
) -> int:
    """Solve from lam = 0, around which the problem is regularised less and less; return the steps.

    Reads   enough: the largest residual [m/s or rad/s] of an answer
    Writes  dp.lam   the answer, or the guess that it was; dp.w
    """
    copy(dp.lam, dp.n, scratch.guess)
    for i in range(dp.n):
        dp.lam[i], scratch.center[i] = 0.0, 0.0
    total, solved = 0, STOPPED_TOLERANCE
    for alpha, within in ((FIRST_ALPHA_FROM_ZERO, enough), (LAST_ALPHA_FROM_ZERO, 0.1 * tolerance)):
        if solved == STOPPED_TOLERANCE:
            rules = (NEWTON_STEPS_PER_TURN, within)
            solved, count = _regularised_newton(dp, scratch, scratch.center, alpha, rules)
            total += count
    write_velocities(dp)
    if solved == STOPPED_TOLERANCE:
        total += polish_guess(dp, scratch, TIGHT * tolerance)
    if not dense_residual(dp) <= enough:
        copy(scratch.guess, dp.n, dp.lam)
        write_velocities(dp)
    return total


@kernel
def solve_proximal_newton(
    dp: DenseProblem, scratch: ProximalNewtonScratch, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Polish the guess, or solve from zero, or alternate with sweeps; STOPPED_..., iterations.

    At most `max_iterations` sweeps.  The guess in dp.lam must lie in its set (project_guess).

    Writes  dp.lam   the iterate of least residual; dp.w
    Source  Rockafellar 1976 for proximal points; Acary, Bremond and Huber 2018 for friction
    Check   tests/engine/solvers/newton/test_proximal_newton.py
    """
    write_idle_velocities(dp, scratch.idle)
    small = small_error(dp, scratch.idle)
    write_velocities(dp)
    polished = polish_guess(dp, scratch, TIGHT * tolerance)
    total, error = polished, dense_residual(dp)
    if error > max(tolerance, small) and dp.n <= FROM_ZERO_ROWS:
        enough = max(tolerance, small) if dp.n <= ROUGH_ROWS else tolerance
        total += solve_from_zero(dp, scratch, tolerance, enough)
        error = dense_residual(dp)
    if error <= tolerance:
        return STOPPED_TOLERANCE, total
    keep = polished > 0 or error < small
    status, count = _alternate(dp, scratch, keep, max_iterations, tolerance)
    return status, total + count
