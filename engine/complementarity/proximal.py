"""Proximal points with a semismooth Newton method inside: boxes and true Coulomb friction.

The law is a root of the natural map of Alart and Curnier, with s = x - rho w(x), rho = 1 / D:

    F = x - G(s):   box G = clamp(s, lo, hi);   normal G = max(s_n, 0);   tangents
                    G = s_t inside the disk of radius mu G_n, else mu G_n s_t / |s_t|
    dF = (I - dG) + dG rho A,      dG of blocks as large as a contact

In this form A need not be symmetric and sliding is no relaxation.  Redundant contacts leave x
undetermined and the Newton matrix singular, so the problem is regularised around the current x_k,

    w + alpha D (x - x_k)   instead of   w,      x_(k+1) its answer,

with decreasing alpha while that succeeds. Where it fails, sweeps determine the active and sliding
contacts again.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from cardan.engine.complementarity import measure
from cardan.engine.complementarity.iterations import run
from cardan.engine.complementarity.problem import Array, Complementarity
from cardan.engine.complementarity.solution import Answer, MethodOptions, Stopped
from cardan.engine.solvers.direct.general import solve_general

# sweeps before the first Newton step and after each that failed; doubled with every failure
SWEEPS, MOST_SWEEPS = 25, 800
NEWTON_STEPS = 15
# halvings of a step before it counts as failed
HALVINGS = 8
# cycles without halving of the error before a restart
PATIENCE = 30
# default number of sweeps and Newton steps
DEFAULT_ITERATIONS = 20_000
# relative tolerance of a regularised problem
INNER_SHARE = 1e-2
# alpha: at the start, and at a restart from the best iterate
FIRST = (1e-4, 1e-2, 1.0)
# alpha: least, largest
LEAST, LARGEST = 1e-13, 1e2
# up to so many unknowns, above such a share of non-zeros, a full factor is cheaper than a sparse
# one; up to so few the threads of a library cost more than they gain
DENSE_UNKNOWNS, DENSE_SHARE, SMALL_UNKNOWNS = 1500, 0.1, 250


@dataclass(frozen=True)
class Held:
    """The problem regularised around a point."""

    problem: Complementarity
    hold: Array  # (n,) alpha D, added to the diagonal
    center: Array  # (n,) x_k
    rho: Array  # (n,)

    def velocities(self, x: Array) -> Array:
        """A x + b + hold (x - center)."""
        return np.asarray(measure.velocities(self.problem, x) + self.hold * (x - self.center))


def natural_map(held: Held, x: Array) -> tuple[Array, scipy.sparse.csr_matrix]:
    """F(x) and dG in blocks of contacts.

    Check   tests/engine/complementarity/test_proximal.py: dF against finite differences of F
    """
    p = held.problem
    s = x - held.rho * held.velocities(x)
    G, n_box = s.copy(), p.n_box
    G[:n_box] = np.clip(s[:n_box], p.lo, p.hi)
    inside = ((s[:n_box] > p.lo) & (s[:n_box] < p.hi)).astype(float)
    parts = [scipy.sparse.diags(inside)] if n_box else []
    if len(p.mu):
        size = 1 + p.tangents
        block = s[n_box:].reshape(-1, size)
        values, slopes = _contacts(block, p.mu)
        G[n_box:] = values.ravel()
        k = len(p.mu)
        starts, columns = np.arange(k + 1), np.arange(k)
        parts.append(scipy.sparse.bsr_matrix((slopes, columns, starts), shape=(k * size, k * size)))
    return x - G, scipy.sparse.block_diag(parts, format="csr")


def _contacts(s: Array, mu: Array) -> tuple[Array, Array]:
    """G (k, 1 + tangents) and dG (k, 1 + tangents, 1 + tangents) of contacts."""
    touching = s[:, 0] > 0.0
    normal = np.where(touching, s[:, 0], 0.0)
    t = s[:, 1:]
    length = np.sqrt(np.sum(t * t, axis=1))
    radius = mu * normal
    slides = (length >= radius) & (length > 0.0)
    unit = t / np.where(length > 0.0, length, 1.0)[:, None]
    turn = np.where(slides, radius / np.where(length > 0.0, length, 1.0), 1.0)
    values = np.column_stack([normal, np.where(slides[:, None], radius[:, None] * unit, t)])
    k, tangents = t.shape
    slopes = np.zeros((k, 1 + tangents, 1 + tangents))
    slopes[:, 0, 0] = touching
    slopes[:, 1:, 0] = np.where((slides & touching)[:, None], mu[:, None] * unit, 0.0)
    across = np.eye(tangents) - np.where(slides, 1.0, 0.0)[:, None, None] * (
        unit[:, :, None] * unit[:, None, :]
    )
    slopes[:, 1:, 1:] = turn[:, None, None] * across
    return values, slopes


def newton_matrix(held: Held, slopes: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Return dF = (I - dG) + dG rho (A + hold)."""
    p = held.problem
    whole = p.A + scipy.sparse.diags(held.hold)
    identity = scipy.sparse.identity(p.n, format="csr")
    return scipy.sparse.csr_matrix(
        identity - slopes + slopes @ (scipy.sparse.diags(held.rho) @ whole)
    )


