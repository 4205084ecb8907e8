"""Variation of the coordinates on which springs act: it gives the error of their motions.

Bodies may share a motion beside which the twist of a shaft or the stretch of a belt is small: what
variation.py adds up of bodies says nothing of it then. So the same sum is kept of every coordinate
x on which a spring acts (joints, couplings, force elements), from its values in four steps:

    sum |x_k - 3 x_(k-1) + 3 x_(k-2) - x_(k-3)|  =  h sum |dv_k - dv_(k-1)|

A damper forgets: what was wrong decays with exp(-d t/2 m), at least with half of that of the two
bodies alone. So does the sum, and the most of it counts.

    extremes[first_spring :]    OF_A_SPRING numbers of each joint, then of each force element
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.commanded import FOLLOWED, first_followed
from cardan.engine.accounting.crossings import GATE_SPRINGS
from cardan.engine.bodies.forces import acts_on_both, elongation
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_open, joint_frame
from cardan.engine.spatial.vec3 import dot
from cardan.engine.world.model import (
    COUPLING,
    FORCE_SPRING,
    FORCE_TORSION,
    HINGE2,
    Joints,
    Model,
)
from cardan.engine.world.options import ImpactTime
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# of each coordinate, all in m or rad: its last value, the last change of it in a step, the last
# change of that; the least and largest value; the sum of third differences, how much of it a step
# keeps [-], the most of it; how many values there were: the first three have no third difference
LAST_X, LAST_RATE, LAST_KICK, LEAST_X, MOST_X, VARIED_X, KEPT_X, MOST_VARIED_X, SEEN = range(9)
OF_A_SPRING = 9

EXACT = int(ImpactTime.EXACT)


@kernel
def first_spring(model: Model) -> int:
    """Where the numbers of the spring of joint 0 are in extremes."""
    return first_followed(model) + 3 * FOLLOWED * model.joints.kind.shape[0]


def spring_records(model: Model, state: State) -> NDArray:
    """(j + f, OF_A_SPRING): the numbers of all joints and force elements."""
    n = len(model.joints.kind) + len(model.forces.kind)
    return state.extremes[len(state.extremes) - OF_A_SPRING * n :].reshape(n, OF_A_SPRING)


def has_springs(model: Model) -> bool:
    """Whether a spring acts on any coordinate."""
    elements = (model.forces.kind == FORCE_SPRING) | (model.forces.kind == FORCE_TORSION)
    return bool((model.joints.spring_on == 1).any() or elements.any())


def forget_stretches(model: Model, state: State) -> None:
    """Follow all springs anew from the next step on, as after coordinates were set."""
    spring_records(model, state)[:, SEEN] = 0.0


@kernel
def stretch_of(joints: Joints, state: State, j: int) -> float:
    """The coordinate that the spring of joint j acts on, up to a constant [m or rad].

    Reads   state.joint_q of the last kick
    """
    if joints.kind[j] == HINGE2:
        frame = joint_frame(joints, state, j)
        return dot(frame.s, frame.gap)
    if joints.kind[j] != COUPLING:
        return state.joint_q[j, 0]
    total = 0.0
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        total += joints.term_factor[t] * state.joint_q[joints.term_joint[t], joints.term_axis[t]]
    return total


@kernel
def note_stretch(extremes: NDArray, at: int, x: float) -> None:
    """Add what a coordinate is in this step to its numbers, which are in extremes from `at` on."""
    rate = x - extremes[at + LAST_X]
    kick = rate - extremes[at + LAST_RATE]
    varied = abs(kick - extremes[at + LAST_KICK])
    seen = extremes[at + SEEN]
    extremes[at + LAST_X], extremes[at + LAST_RATE], extremes[at + LAST_KICK] = x, rate, kick
    extremes[at + SEEN] = seen + 1.0
    if seen == 0.0:
        extremes[at + LEAST_X], extremes[at + MOST_X] = x, x
    extremes[at + LEAST_X] = min(extremes[at + LEAST_X], x)
    extremes[at + MOST_X] = max(extremes[at + MOST_X], x)
    if seen >= 3.0:
        total = extremes[at + KEPT_X] * extremes[at + VARIED_X] + varied
        extremes[at + VARIED_X] = total
        extremes[at + MOST_VARIED_X] = max(extremes[at + MOST_VARIED_X], total)


@kernel
def record_stretches(world: World) -> None:
    """Add up how unevenly the coordinates of all springs change.

    Steps that exact impacts part are not followed, nor joints that are open.

    Writes  state.extremes
    Check   tests/engine/test_verdict_within.py
    """
    state, model = world.state, world.model
    if state.extremes[GATE_SPRINGS] == 0.0 or world.options.impact_time == EXACT:
        return
    joints, forces, first = model.joints, model.forces, first_spring(model)
    for j in range(joints.kind.shape[0]):
        at = first + OF_A_SPRING * j
        if joints.spring_on[j] == 1:
            if is_open(joints, state, j):
                state.extremes[at + SEEN] = 0.0
            else:
                note_stretch(state.extremes, at, stretch_of(joints, state, j))
    first += OF_A_SPRING * joints.kind.shape[0]
    for f in range(forces.kind.shape[0]):
        at = first + OF_A_SPRING * f
        if not acts_on_both(forces, state, f):
            state.extremes[at + SEEN] = 0.0
        elif forces.kind[f] in (FORCE_SPRING, FORCE_TORSION):
            note_stretch(state.extremes, at, elongation(forces, state, f))
