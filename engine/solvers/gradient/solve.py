"""Jacobi, NNCG, PGS-SM and APGD for the constraint problem of a scene.

A is applied as an operator; engine/complementarity runs the same kernels on matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.gradient.apgd import apgd
from cardan.engine.solvers.gradient.nncg import nncg
from cardan.engine.solvers.gradient.subspace import pgs_sm
from cardan.engine.solvers.sweeps.csr import Matrix
from cardan.engine.solvers.sweeps.jacobi import jacobi
from cardan.engine.solvers.sweeps.system import System
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import STOPPED_STALLED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.options import SolverOptions
    from cardan.engine.world.problem import Dense, Problem

JACOBI = int(SolverMethod.JACOBI)
NNCG = int(SolverMethod.NNCG)
PGS_SM = int(SolverMethod.PGS_SM)
APGD = int(SolverMethod.APGD)

# iterations where max_iterations is 0
ITERATIONS = 500


@kernel
def is_iterated(method: int) -> bool:
    """Whether a method is solved by `solve_iterated`."""
    return JACOBI <= method <= APGD


@kernel
def solve_iterated(
    problem: Problem, dense: Dense, v: NDArray, options: SolverOptions, method: int
) -> tuple[int, int]:
    """Solve by Jacobi, NNCG, PGS-SM or APGD; return STOPPED_..., iterations.

    APGD solves Coulomb's law, not its relaxation: it updates De Saxce's shift.

    Reads   problem.lam   guess;   dense.iterates must have room (solve.fits)
    Writes  problem.lam; problem.w, v and dense.iterates are scratch
    Check   tests/engine/solvers/test_solve.py
    """
    none = dense.indices[0, :0]
    matrix = Matrix(dense.indices[0, :1], none, dense.vectors[0, :0])
    system = System(problem, matrix, v, dense.iterates, dense.vectors[0, :0])
    most = options.max_iterations if options.max_iterations > 0 else ITERATIONS
    if method == JACOBI:
        return jacobi(system, most, options.tolerance, options.relaxation, 1)
    if method == NNCG:
        return nncg(system, most, options.tolerance)
    if method == PGS_SM:
        return pgs_sm(system, most, options.tolerance)
    status, count = apgd(system, most, options.tolerance, 1)
    if problem.friction_kind[0] != FRICTION_CONE and problem.count[0] > problem.count[1]:
        # APGD solves the round cone, whatever set the options name
        status = STOPPED_STALLED
    return status, count
