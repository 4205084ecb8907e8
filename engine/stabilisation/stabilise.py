"""Position errors after the step: what `simulation.stabilisation` asks for."""

from __future__ import annotations

from engine.diagnostics.energy import stored_energy
from engine.kernel import kernel
from engine.stabilisation.equations import correct_equations
from engine.stabilisation.one_sided import correct_violations, is_anything_due
from engine.stabilisation.sets import return_energy, return_momentum
from engine.world.model import Model
from engine.world.options import StepOptions
from engine.world.report import Report
from engine.world.state import LEDGER_CORRECTION, State
from engine.world.workspace import Workspace


@kernel
def stabilise(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> None:
    """Correct the poses at the end of the step; what that does to the energy is booked.

        split impulse   a share erp of every error goes
        projection      joints are put in place to IN_PLACE; of stops and contacts the share goes

    Reads   rows and problem of the kick, report of its solve; positions.gained: what equations did
    Writes  state: poses, velocities (to keep momenta and energy), ledger, momentum_in
    Source  decisions 0046, 0051
    Check   tests/laws/test_stabilisation.py
    """
    rows, positions, bodies = work.rows, work.positions, model.bodies
    if rows.count[0] == 0:
        return
    if rows.count[1] == 0 and not is_anything_due(model, state, work, positions, options):
        return
    before = stored_energy(model, state)
    positions.lost[:] = 0.0
    correction = correct_equations(model, state, work, options, report)
    correction += correct_violations(model, state, work, options)
    correction += return_momentum(bodies, rows, positions, state)
    correction += return_energy(bodies, rows, positions, state)
    state.ledger[LEDGER_CORRECTION] += correction + stored_energy(model, state) - before
