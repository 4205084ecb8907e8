"""Friction to many digits: sweeps and proximal Newton steps in turns.

Redundant contacts leave lam undetermined, and Newton without ground.  The proximal point method
gives it some: around the present impulses lam_k solve

    w + alpha D (lam - lam_k)   instead of   w,    D the scale of the rows

whose answer is unique for friction without sliding and near lam_k otherwise, then move lam_k
there.  Where lam_k stays, the term is gone: the fixed point obeys the law itself.  alpha falls
after a Newton iteration that succeeded; after one that failed it rises, and sweeps sort out anew
who touches and who slides.

A guess that is nearly right says that itself: bodies that stand want one Newton step, no sweeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import bundle
from cardan.engine.solvers.direct.cholesky import copy
from cardan.engine.solvers.direct.dense_problem import (
    DenseProblem,
    dense_residual,
    write_velocities,
)
from cardan.engine.solvers.newton.semismooth import NewtonScratch, newton
from cardan.engine.solvers.sweeps.dense import StoppingRules, iterate
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
# a turn costs up to 12 factorisations: when this many did not halve the error, it is over; with 5
# a large published pile (286 contacts) ends at 5e-7 instead of 1e-13
PATIENCE = 8
# a guess knows who touches and who slides if it errs by this share of what no impulses would
NEARLY = 0.1
# Newton steps on such a guess, before sweeps after all, while each leaves less than a share
STEPS_ON_GUESS, HELPED = 4, 0.5
# alpha there: steps go nearly all the way, one leaves about 1e-6 of the error
ALPHA_ON_GUESS = 1e-7
# what they leave, as a share of the tolerance: the next steps then may keep these impulses
TIGHT = 1e-6
# alpha: first, least, largest
FIRST_ALPHA, LEAST_ALPHA, LARGEST_ALPHA = 1e-4, 1e-10, 1.0


@bundle
class ProximalNewtonScratch(NamedTuple):
    """Scratch of solve_proximal_newton."""

    newton: NewtonScratch
    best: NDArray  # (>= n,)     best lam so far
    center: NDArray  # (>= n,)   lam_k
    diagonal: NDArray  # (>= n,) of A, as it was
    b: NDArray  # (>= n,)        as it was


@kernel
def _proximal_newton(
    dp: DenseProblem, scratch: ProximalNewtonScratch, alpha: float, steps: int, tolerance: float
) -> tuple[int, int]:
    """Newton on the problem held near the present lam; A and b come back bit for bit."""
    for i in range(dp.n):
        hold = alpha * dp.scale[i]
        scratch.center[i] = dp.lam[i]
        scratch.diagonal[i] = dp.A[i, i]
        scratch.b[i] = dp.b[i]
        dp.A[i, i] += hold
        dp.b[i] -= hold * dp.lam[i]
    status, count = newton(dp, scratch.newton, steps, tolerance)
    for i in range(dp.n):
        dp.A[i, i] = scratch.diagonal[i]
        dp.b[i] = scratch.b[i]
    return status, count


@kernel
def idle_error(dp: DenseProblem) -> float:
    """What a row misses at most where nobody pushes: largest |b|, of contacts if they close."""
    largest = 0.0
    for i in range(dp.n_box):
        largest = max(largest, abs(dp.b[i]))
    for i in range(dp.n_box, dp.n, 3):
        largest = max(largest, -dp.b[i])
    return largest


@kernel
def polish_guess(dp: DenseProblem, scratch: ProximalNewtonScratch, tolerance: float) -> int:
    """Newton steps on a guess that is nearly right; returns how many.

    Reads   dp.w of the guess
    Writes  dp.lam, never worse than it was; dp.w
    """
    error = dense_residual(dp)
    if not error < NEARLY * idle_error(dp):
        return 0
    total = 0
    while total < STEPS_ON_GUESS and error > TIGHT * tolerance:
        copy(dp.lam, dp.n, scratch.best)
        total += _proximal_newton(dp, scratch, ALPHA_ON_GUESS, 1, 0.0)[1]
        write_velocities(dp)
        found = dense_residual(dp)
        if not found < error:
            copy(scratch.best, dp.n, dp.lam)
            write_velocities(dp)
        if not found < HELPED * error:
            break
        error = found
    return total


@kernel
def solve_proximal_newton(
    dp: DenseProblem, scratch: ProximalNewtonScratch, max_iterations: int, tolerance: float
) -> tuple[int, int]:
    """Sweeps find who touches and who slides, Newton the numbers; STOPPED_..., iterations.

    At most `max_iterations` sweeps.  The guess in dp.lam must lie in its set (project_guess).

    Writes  dp.lam   the best seen by the residual; dp.w
    Source  Rockafellar 1976 for proximal points; Acary, Bremond and Huber 2018 for friction
    Check   tests/engine/solvers/newton/test_proximal_newton.py
    """
    write_velocities(dp)
    polished = polish_guess(dp, scratch, tolerance)
    if dense_residual(dp) <= tolerance:
        return STOPPED_TOLERANCE, polished
    # a guess that Newton's steps have improved is not lost to sweeps; any other may be
    best = dense_residual(dp) if polished > 0 else np.inf
    copy(dp.lam, dp.n, scratch.best)
    sweeps = min(SWEEPS_PER_TURN, max_iterations)
    status, total = iterate(dp, 1.0, StoppingRules(sweeps, tolerance, -1.0))
    total += polished
    if status == STOPPED_TOLERANCE:
        return status, total
    write_velocities(dp)
    error = dense_residual(dp)
    # numbers beyond any motion, or none: halving them would take for ever
    if not error < LARGEST:
        return STOPPED_NO_SOLUTION, total
    if error < best:
        best = error
        copy(dp.lam, dp.n, scratch.best)
    goal = 0.5 * error
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
            solved, count = iterate(dp, 1.0, rules)
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
        elif waited >= PATIENCE:
            status = STOPPED_STALLED
            break
    copy(scratch.best, dp.n, dp.lam)
    write_velocities(dp)
    return STOPPED_TOLERANCE if best <= tolerance else status, total
