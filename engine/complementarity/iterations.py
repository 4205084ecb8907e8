"""The iterations of engine/solvers on problems given as matrices: the same compiled kernels."""

from __future__ import annotations

import numpy as np

from cardan.engine.complementarity.problem import Array, Complementarity
from cardan.engine.complementarity.solution import STOPPED, Answer, MethodOptions
from cardan.engine.solvers.gradient.solve import Iteration, iterate
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.matrix import Matrix
from cardan.engine.solvers.sweeps.system import N_VECTORS, System
from cardan.engine.trees.arrays import no_mobility
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_CONE, Problem

# default number of iterations
DEFAULT_ITERATIONS = 2000

METHODS = {
    "jacobi": int(SolverMethod.JACOBI),
    "gauss_seidel": int(SolverMethod.PGS),
    "sor": int(SolverMethod.SOR),
    "pgs_sm": int(SolverMethod.PGS_SM),
    "nncg": int(SolverMethod.NNCG),
    "apgd": int(SolverMethod.APGD),
}


class Rows:
    """Map from the unknowns of a problem to the kernels' rows, three per contact."""

    def __init__(self, problem: Complementarity) -> None:
        """Number the rows; plane contacts get a second tangent with zero coupling."""
        n_box, n_contacts = problem.n_box, len(problem.mu)
        self.n = n_box + 3 * n_contacts
        contacts = n_box + 3 * np.arange(n_contacts)[:, None] + np.arange(1 + problem.tangents)
        self.of = np.concatenate([np.arange(n_box), contacts.ravel()]).astype(np.int64)

    def spread(self, x: Array) -> Array:
        """A vector (n,) of unknowns over the rows."""
        out = np.zeros(self.n)
        out[self.of] = x
        return out


def system_of(
    problem: Complementarity, options: MethodOptions, iterations: int
) -> tuple[System, Rows]:
    """The kernels' view of a problem, lam at the guess."""
    rows = Rows(problem)
    n, n_box = rows.n, problem.n_box
    A = problem.A
    counts = np.zeros(n, np.int64)
    counts[rows.of] = np.diff(A.indptr)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    matrix = Matrix(start, rows.of[A.indices], A.data.astype(float))
    lo, hi, mu = np.zeros(n), np.full(n, np.inf), np.zeros(n)
    lo[:n_box], hi[:n_box] = problem.lo, problem.hi
    mu[n_box:] = np.repeat(problem.mu, 3)
    normal = np.full(n, -1, np.int64)
    none, nothing = np.zeros(0, np.int64), np.zeros((0, 6))
    guess = np.zeros(problem.n) if options.guess is None else options.guess
    view = Problem(
        number=np.zeros(1, np.int64),
        count=np.array([n, n_box, 0], np.int64),
        body_a=none,
        body_b=none,
        J_a=nothing,
        J_b=nothing,
        MJ_a=nothing,
        MJ_b=nothing,
        diagonal=rows.spread(A.diagonal()),
        inverse_mass=np.zeros(0),
        inverse_inertia=np.zeros((0, 3, 3)),
        velocity_old=nothing,
        velocity_free=nothing,
        cfm=np.zeros(0),
        b=rows.spread(problem.b),
        error=np.zeros(0),
        joint=none,
        sweep_bias_delta=np.zeros(0),
        lo=lo,
        hi=hi,
        normal_row=normal,
        mu=mu,
        friction_kind=np.array([FRICTION_CONE, 3], np.int64),
        lam=rows.spread(guess),
        w=np.zeros(n),
        mobility=no_mobility(),
    )
    history = np.full(iterations if options.history else 0, np.nan)
    return System(view, matrix, nothing, np.zeros((N_VECTORS, n)), history), rows


def run(problem: Complementarity, method: str, options: MethodOptions) -> Answer:
    """Run one of METHODS; its tolerance is a share of the largest |b|."""
    most = options.max_iterations or DEFAULT_ITERATIONS
    system, rows = system_of(problem, options, most)
    unit = float(np.abs(problem.b).max(initial=0.0))
    stopping = StoppingRules(most, options.tolerance * unit, -1.0)
    # equations get the classic step of Jacobi, whose convergence is the textbook's
    linear = bool(np.all(np.isinf(problem.lo)) and np.all(np.isinf(problem.hi)))
    iteration = Iteration(
        METHODS[method],
        options.relaxation if method in ("jacobi", "sor") else 1.0,
        safe=int(not linear or len(problem.mu) > 0),
        coulomb=int(not problem.relaxed),
    )
    status, count = iterate(system, stopping, iteration)
    x = system.problem.lam[rows.of]
    return Answer(x, STOPPED[status], int(count), method, system.history[:count])
