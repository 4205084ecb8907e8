"""Bodies that bounce off two others at once: what comes of it depends on the law of restitution."""

from __future__ import annotations

import math

from cardan.engine.accounting.body_records import (
    IMPACT_STEP,
    IMPACT_WITH,
    IMPACTS,
    LARGEST_V,
    VARIED,
    first_of,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_NORMAL
from cardan.engine.world.world import World

# change of velocity by a rebound, over the largest speed of the body, from which on it matters what
# a law of restitution makes of it
PASSED_ON = 0.1
# more than there are searches for impacts in a step
MANY = 2.0**20


@kernel
def _note(world: World, i: int, other: int, rebound: float, event: float) -> None:
    """Count with how many bodies body i has an impact whose outcome matters in an event."""
    state = world.state
    if world.kind[i] != DYNAMIC:
        return
    largest = state.extremes[first_of(world) + VARIED * i + LARGEST_V]
    v = load3(state.v_WB_W, i)
    fastest = math.sqrt(max(largest, dot(v, v)))
    if rebound * world.model.bodies.inverse_mass[i] < PASSED_ON * fastest:
        return
    at = first_of(world) + VARIED * i
    if state.extremes[at + IMPACT_STEP] != event:
        state.extremes[at + IMPACT_STEP] = event
        state.extremes[at + IMPACT_WITH] = float(other)
        state.extremes[at + IMPACTS] = max(state.extremes[at + IMPACTS], 1.0)
    elif state.extremes[at + IMPACT_WITH] != float(other):
        state.extremes[at + IMPACTS] = 2.0


@kernel
def note_rebound(world: World, ends: tuple[int, int], rebound: float, event: float) -> None:
    """Note that the two bodies of a contact rebound from each other in an event.

    rebound [N s]: the restitution of the impact times its impulse, by which laws of restitution
    differ where it is passed on. event: the number of the step, or of an impact within it.

    Writes  state.extremes from LIMITS + j + n on
    """
    _note(world, ends[0], ends[1], rebound, event)
    _note(world, ends[1], ends[0], rebound, event)


@kernel
def note_resolved(world: World) -> None:
    """Note the rebounds of the impact that was just resolved at its own time.

    Reads   impacts.problem, source, lam; state.v_WB_W before it
    Writes  state.extremes from LIMITS + j + n on
    Check   tests/references/test_exact_impacts.py
    """
    work, impacts, contacts = world.work, world.work.impacts, world.work.contacts
    event = float(world.state.step[0]) + world.clock.impacts[0] / MANY
    for k in range(impacts.problem.count[0]):
        i = impacts.source[k]
        if work.rows.kind[i] != ROW_NORMAL or not impacts.lam[k] > 0.0:
            continue
        c = (i - work.rows.count[1]) // 3
        rebound = contacts.restitution[c] * impacts.lam[k]
        if rebound > 0.0:
            note_rebound(world, (contacts.body_a[c], contacts.body_b[c]), rebound, event)
