"""Work that an idle thread does for another one's step (decision 0650)."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.islands import help_to_sweep
from cardan.engine.solvers.sweeps.simd.work import KINDS_OF_WORK
from cardan.engine.step.shared import STEP, do_step_parts
from cardan.engine.threads.shares import await_share, end_shares, work_of
from cardan.engine.world.crew import CLOSED
from cardan.engine.world.world import World


@kernel
def assist(world: World, me: int) -> None:
    """Do shares of what the thread that steps offers, until its run is over.

    Reads   a world with the arrays of that thread, but scratch of its own; number of this one
    """
    crew = world.work.dense.lanes.crew
    while True:
        ticket = await_share(crew, me)
        if ticket == CLOSED:
            return
        if work_of(ticket) // KINDS_OF_WORK == STEP:
            do_step_parts(world, ticket)
        else:
            help_to_sweep(world, ticket)
        end_shares(crew, ticket)
