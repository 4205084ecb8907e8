"""Crossings of the limits within which results are trusted: the first and the worst of each kind.

The limits are set once, at the start (engine/build/limits.py), in state.extremes after the largest
errors. A step compares its sums with the gates; only if a gate is exceeded are the limits checked.

    state.extremes[:CROSSINGS]    the largest errors (world/state.py)
    [CROSSINGS : GATES]           five numbers for each kind of crossing
    [GATES : LIMITS]              gates, and limits that all bodies share
    [LIMITS : LIMITS + j]         largest distance of the anchors of each joint [m]; inf: no limit
    [LIMITS + j : LIMITS + j + n] largest speed of each body [m/s]; inf: no limit
    [LIMITS + j + n :]            by body, how its kicks vary: accounting/body_records.py; then by
                                  joint, how the force of its drive alternates: drive_noise.py;
                                  what its motors lost: commanded.py; how the stretch of its
                                  spring changes: stretches.py
"""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import COUPLING, GEAR, Joints
from cardan.engine.world.state import EXTREME_KINETIC, FIRST_ENERGY, LEDGER_WORK_IN, State

CROSSINGS = 24

# kinds of crossings: distance of a joint's anchors [m], unexplained energy growth [J], speed [m/s],
# angular speed [rad/s], penetration of rigid bodies [m], misalignment of a joint's axes or
# orientations [rad], lag of a motor behind its target [m or rad], initial velocities that joints
# forbid [m/s or rad/s]
APART, GROWTH, TRAVEL, TURN, DEPTH, TWIST, DRIVE, CONTRADICTED = range(24, 64, 5)
# of each kind: steps done at the first crossing (0: none), and its joint or body; the worst value,
# its limit, and its joint or body
FIRST_STEP, FIRST_WHO, WORST, WORST_LIMIT, WORST_WHO = range(5)

GATES = 64
# gates: least limit of any joint [m]; least kinetic energy with which a body can be too fast [J];
# tolerated growth of energy [J]; least depth that is too deep for any body [m]
GATE_APART, GATE_KINETIC, SMALL_GROWTH, GATE_DEPTH = 64, 65, 66, 67
# 1: some surfaces have more static than kinetic friction; 1: some coordinates have springs
GATE_STATIC, GATE_SPRINGS = 68, 69
# 1: in this step an impact may have made some body leave its support: accounting/supports.py
GATE_STRUCK = 70
# 1: in this step some body rebounds too early: accounting/early_impacts.py
GATE_EARLY = 71

LIMITS = 72

# tolerated growth of energy as a share of the largest kinetic energy so far
GROWTH_SHARE = 0.05
# tolerated misalignment of a joint [rad]: 1 % of the distance from it
TWIST_LIMIT = 0.01


@kernel
def largest_factor(joints: Joints, j: int) -> float:
    """Scale of the error of joint j: the factor of a gear (at least 1) or coupling, else 1."""
    largest = abs(joints.ratio[j]) if joints.kind[j] == GEAR else 0.0
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        largest = max(largest, abs(joints.term_factor[t]))
    return largest if joints.kind[j] == COUPLING else max(largest, 1.0)


@kernel
def under_way(state: State) -> int:
    """Number of the step that is under way and not counted yet; the first is 1."""
    return int(state.step[0] + 1)


@kernel
def note(state: State, what: int, value: float, limit: float, who: int, step: int) -> None:
    """Record a crossing in a step: the first of its kind, and the worst relative to its limit."""
    extremes = state.extremes
    if extremes[what + FIRST_STEP] == 0.0:
        extremes[what + FIRST_STEP] = float(step)
        extremes[what + FIRST_WHO] = float(who)
    elif value * extremes[what + WORST_LIMIT] <= extremes[what + WORST] * limit:
        return
    extremes[what + WORST] = value
    extremes[what + WORST_LIMIT] = limit
    extremes[what + WORST_WHO] = float(who)


@kernel
def note_apart(state: State, j: int, error: float) -> None:
    """Record joint j if its anchors are further apart (`error` [m]) than its limit."""
    limit = state.extremes[LIMITS + j]
    if error > limit:
        note(state, APART, error, limit, j, state.step[0])


@kernel
def note_twist(joints: Joints, state: State, j: int, error: float) -> None:
    """Record joint j if `error` [rad] is beyond its limit; that of relations grows with factors."""
    limit = TWIST_LIMIT * largest_factor(joints, j)
    if error > limit and state.extremes[LIMITS + j] < math.inf:
        note(state, TWIST, error, limit, j, state.step[0])


@kernel
def note_growth(state: State, growth: float, step: int) -> None:
    """Record unexplained growth of energy [J] in a step if it is above its limit."""
    extremes = state.extremes
    if growth > extremes[SMALL_GROWTH]:
        limit = extremes[SMALL_GROWTH] + GROWTH_SHARE * extremes[EXTREME_KINETIC]
        if growth > limit and math.isfinite(growth):
            note(state, GROWTH, growth, limit, -1, step)


@kernel
def note_motion(state: State, energy: float) -> None:
    """Compare the growth of the total energy at the end of a step with its gate.

        growth = E - E(0) - work in       dissipation only lowers it

    Reads   energy [J] now; state.extremes (the largest kinetic energy so far), ledger
    Writes  state.extremes
    Check   tests/engine/test_verdict.py
    """
    growth = energy - state.extremes[FIRST_ENERGY] - state.ledger[LEDGER_WORK_IN]
    note_growth(state, growth, state.step[0])
