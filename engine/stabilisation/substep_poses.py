"""Shift of poses from the end of a single kick and drift to the end of the substeps."""

from __future__ import annotations

from cardan.engine.accounting.energy import stored_energy
from cardan.engine.compiler.kernel import kernel
from cardan.engine.stabilisation.momentum import return_momentum
from cardan.engine.stabilisation.shift import shift_body
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.state import LEDGER_CORRECTION
from cardan.engine.world.world import World

SMALL_STEPS = int(SolverMethod.SMALL_STEPS)


@kernel
def follow_substeps(world: World) -> None:
    """Move poses at the end of a step to those of its substeps; keep momenta, book energy.

    The shift contains the push-out of soft rows and the motion of a body before it was stopped; the
    potential energy of both is booked as correction.

    Reads   work.substeps.shift; work.rows: which bodies are joined
    Writes  state: poses, velocities (to keep momenta), ledger, momentum_in
    Check   tests/laws/test_small_steps.py
    """
    model, state, work = world.model, world.state, world.work
    bodies, shift = model.bodies, work.substeps.shift
    if world.options.solver.method != SMALL_STEPS or work.rows.count[0] == 0:
        return
    before = stored_energy(model, state)
    work.positions.lost[:] = 0.0
    correction = 0.0
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            correction += shift_body(world, i, shift[i])
    correction += return_momentum(world)
    state.ledger[LEDGER_CORRECTION] += correction + stored_energy(model, state) - before
