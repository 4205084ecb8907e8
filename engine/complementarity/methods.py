"""Methods by name, and `auto`: from a problem to a measured solution."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from cardan.engine.complementarity import iterations, measure
from cardan.engine.complementarity.certificate import infeasibility
from cardan.engine.complementarity.pivots import lemke, pivoting, refuse_contacts
from cardan.engine.complementarity.problem import Array, Complementarity, ProblemError
from cardan.engine.complementarity.proximal import proximal
from cardan.engine.complementarity.solution import Answer, MethodOptions, Solution, Stopped

Method = Callable[[Complementarity, MethodOptions], Answer]

# unknowns up to which `auto` pivots: a full matrix, n^3
PIVOTED = 400
# sweeps of nncg with which `auto` begins on contacts, and after a method that stalled
FIRST_SWEEPS, MORE_SWEEPS = 300, 20_000
# proximal point steps after all exact methods failed
LAST_STEPS = 2000
# methods that also solve the convex relaxation
RELAXED = ("auto", "apgd", "gauss_seidel")
# methods after which a certificate of infeasibility is searched for
PROVED = ("auto", "direct", "lemke", "pivoting")
# residual, as a share of the largest |b|, above which a method's `tolerance` status is rejected
BELIEVED = 1e-3
# share of the largest eigenvalue that a negative one may have and count as 0
INDEFINITE = 1e-10


def direct(problem: Complementarity, options: MethodOptions) -> Answer:
    """Solve equations by a factor, refined once; singular ones by least norm, if solvable."""
    refuse_contacts(problem, "direct")
    if np.isfinite(problem.lo).any() or np.isfinite(problem.hi).any():
        raise ProblemError("method", "'direct' solves equations; there are bounds")
    unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    # the factor of a nearly singular matrix may be inaccurate: use the least-norm solution then
    for solved in (_by_factor, _shortest):
        # a guess is a first approximation like any other
        x = np.zeros(problem.n) if options.guess is None else options.guess.copy()
        for _ in range(2):
            x = x - solved(problem, measure.velocities(problem, x))
        if measure.residual(problem, x) <= 1e-8 * unit:
            return Answer(x, Stopped.EXACT, 1, "direct", np.zeros(0))
    return Answer(x, Stopped.NOT_FOUND, 1, "direct", np.zeros(0))


def _by_factor(problem: Complementarity, rhs: Array) -> Array:
    """A^-1 rhs; not a number where there is no inverse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if problem.n > PIVOTED and problem.A.nnz < 0.1 * problem.n**2:
                return np.asarray(scipy.sparse.linalg.splu(problem.A.tocsc()).solve(rhs))
            return np.asarray(scipy.linalg.solve(problem.dense, rhs, check_finite=False))
        except (RuntimeError, np.linalg.LinAlgError):
            return np.full(problem.n, np.nan)


def _shortest(problem: Complementarity, rhs: Array) -> Array:
    """Least-norm x that minimises |A x - rhs|."""
    return np.asarray(np.linalg.lstsq(problem.dense, rhs, rcond=None)[0])


def _is_convex(problem: Complementarity) -> bool:
    """Whether A is symmetric and has no negative eigenvalue."""
    if not problem.is_symmetric:
        return False
    eigenvalues = np.linalg.eigvalsh(problem.dense)
    return bool(eigenvalues[0] >= -INDEFINITE * max(eigenvalues[-1], 0.0))


def auto(problem: Complementarity, options: MethodOptions) -> Answer:
    """Choose by size and type: exact methods for small boxes, else sweeps and proximal points."""
    if problem.n == 0:
        return Answer(np.zeros(0), Stopped.EXACT, 0, "direct", np.zeros(0))
    if not len(problem.mu):
        if np.isinf(problem.lo).all() and np.isinf(problem.hi).all():
            return direct(problem, options)
        if problem.n <= PIVOTED:
            return _exact(problem, options)
    if problem.relaxed and len(problem.mu):
        return iterations.run(problem, "apgd", _at_most(options, MORE_SWEEPS))
    return _first_that_ends(problem, options)


