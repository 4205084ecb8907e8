"""Position correction after the step, by the method of `simulation.stabilisation`."""

from __future__ import annotations

from cardan.engine.accounting.energy import stored_energy
from cardan.engine.compiler.kernel import kernel
from cardan.engine.stabilisation.equations import correct_equations
from cardan.engine.stabilisation.momentum import return_energy, return_momentum
from cardan.engine.stabilisation.one_sided import correct_violations, is_anything_due
from cardan.engine.stabilisation.tangent import are_joints_shifted
from cardan.engine.world.options import Stabilisation
from cardan.engine.world.state import LEDGER_CORRECTION
from cardan.engine.world.world import World

BAUMGARTE = int(Stabilisation.BAUMGARTE)


@kernel
def correct_positions(world: World) -> None:
    """Correct the poses at the end of the step and book the change of energy.

        split impulse   removes a share erp of every error
        projection      removes joint errors down to IN_PLACE, and the share of stops and contacts
        one-sided       removes the share of stops and contacts, with trees; kicks close loops

    Reads   rows and problem of the kick, report of its solve; positions.gained: work of the
            equations
    Writes  state: poses, velocities (to keep momenta and energy), ledger, momentum_in;
            positions.lost
    Source  decisions 0046, 0051
    Check   tests/laws/test_stabilisation.py
    """
    model, state, options = world.model, world.state, world.options
    rows, positions = world.work.rows, world.work.positions
    of_joints = are_joints_shifted(world)
    if options.stabilisation == BAUMGARTE or rows.count[0] == 0:
        return
    if not of_joints:
        for i in range(rows.count[1]):
            positions.wanted[i] = 0.0
        if not is_anything_due(world):
            return
    before = stored_energy(model, state)
    positions.lost[:] = 0.0
    correction = correct_equations(world) if of_joints else 0.0
    correction += correct_violations(world)
    correction += return_momentum(world)
    if of_joints and options.energy_return == 1:
        correction += return_energy(world)
    state.ledger[LEDGER_CORRECTION] += correction + stored_energy(model, state) - before
