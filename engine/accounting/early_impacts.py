"""Early impacts, which displace bodies: of those that strike, and of what they pass on to.

How early an impact comes is known: the bodies rebound a gap g before they meet, with the speed u
at which they approach g/u before their time, and are then g/u times the change of their velocities
away from where they would be. This is added up per body, and so are the angles alike; they count
instead of the change of its velocity. As vectors they are followed through further impacts
(accounting/impact_errors.py).
"""

from __future__ import annotations

from cardan.engine.accounting.body_records import (
    AIM_JUMP,
    AIM_KICK,
    AIM_P,
    AIM_V,
    EARLY,
    EARLY_TIME,
    EARLY_TURN,
    KICK_V,
    MOST_AIM,
    MOST_EARLY,
    MOST_EARLY_TURN,
    OFF_FIXED,
    PASSED_TIME,
    STRUCK_STEP,
    VARIED,
    aim_of,
    first_of,
    last_kick,
)
from cardan.engine.accounting.crossings import GATE_EARLY
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, load3, norm, sub
from cardan.engine.world.model import COUPLING, DYNAMIC
from cardan.engine.world.world import World

# kicks of a velocity that has no size of its own, as of a body that turns round
TURNING_ROUND = 10.0
# share of a change of velocity from which on it is that of an impact that others pass on
MOSTLY = 0.5


@kernel
def add_error(world: World, i: int, change: Vec3) -> None:
    """Note that the velocity of body i may be wrong by +-`change` [m/s], W, from this step on.

    Writes  state.extremes: AIM_V, MOST_AIM
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    sign = 1.0 if dot(change, aim_of(world, i, AIM_V)) >= 0.0 else -1.0
    for k in range(3):
        extremes[at + AIM_V + k] += sign * change[k]
    way = world.options.time_step * norm(change)
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], way)


@kernel
def note_early(world: World, i: int) -> None:
    """Body i rebounds too early in this step: add up how far that displaces and turns it.

    What was early before is so by the same time: off what is fixed it shrinks as the body slows.

    Reads   EARLY_TIME, OFF_FIXED of body i, which are cleared
    Writes  state.extremes from LIMITS + j + n on
    """
    state, at = world.state, first_of(world) + VARIED * i
    extremes = state.extremes
    turned, kicked = last_kick(world, i)
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    if extremes[at + OFF_FIXED] == 1.0:
        before, after = norm(sub(v, kicked)), norm(v)
        extremes[at + EARLY] *= after / before if after < before else 1.0
        before, after = norm(sub(w, turned)), norm(w)
        extremes[at + EARLY_TURN] *= after / before if after < before else 1.0
    extremes[at + EARLY] += extremes[at + EARLY_TIME] * norm(kicked)
    extremes[at + EARLY_TURN] += extremes[at + EARLY_TIME] * norm(turned)
    extremes[at + MOST_EARLY] = max(extremes[at + MOST_EARLY], extremes[at + EARLY])
    extremes[at + MOST_EARLY_TURN] = max(extremes[at + MOST_EARLY_TURN], extremes[at + EARLY_TURN])
    extremes[at + STRUCK_STEP] = float(state.step[0])
    for k in range(3):
        extremes[at + AIM_P + k] += extremes[at + AIM_JUMP + k]
        extremes[at + AIM_P + k] += extremes[at + EARLY_TIME] * kicked[k]
        extremes[at + AIM_V + k] += extremes[at + AIM_KICK + k]
        extremes[at + AIM_JUMP + k], extremes[at + AIM_KICK + k] = 0.0, 0.0
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], norm(aim_of(world, i, AIM_P)))
    extremes[at + EARLY_TIME], extremes[at + OFF_FIXED] = 0.0, 0.0


@kernel
def note_passed(world: World, i: int, share: float, share_L: float) -> None:
    """Body i is pushed by another that rebounds too early in this step: as `note_early`.

    share, share_L: of the change of its velocity and spin in this step that is of the impact [-]

    Reads   PASSED_TIME of body i, which is cleared
    Writes  state.extremes from LIMITS + j + n on
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    turned, kicked = last_kick(world, i)
    time = extremes[at + PASSED_TIME]
    extremes[at + EARLY] += time * share * norm(kicked)
    extremes[at + EARLY_TURN] += time * share_L * norm(turned)
    extremes[at + MOST_EARLY] = max(extremes[at + MOST_EARLY], extremes[at + EARLY])
    extremes[at + MOST_EARLY_TURN] = max(extremes[at + MOST_EARLY_TURN], extremes[at + EARLY_TURN])
    for k in range(3):
        extremes[at + AIM_P + k] += time * share * kicked[k]
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], norm(aim_of(world, i, AIM_P)))
    if share > MOSTLY:
        extremes[at + STRUCK_STEP] = float(world.state.step[0])
    extremes[at + PASSED_TIME] = 0.0


