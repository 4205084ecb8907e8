"""The classes of problems, one public function each: linear, LCP, mixed, box, cone.

LP and QP are in programs.py. Every function takes the same words after its own arguments: `method`
(methods.METHODS), `tolerance` (share of the largest |b|), `max_iterations` (0: the method's own),
`relaxation`, `guess` (warm start), `history` (keep residuals); it raises ProblemError, a ValueError
that names the argument, and returns a Solution, measured by code independent of the solvers.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cardan.engine.complementarity.methods import solve
from cardan.engine.complementarity.problem import ProblemError, problem, vector
from cardan.engine.complementarity.solution import MethodOptions, Solution


class Options(TypedDict, total=False):
    """Keyword options of the public functions."""

    method: str
    tolerance: float
    max_iterations: int
    relaxation: float
    guess: ArrayLike | None
    history: bool


def split_options(options: Options) -> tuple[str, MethodOptions]:
    """Method and its options. Raises ProblemError."""
    known = Options.__annotations__
    for name in options:
        if name not in known:
            raise ProblemError(name, f"is no option; there are {', '.join(known)}")
    guess = options.get("guess")
    chosen = MethodOptions(
        options.get("tolerance", 1e-10),
        options.get("max_iterations", 0),
        options.get("relaxation", 1.0),
        options.get("history", False),
        None if guess is None else vector("guess", guess),
    )
    if not chosen.tolerance >= 0.0:
        raise ProblemError("tolerance", f"is {chosen.tolerance}; 0 or more is needed")
    if chosen.max_iterations < 0:
        raise ProblemError("max_iterations", f"is {chosen.max_iterations}; 0 or more is needed")
    return options.get("method", "auto"), chosen


def solve_linear(A: Any, b: ArrayLike, **options: Unpack[Options]) -> Solution:
    """A x = b;  `w` of the solution is A x - b.

    Methods: direct, jacobi, gauss_seidel, sor, and whatever solves boxes.
    """
    rhs = vector("b", b)
    infinite = np.full(len(rhs), np.inf)
    return solve(problem(A, -rhs, -infinite, infinite), *split_options(options))


def solve_lcp(M: Any, q: ArrayLike, **options: Unpack[Options]) -> Solution:
    """x >= 0,  w = M x + q >= 0,  x w = 0."""
    rhs = vector("q", q)
    try:
        asked = problem(M, rhs, np.zeros(len(rhs)), np.full(len(rhs), np.inf))
    except ProblemError as error:
        raise _renamed(error, A="M", b="q") from error
    return solve(asked, *split_options(options))


def solve_mixed_lcp(
    M: Any, q: ArrayLike, equations: ArrayLike, **options: Unpack[Options]
) -> Solution:
    """w = M x + q: w = 0 and x free in the rows `equations`; elsewhere x >= 0, w >= 0, x w = 0.

    equations   indices, or one truth value per row
    """
    rhs = vector("q", q)
    lo = np.zeros(len(rhs))
    chosen = np.asarray(equations)
    if chosen.dtype == bool and chosen.shape != rhs.shape:
        raise ProblemError("equations", f"has {chosen.size} truth values for {len(rhs)} rows")
    if chosen.dtype != bool and chosen.size:
        if not np.issubdtype(chosen.dtype, np.integer):
            raise ProblemError("equations", "must be row indices or truth values")
        if chosen.min() < 0 or chosen.max() >= len(rhs):
            raise ProblemError("equations", f"names a row outside of 0 ... {len(rhs) - 1}")
    if chosen.size:
        lo[chosen] = -np.inf
    try:
        asked = problem(M, rhs, lo, np.full(len(rhs), np.inf))
    except ProblemError as error:
        raise _renamed(error, A="M", b="q") from error
    return solve(asked, *split_options(options))


def solve_box_lcp(
    A: Any, b: ArrayLike, lo: ArrayLike, hi: ArrayLike, **options: Unpack[Options]
) -> Solution:
    """lo <= x <= hi, w = A x + b: x on lo -> w >= 0, strictly inside -> w = 0, on hi -> w <= 0.

    lo, hi   one number per row, or one for all; may be infinite; lo = hi: given
    """
    n = len(vector("b", b))
    try:
        low, high = np.broadcast_to(lo, n), np.broadcast_to(hi, n)
    except ValueError as error:
        raise ProblemError("lo", f"`lo` and `hi` must be numbers or have {n} entries") from error
    return solve(problem(A, b, low, high), *split_options(options))


def solve_cone(
    W: Any,
    q: ArrayLike,
    mu: ArrayLike,
    *,
    dimension: int = 3,
    law: str = "coulomb",
    **options: Unpack[Options],
) -> Solution:
    """Friction contacts: u = W r + q, r in the cones |r_t| <= mu r_n, normal first in each block.

    dimension   3 (two tangents) or 2 (one)
    law         coulomb: K* contains u + mu |u_t| n, orthogonal to r (friction opposes sliding);
                relaxed: K* contains u, orthogonal to r: the convex problem. Its solution carries
                its true Coulomb error, which is not small where contacts slide.
    """
    if dimension not in (2, 3):
        raise ProblemError("dimension", f"is {dimension}; 2 or 3 is allowed")
    if law not in ("coulomb", "relaxed"):
        raise ProblemError("law", f"is '{law}'; 'coulomb' or 'relaxed' is allowed")
    try:
        asked = problem(W, q, mu=mu, tangents=dimension - 1, relaxed=law == "relaxed")
    except ProblemError as error:
        raise _renamed(error, A="W", b="q") from error
    return solve(asked, *split_options(options))


def _renamed(error: ProblemError, **names: str) -> ProblemError:
    """The same fault under the name the caller's function gives the argument."""
    message = str(error).removeprefix(f"{error.where}: ")
    return ProblemError(names.get(error.where, error.where), message)
