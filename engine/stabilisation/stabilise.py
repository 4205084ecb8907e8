"""Position errors after the step: what `simulation.stabilisation` asks for."""

from __future__ import annotations

from engine.diagnostics.energy import kinetic_energy, potential_energy
from engine.diagnostics.ledger import mean_row_speed
from engine.kernel import kernel
from engine.stabilisation.equations import correct_equations
from engine.stabilisation.one_sided import correct_violations
from engine.stabilisation.shift import return_momentum
from engine.world.model import Model
from engine.world.options import Stabilisation, StepOptions
from engine.world.problem import Problem
from engine.world.report import Report
from engine.world.rows import Rows
from engine.world.state import LEDGER_CORRECTION, State
from engine.world.workspace import Motion, Workspace

PROJECTION = int(Stabilisation.PROJECTION)


@kernel
def keep_accounts(rows: Rows, problem: Problem, motion: Motion, state: State) -> None:
    """Add the work of every steady equation to its account.

    Reads   velocities before (motion) and after (state) the kick
    Writes  state.joint_work
    """
    for i in range(rows.count[1]):
        if rows.steady[i] == 1:
            work = problem.lam[i] * mean_row_speed(rows, i, motion, state)
            state.joint_work[rows.joint[i], rows.slot[i]] += work


@kernel
def stabilise(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> None:
    """Correct the poses at the end of the step; what that does to the energy is booked.

        split impulse   a share erp of every error goes
        projection      joints are put in place to IN_PLACE; of stops and contacts the share goes

    Reads   rows and problem of the kick, report of its solve
    Writes  state: poses, velocities (to keep momenta), ledger, momentum_in
    Source  decision 0046
    Check   tests/laws/test_stabilisation.py
    """
    rows, problem, positions = work.rows, work.problem, work.positions
    if rows.count[0] == 0:
        return
    before = kinetic_energy(model.bodies, state) + potential_energy(model, state)
    positions.lost[:] = 0.0
    at_once = options.stabilisation == PROJECTION
    correct_equations(model, state, rows, problem, work.dense, positions, report, at_once)
    correct_violations(model, state, work, options)
    return_momentum(model.bodies, problem, positions, state)
    after = kinetic_energy(model.bodies, state) + potential_energy(model, state)
    state.ledger[LEDGER_CORRECTION] += after - before
