"""What a solver leaves in each step, measured by a run with an exact one.

Half the step (doubling.py) says nothing of it: a run that other steps trust, and whose residuals
might matter, is done once more with the same step and an exact solution. So is one whose solver
iterates over contacts beside joints: where both hold a body, no residual shows how they share its
load, and friction follows the share of the contacts.
"""

from __future__ import annotations

from cardan.engine.build.limits import body_lengths
from cardan.engine.verdict.doubling import EXCEEDED, Array, Finding, Shares, worst_body
from cardan.engine.verdict.findings import Names
from cardan.engine.verdict.motion import STEP_SHARE, of_body
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import SolverMethod, StepOptions
from cardan.engine.world.state import EXTREME_CONTACTS, EXTREME_RESIDUAL, State

SOLVER_CHANGE = (
    "Give `simulation.solver` a smaller `tolerance` and more `max_iterations`, or let its `method` "
    'be "auto".'
)

# what residuals may add up to, as a share of the shortest body, before the solver is looked at
LEFT_SHARE = 1e-3
# fields of a scene's solver that make its sweeps exact: tolerance [m/s] and sweeps
EXACT_TOLERANCE, EXACT_SWEEPS = 1e-10, 2000
EXACT = {"tolerance": EXACT_TOLERANCE, "max_iterations": EXACT_SWEEPS}
# methods that end near one of several solutions
ITERATIVE = (
    SolverMethod.PGS,
    SolverMethod.SOR,
    SolverMethod.GAUSS_SEIDEL,
    SolverMethod.JACOBI,
    SolverMethod.NNCG,
    SolverMethod.PGS_SM,
    SolverMethod.APGD,
    SolverMethod.PROXIMAL,
)


def may_share_load(model: Model, state: State, options: StepOptions) -> bool:
    """Whether an iterative solver shared loads between contacts and joints."""
    both = len(model.tree.inner) > 0 and state.extremes[EXTREME_CONTACTS] > 0.0
    return bool(both and options.solver.method in ITERATIVE)


def may_depend_on_solver(model: Model, state: State, options: StepOptions) -> bool:
    """Whether the largest residual would matter if it were left in every step, or loads were shared
    with contacts in one of several ways."""
    if may_share_load(model, state, options):
        return True
    moving = model.bodies.kind == DYNAMIC
    shortest = float(body_lengths(model, state.p_WB)[moving].min())
    return float(state.extremes[EXTREME_RESIDUAL] * state.time[0]) > LEFT_SHARE * shortest


def solver_findings(errors: Array, shares: Shares, names: Names) -> list[Finding]:
    """The finding of a run whose motions differ by `errors` (m,), over their reaches, from those
    with an exact solution of contacts and joints."""
    value, body = worst_body(errors, shares)
    if not value > EXCEEDED:
        return []
    more = {"value": value, "limit": STEP_SHARE, "unit": "-", "change": SOLVER_CHANGE}
    return [of_body(shares.state, names, body, quantity="solver_error", **more)]
