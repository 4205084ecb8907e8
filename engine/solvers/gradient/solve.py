"""All iterations on a System: one kernel for scenes and for plain matrices.

A scene's A is applied by bodies, that of engine/complementarity by its non-zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.gradient.apgd import apgd
from cardan.engine.solvers.gradient.nncg import nncg
from cardan.engine.solvers.gradient.subspace import pgs_sm
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.iterate import iterate_sweeps
from cardan.engine.solvers.sweeps.jacobi import jacobi
from cardan.engine.solvers.sweeps.matrix import Matrix
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


class Iteration(NamedTuple):
    """Which iteration, and how."""

    method: int  # SolverMethod: JACOBI, NNCG, PGS_SM or APGD; else sweeps of Gauss-Seidel
    relaxation: float  # [-]   omega of Jacobi and of sweeps
    safe: int  # 1: steps of Jacobi that converge for symmetric A >= 0; 0: the classic 1 / D
    coulomb: int  # 1: Coulomb's law; 0: its convex relaxation (sweeps and APGD)


@kernel
def iterate(system: System, rules: StoppingRules, iteration: Iteration) -> tuple[int, int]:
    """Iterate until a rule applies; return STOPPED_..., iterations.

    Reads   problem.lam   guess
    Writes  problem.lam, system.history; all else of the system that can be written is scratch
    Check   tests/engine/solvers/sweeps/test_system.py
    """
    method = iteration.method
    if method == JACOBI:
        return jacobi(system, rules, iteration.relaxation, iteration.safe)
    if method == NNCG:
        return nncg(system, rules)
    if method == PGS_SM:
        return pgs_sm(system, rules)
    if method == APGD:
        return apgd(system, rules, iteration.coulomb)
    return iterate_sweeps(system, rules, iteration.relaxation, iteration.coulomb)


@kernel
def iterate_on_bodies(
    problem: Problem, dense: Dense, v: NDArray, rules: StoppingRules, iteration: Iteration
) -> tuple[int, int]:
    """`iterate` on a scene's problem, whose A is that of bodies; STOPPED_..., iterations.

    The System is made in the frame of this kernel: one that returned it would copy a problem and
    its trees value by value, which alone was a thousand stores to compile at each call.

    Writes  problem.lam; problem.w, v and dense.iterates are scratch
    """
    none = dense.indices[0, :0]
    matrix = Matrix(dense.indices[0, :1], none, dense.vectors[0, :0])
    system = System(problem, matrix, v, dense.iterates, dense.vectors[0, :0])
    return iterate(system, rules, iteration)


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
    most = options.max_iterations if options.max_iterations > 0 else ITERATIONS
    rules = StoppingRules(most, options.tolerance, -1.0)
    iteration = Iteration(method, options.relaxation, 1, 1)
    status, count = iterate_on_bodies(problem, dense, v, rules, iteration)
    if (
        method == APGD
        and problem.friction_kind[0] != FRICTION_CONE
        and problem.count[0] > problem.count[1]
    ):
        # it solves the round cone, whatever set the options name: more iterations do not help
        status = STOPPED_STALLED
    return status, count
