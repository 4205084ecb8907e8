"""Position correction after the step, by the method of `simulation.stabilisation`."""

from __future__ import annotations

from cardan.engine.accounting.energy import stored_energy
from cardan.engine.compiler.kernel import kernel
from cardan.engine.stabilisation.equations import correct_equations
from cardan.engine.stabilisation.momentum import return_energy, return_momentum
from cardan.engine.stabilisation.one_sided import correct_violations, is_anything_due
from cardan.engine.world.options import Stabilisation
from cardan.engine.world.state import LEDGER_CORRECTION
from cardan.engine.world.world import World

BAUMGARTE, CONTACTS = int(Stabilisation.BAUMGARTE), int(Stabilisation.CONTACTS)


@kernel
def correct_contacts(world: World) -> None:
    """Remove a share of the depth of contacts from the poses of bodies and trees."""
    state, rows, positions = world.state, world.work.rows, world.work.positions
    if rows.count[1] == rows.count[0]:
        return
    for i in range(rows.count[1]):
        positions.wanted[i] = 0.0
    if not is_anything_due(world):
        return
    before = stored_energy(world.model, state)
    positions.lost[:] = 0.0
    correction = correct_violations(world) + return_momentum(world)
    state.ledger[LEDGER_CORRECTION] += correction + stored_energy(world.model, state) - before


@kernel
def correct_positions(world: World) -> None:
    """Correct the poses at the end of the step and book the change of energy.

        split impulse   removes a share erp of every error
        projection      removes joint errors down to IN_PLACE, and the share of stops and contacts
        contacts        removes the share of contacts alone, with trees; kicks do the rest

    Reads   rows and problem of the kick, report of its solve; positions.gained: work of the
            equations
    Writes  state: poses, velocities (to keep momenta and energy), ledger, momentum_in;
            positions.lost
    Source  decisions 0046, 0051
    Check   tests/laws/test_stabilisation.py
    """
    model, state, options = world.model, world.state, world.options
    rows = world.work.rows
    if options.stabilisation == BAUMGARTE or rows.count[0] == 0:
        return
    if options.stabilisation == CONTACTS:
        correct_contacts(world)
        return
    if rows.count[1] == 0 and not is_anything_due(world):
        return
    before = stored_energy(model, state)
    world.work.positions.lost[:] = 0.0
    correction = correct_equations(world)
    correction += correct_violations(world)
    correction += return_momentum(world)
    if options.energy_return == 1:
        correction += return_energy(world)
    state.ledger[LEDGER_CORRECTION] += correction + stored_energy(model, state) - before
