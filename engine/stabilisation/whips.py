"""Links that whip: bodies of joints that turn too far in a step for their joints to hold.

A joint is held at the velocities of the middle of a step. The arms of a body that then turns by an
angle a leave that by a^2, and where its axis is another in every step nothing takes the error back:
it is in the next kick, and links of slack chains, limbs of ragdolls, whatever is light and held,
gain energy without bound. Beyond a radian no step follows such a body, so it turns by one: its
momentum is wrong, as before, but no longer that of what it is joined to.

A body that turns about an axis that stays is left alone: rotation about it is exact at any speed.
"""

from __future__ import annotations

from cardan.engine.accounting.body_records import VARIED, first_of
from cardan.engine.accounting.crossings import under_way
from cardan.engine.accounting.energy import kinetic_energy_of
from cardan.engine.accounting.variation import note_rate
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_open
from cardan.engine.spatial.vec3 import cross, dot, load3, scale
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.state import LEDGER_CORRECTION
from cardan.engine.world.world import World

# rotation per step to which such bodies are slowed [rad]; sine of the angle by which the axis of
# one turns in a kick
MOST_TURN, TILT = 1.0, 0.1


@kernel
def is_held(world: World, i: int) -> bool:
    """Whether a joint holds body i."""
    joints = world.model.joints
    for j in range(joints.kind.shape[0]):
        if (joints.body_a[j] == i or joints.body_b[j] == i) and not is_open(joints, world.state, j):
            return True
    return False


@kernel
def slow_whips(world: World) -> None:
    """Slow held bodies down to a turn of MOST_TURN a step, in maximal coordinates.

    Reads   motion.velocity_old; velocities after the kick
    Writes  state.w_WB_W, ledger; extremes: how far they would have turned
    Source  decision 1010
    Check   tests/laws/test_careless.py
    """
    state, h = world.state, world.options.time_step
    for i in range(world.kind.shape[0]):
        w = load3(state.w_WB_W, i)
        square = h * h * dot(w, w)
        if world.kind[i] != DYNAMIC or not square > MOST_TURN * MOST_TURN:
            continue
        before = load3(world.work.motion.velocity_old, i)
        tilted = cross(before, w)
        stays = dot(tilted, tilted) <= TILT * TILT * dot(before, before) * dot(w, w)
        if stays or world.model.bodies.node[i] >= 0 or not is_held(world, i):
            continue
        note_rate(state, i, first_of(world) + VARIED * i, w, under_way(state))
        energy = kinetic_energy_of(world.model.bodies, state, i)
        slowed = scale(MOST_TURN / square**0.5, w)
        for k in range(3):
            state.w_WB_W[i, k] = slowed[k]
        change = kinetic_energy_of(world.model.bodies, state, i) - energy
        state.ledger[LEDGER_CORRECTION] += change