@kernel
def pass_between(world: World, a: int, b: int) -> bool:
    """Whether an early impact of one of two bodies is one of the other as well from now on."""
    extremes, first = world.state.extremes, first_of(world)
    if world.kind[a] != DYNAMIC or world.kind[b] != DYNAMIC:
        return False
    at_a, at_b = first + VARIED * a, first + VARIED * b
    time_a = max(extremes[at_a + EARLY_TIME], extremes[at_a + PASSED_TIME])
    time_b = max(extremes[at_b + EARLY_TIME], extremes[at_b + PASSED_TIME])
    if time_a == time_b:
        return False
    at = at_a if time_a < time_b else at_b
    if extremes[at + EARLY_TIME] > 0.0 or extremes[at + PASSED_TIME] > 0.0:
        return False
    extremes[at + PASSED_TIME] = max(time_a, time_b)
    return True


@kernel
def pass_on_impacts(world: World) -> None:
    """Mark bodies connected with one that rebounds too early: their velocities change early, too.

    Writes  state.extremes: PASSED_TIME of bodies that contacts with an impulse or joints connect
    """
    joints, contacts = world.model.joints, world.work.contacts
    is_new = True
    while is_new:
        is_new = False
        for j in range(joints.kind.shape[0]):
            if joints.kind[j] != COUPLING and pass_between(
                world, joints.body_a[j], joints.body_b[j]
            ):
                is_new = True
        for c in range(contacts.count[0]):
            loaded = norm(load3(contacts.impulse_W, c)) > 0.0
            if loaded and pass_between(world, contacts.body_a[c], contacts.body_b[c]):
                is_new = True


@kernel
def carry_errors(world: World, i: int) -> None:
    """Body i drifts with the error of its velocity, which is no larger than the velocity.

    What turns round is at rest for a moment, but its kicks go on.

    Writes  state.extremes: AIM_V, AIM_P, MOST_AIM
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    error, speed = norm(aim_of(world, i, AIM_V)), norm(load3(world.state.v_WB_W, i))
    speed += TURNING_ROUND * norm(aim_of(world, i, KICK_V))
    if error == 0.0:
        return
    share = min(1.0, speed / error)
    for k in range(3):
        extremes[at + AIM_V + k] *= share
        extremes[at + AIM_P + k] += world.options.time_step * extremes[at + AIM_V + k]
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], norm(aim_of(world, i, AIM_P)))


@kernel
def mark_early(world: World, ends: tuple[int, int], time: float) -> None:
    """The two bodies of an impact rebound too early by `time` [s]; of a step the most counts.

    Writes  state.extremes from LIMITS + j + n on
    """
    extremes, first, kind = world.state.extremes, first_of(world), world.kind
    for k in range(2):
        at = first + VARIED * ends[k]
        if kind[ends[k]] == DYNAMIC and time > extremes[at + EARLY_TIME]:
            extremes[at + EARLY_TIME] = time
            extremes[GATE_EARLY] = 1.0
            extremes[at + OFF_FIXED] = 1.0 if kind[ends[1 - k]] != DYNAMIC else 0.0