def solve_square(M: scipy.sparse.csr_matrix, rhs: Array) -> Array | None:
    """M^-1 rhs by a dense or sparse factor; None for a singular M."""
    n = M.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if n <= SMALL_UNKNOWNS:
                x = rhs.copy()
                if not solve_general(M.toarray(), n, x):
                    return None
            elif n <= DENSE_UNKNOWNS and M.nnz > DENSE_SHARE * n * n:
                x = scipy.linalg.solve(M.toarray(), rhs, check_finite=False)
            else:
                x = scipy.sparse.linalg.splu(M.tocsc()).solve(rhs)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            return None
    return np.asarray(x) if np.isfinite(x).all() else None


def newton(held: Held, x: Array, tolerance: float, steps: int) -> tuple[Array, bool, int]:
    """Damped Newton on the regularised problem; x, whether |F| / rho <= tolerance, and steps."""

    def merit(F: Array) -> float:
        return float(np.linalg.norm(F / held.rho))

    F, slopes = natural_map(held, x)
    size = merit(F)
    for count in range(steps):
        if size <= tolerance:
            return x, True, count
        direction = solve_square(newton_matrix(held, slopes), F)
        if direction is None:
            return x, False, count
        share = 1.0
        for _ in range(HALVINGS):
            trial = x - share * direction
            F_new, slopes_new = natural_map(held, trial)
            new = merit(F_new)
            if new < (1.0 - 1e-4 * share) * size:
                break
            share *= 0.5
        else:
            return x, False, count + 1
        x, F, slopes, size = trial, F_new, slopes_new, new
    return x, size <= tolerance, steps


def feasible(problem: Complementarity, x: Array) -> Array:
    """The nearest point in the sets."""
    out = x.copy()
    n_box = problem.n_box
    out[:n_box] = np.clip(x[:n_box], problem.lo, problem.hi)
    if len(problem.mu):
        block = x[n_box:].reshape(len(problem.mu), -1)
        out[n_box:] = measure.nearest_in_cones(block, problem.mu).ravel()
    return out


class _Progress:
    """The best iterate, and the number of cycles since its error was twice as large."""

    def __init__(self, x: Array, error: float) -> None:
        """Start from a guess."""
        self.best, self.least = x, error
        self.goal, self.waited = 0.5 * error, 0

    def look(self, x: Array, error: float) -> None:
        """Record an iterate."""
        if error < self.least:
            self.best, self.least = x, error
        self.waited += 1
        if self.least <= self.goal:
            self.goal, self.waited = 0.5 * self.least, 0


def proximal(problem: Complementarity, options: MethodOptions) -> Answer:
    """Alternate sweeps, proximal points and Newton steps until both errors are within tolerance.

    The result obeys Coulomb's law also if the relaxation is requested; use apgd for that.

    Source  Rockafellar 1976 for proximal points; Alart and Curnier 1991 for F; Acary, Bremond and
            Huber 2018, "On solving contact problems with Coulomb friction", for the turns
    Check   tests/engine/complementarity/test_proximal.py
    """
    most = options.max_iterations or DEFAULT_ITERATIONS
    largest = float(np.abs(problem.b).max(initial=0.0))
    unit = largest if largest > 0.0 else 1.0
    history = list[float]()

    def error_of(x: Array) -> float:
        return max(measure.residual(problem, x) / unit, measure.coulomb_error(problem, x))

    def swept(x: Array, count: int) -> Array:
        return run(problem, "gauss_seidel", MethodOptions(0.0, count, guess=x)).x

    sweeps = min(SWEEPS, most)
    x = swept(np.zeros(problem.n) if options.guess is None else options.guess, sweeps)
    total, error = sweeps, error_of(x)
    progress, share, starts = _Progress(x, error), INNER_SHARE, list(FIRST)
    alpha = starts.pop(0)
    while progress.least > options.tolerance and total < most:
        if progress.waited >= PATIENCE:
            if not starts:
                break
            alpha, x, progress.waited = starts.pop(0), progress.best, 0
            error = progress.least
        D = problem.block_size
        held = Held(problem, alpha * D, x, 1.0 / ((1.0 + alpha) * D))
        inner = share * max(error, options.tolerance) * unit
        x, solved, count = newton(held, x, inner, min(NEWTON_STEPS, most - total))
        total += max(count, 1)
        if solved and count == 0:
            # the requested errors exceed the map that Newton minimises
            share *= 0.1
        if solved:
            alpha = max(0.1 * alpha, LEAST)
        else:
            alpha = min(10.0 * alpha, LARGEST)
            count = min(sweeps, max(most - total, 0))
            x = swept(x, count)
            total += count
            sweeps = min(2 * sweeps, MOST_SWEEPS)
        error = error_of(feasible(problem, x))
        history.append(error * unit)
        progress.look(feasible(problem, x), error)
    kept = np.array(history if options.history else [])
    return Answer(progress.best, _verdict(progress, options, total < most), total, "proximal", kept)


def _verdict(progress: _Progress, options: MethodOptions, had_more: bool) -> Stopped:
    """Status at the end."""
    if progress.least <= options.tolerance:
        return Stopped.TOLERANCE
    return Stopped.STALLED if had_more else Stopped.MAX_ITERATIONS