def _exact(problem: Complementarity, options: MethodOptions) -> Answer:
    """Pivoting for convex problems, then Lemke's method, then proximal points."""
    if _is_convex(problem):
        answer = pivoting(problem, options)
        unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
        good = measure.residual(problem, answer.x) <= 1e-9 * unit
        if answer.stopped is Stopped.EXACT and good:
            return answer
    answer = lemke(problem, options)
    if answer.stopped is not Stopped.NOT_FOUND or infeasibility(problem) is not None:
        return answer
    # where it diverges it is no answer either
    with np.errstate(over="ignore", invalid="ignore"):
        other = proximal(problem, replace(options, max_iterations=LAST_STEPS))
    return other if other.stopped is Stopped.TOLERANCE else answer


def _at_most(options: MethodOptions, count: int) -> MethodOptions:
    """The options, with `count` iterations unless max_iterations is given."""
    return options if options.max_iterations else replace(options, max_iterations=count)


def _first_that_ends(problem: Complementarity, options: MethodOptions) -> Answer:
    """Sweeps, then proximal points from their result, then sweeps and gradients; keep the best."""
    best = Answer(np.zeros(problem.n), Stopped.STALLED, 0, "nncg", np.zeros(0))
    least, total, guess = np.inf, 0, options.guess
    for name, count in (
        ("nncg", FIRST_SWEEPS),
        ("proximal", 0),
        ("apgd", MORE_SWEEPS),
        ("nncg", MORE_SWEEPS),
    ):
        answer = METHODS[name](problem, replace(options, max_iterations=count, guess=guess))
        total += answer.iterations
        error = _error(problem, answer.x)
        if error <= least:
            least, best, guess = error, answer, answer.x
        if least <= options.tolerance:
            return replace(best, stopped=Stopped.TOLERANCE, iterations=total)
        if options.max_iterations and total >= options.max_iterations:
            return replace(best, stopped=Stopped.MAX_ITERATIONS, iterations=total)
    return replace(best, stopped=Stopped.STALLED, iterations=total)


def _error(problem: Complementarity, x: np.ndarray) -> float:
    """Residual as a share of |b|, or the Coulomb error if that is larger."""
    unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    error = measure.residual(problem, x) / unit
    return error if problem.relaxed else max(error, measure.coulomb_error(problem, x))


def _iteration(name: str) -> Method:
    return lambda problem, options: iterations.run(problem, name, options)


METHODS: dict[str, Method] = {
    "auto": auto,
    "direct": direct,
    "lemke": lemke,
    "pivoting": pivoting,
    **{name: _iteration(name) for name in iterations.METHODS},
    "proximal": proximal,
}


def solve(
    problem: Complementarity, method: str = "auto", options: MethodOptions | None = None
) -> Solution:
    """Solve and measure. Raises ProblemError for a method that does not suit the problem.

    `no_solution` comes with its proof (Solution.certificate); without a solution and without a
    proof it is `not_found`.

    Check   tests/engine/complementarity/test_classes.py
    """
    options = options or MethodOptions()
    if method not in METHODS:
        raise ProblemError("method", f"is '{method}'; allowed are {', '.join(METHODS)}")
    if not 0.0 < options.relaxation < 2.0:
        raise ProblemError("relaxation", f"is {options.relaxation:g}; it must lie between 0 and 2")
    if options.guess is not None and np.shape(options.guess) != (problem.n,):
        raise ProblemError(
            "guess", f"has shape {np.shape(options.guess)}; {(problem.n,)} is needed"
        )
    if problem.relaxed and method not in RELAXED:
        allowed = ", ".join(RELAXED)
        raise ProblemError("method", f"'{method}' solves Coulomb's law; the relaxation: {allowed}")
    answer = METHODS[method](problem, options)
    residual, history = measure.residual(problem, answer.x), answer.history
    stopped, proof = answer.stopped, None
    unit = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    if stopped is Stopped.TOLERANCE and not residual <= max(options.tolerance, BELIEVED) * unit:
        # x has diverged: w is below its rounding error
        stopped = Stopped.STALLED
    if stopped in (Stopped.NOT_FOUND, Stopped.STALLED) and method in PROVED:
        proof = infeasibility(problem)
        stopped = stopped if proof is None else Stopped.NO_SOLUTION
    if options.history and not len(history):
        # a method without steps has only a first and a last residual
        start = np.zeros(problem.n) if options.guess is None else options.guess
        history = np.array([measure.residual(problem, start), residual])
    return Solution(
        answer.x,
        measure.velocities(problem, answer.x),
        residual,
        measure.coulomb_error(problem, answer.x),
        stopped,
        answer.iterations,
        answer.method,
        history,
        proof,
    )
