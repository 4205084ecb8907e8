"""Numbers that are kept of every body: how its kicks vary, its early impacts, its errors.

    extremes[LIMITS + j + n + VARIED i :]    body i, as below; s: of the last step

engine/accounting/variation.py and early_impacts.py write them, engine/verdict/estimates.py reads.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, load3, sub
from cardan.engine.world.options import ImpactTime
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# of body i, of the last step: v in W and in the body's axes, L or w, w; their changes
LAST_V, LAST_B, LAST_L, LAST_W, KICK_V, KICK_B, KICK_L = 0, 3, 6, 9, 12, 15, 18
# largest |v|^2, |L|^2; sums of |v|, |L|, |dv|, |dL|, |change of dv|, |change of dL|, |w|
LARGEST_V, LARGEST_L, PATH_V, PATH_L, SUM_V, SUM_L, VARIED_V, VARIED_L, TURNED = range(21, 30)
# with whom it last had an impact, and in which step; 2: it had one with two bodies in one step
IMPACT_STEP, IMPACT_WITH, IMPACTS = 30, 31, 32
# set at the start: 1: the drift keeps L; how deep others may be in it [m]; how fast it may turn
# about an axis that moves [rad/s]
KEEPS_L, DEPTH_LIMIT, TURN_LIMIT = 33, 34, 35
# least and largest coordinates of the centre of mass, from where it was first [m]
START_P, LEAST_P, MOST_P = 36, 39, 42
# largest phase per step of a stop that yields, where it matters for the motion [rad]
STOP_PHASE = 45
# how far early impacts have displaced it: now, the most so far [m]; the step of the last one
EARLY, MOST_EARLY, STRUCK_STEP = 46, 47, 48
# |dv|, |dL| of the first kick, which is in no sum but the last two
FIRST_V, FIRST_L = 49, 50
# by what angle they have turned it: now, the most so far [rad]
EARLY_TURN, MOST_EARLY_TURN = 51, 52
# how early the impact of this step came [s]; 1: off what is fixed
EARLY_TIME, OFF_FIXED = 53, 54
# what friction took from its turning on faces, what it lost at the edges of facets [J]
TURNED_ON_FACES, ON_FACETS = 55, 56
# what friction of joints takes in this step, P^2 h/(2 P_max) [kg m]; the way that is lost where it
# took that from a blow: of this step, so far [m]
BRAKED, BRAKED_NOW, BRAKED_WAY = 57, 58, 59
# how often static friction gave way to kinetic friction, and in which step last
RELEASES, RELEASE_STEP = 60, 61
# errors that impacts pass on, W: of this step's velocity and position; of velocity [m/s] and
# position [m] now; the largest of position so far
AIM_KICK, AIM_JUMP, AIM_V, AIM_P, MOST_AIM = 62, 65, 68, 71, 74
# set at the start, body axes: the axis about which it may turn by any angle, as it is of revolution
# about it; 0: none. Sum of |w| across that axis
SPIN_AXIS, AXIS_TURNED = 75, 78
# how early the last impact may have come [s; 0: one or no step ago nothing was struck], its step,
# the body at whose stop it arrived (-1: none), the point about which it turns from then on, W [m]
LOST_TIME, LOST_STEP, LOST_WITH, LOST_P = 79, 80, 81, 82
# friction of its joint in this step, over its largest [-]
RUBBED = 85
# set at the start: share of an error that the damper of its joint leaves in a step; the most so far
# of VARIED_V, VARIED_L, which shrink by it; sums of |dv|, |dL| that shrink alike, the most of them
KEPT, MOST_VARIED_V, MOST_VARIED_L, LAGGED_V, LAGGED_L, MOST_LAGGED_V, MOST_LAGGED_L = range(86, 93)
# how early an impact is that others pass on to it in this step [s]
PASSED_TIME = 93
# set at the start: share of an error by a drive that lags which the slowest of its drives leaves in
# a step; the last step in which the drive of one of its joints was at its largest force
KEPT_LAG, BOUND_STEP = 94, 95
# 1: in the step of its last impact its points met others at different moments
UNEVEN = 96
VARIED = 97

EXACT = int(ImpactTime.EXACT)


@kernel
def exchange(state: State, at: int, new: Vec3) -> Vec3:
    """Store three numbers of extremes; returns what was there."""
    old = (state.extremes[at], state.extremes[at + 1], state.extremes[at + 2])
    for k in range(3):
        state.extremes[at + k] = new[k]
    return old


@kernel
def first_of(world: World) -> int:
    """Where the numbers of body 0 are in extremes."""
    model = world.model
    return LIMITS + model.joints.kind.shape[0] + model.bodies.kind.shape[0]


@kernel
def aim_of(world: World, i: int, which: int) -> Vec3:
    """AIM_V or AIM_P of body i, or any three of its numbers; what is not dynamic has none."""
    at = first_of(world) + VARIED * i + which
    extremes = world.state.extremes
    return (extremes[at], extremes[at + 1], extremes[at + 2])


@kernel
def last_kick(world: World, i: int) -> tuple[Vec3, Vec3]:
    """Change of the angular and linear velocity of body i in this step.

    Reads   motion.velocity_old
    """
    old = world.work.motion.velocity_old[i]
    turned = sub(load3(world.state.w_WB_W, i), (old[0], old[1], old[2]))
    return turned, sub(load3(world.state.v_WB_W, i), (old[3], old[4], old[5]))


@kernel
def add_shrinking(extremes: NDArray, total: int, most: int, kept: float, more: float) -> None:
    """extremes[total] <- kept extremes[total] + more, and its largest value so far at `most`."""
    extremes[total] = kept * extremes[total] + more
    extremes[most] = max(extremes[most], extremes[total])


@kernel
def share_of(part: float, whole: float) -> float:
    """part over whole, at most 1; of nothing 0."""
    return min(1.0, part / whole) if whole > 0.0 else 0.0
