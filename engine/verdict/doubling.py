"""Step doubling: what the step costs a small run, measured by runs of the same scene.

Errors of single steps, added up, say nothing of motion whose neighbours part: of a top with about
the spin that holds it, of the arms of a governor that hang straight, of what tumbles over a floor.
Where nothing can touch, a small run is done once more with 2, 4 or 8 times the step, and where that
contradicts the estimate, with half the step. With an error C h^p of each motion

    p              =  log2 (|x(2h) - x(h)| / |x(h) - x(h/2)|),  1 to 2
    error of x(h)  =  |x(h) - x(h/2)| / (1 - 2^-p)

(Richardson 1911). Stops, friction and motors at their largest force change a motion at a moment
that lies elsewhere within each other step: then p = 1, and the finer run has a quarter of the step.
Where joints may break or triggers fire, and in runs of less than 16 steps, it is the only one: the
force of a blow is its impulse over the step.
Where bodies can touch, impacts fall on other moments with another step, and what comes to rest may
do so in the same place on another way: such a run is done once more with half the step, and p = 1.
That withdraws nothing; of estimate and difference the larger one is reported. Of a longer run that
nothing else casts doubt on the beginning is done again; that withdraws nothing either. Errors are
shares of the reach of each motion, as in engine/verdict/estimates.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import SPIN_AXIS, TURNED
from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.limits import body_lengths, shows_turns
from cardan.engine.build.mobility import prescribed_bodies
from cardan.engine.build.rotations import turn_all, turned_apart
from cardan.engine.verdict.estimates import (
    SETTLED_SHARE,
    has_thresholds,
    is_abrupt,
    may_strike,
    reaches,
    settles,
    step_errors,
    stretch_errors,
    variations,
)
from cardan.engine.verdict.findings import Names
from cardan.engine.verdict.motion import (
    FAR_CHANGE,
    HALF_TURN,
    STEP_SHARE,
    of_body,
    step_change,
)
from cardan.engine.verdict.springs import spring_ends, stretches
from cardan.engine.verdict.verified import ESTIMATES, STEP_ERRORS
from cardan.engine.world.model import DYNAMIC, HINGE, SLIDER, Model
from cardan.engine.world.options import Integrator, StepOptions
from cardan.engine.world.state import State

Array = NDArray[np.float64]
Finding = dict[str, Any]
JointMotion = Callable[[State], Array]

# what is done again of a run: steps times bodies, the same where they can touch, and bodies where
# they cannot, at most: estimates are right there, and dense equations of many bodies are slow
MOST_WORK, MOST_WORK_TOUCHING, MOST_BODIES = 100_000, 20_000, 16
# integrators whose errors depend on the step of the scene; the others choose their own
OF_FIXED_STEPS = (Integrator.SEMI_IMPLICIT_EULER, Integrator.IMPLICIT_MIDPOINT, Integrator.RK4)
# moments that are compared, and how many steps the coarsest of the other runs does at least
MOMENTS, LEAST_STEPS = 50, 8
# and how many moments beside them are closer to the start
EARLY_MOMENTS = 24
# steps within which a motion that ends is a jump, in this run as in the others
JUMP_STEPS = 8
# steps of the coarser run over that of the run: the largest whose error is small by the estimate
COARSER = (8, 4, 2)
# steps of a run from which on there is a coarser one
LEAST_DOUBLED = COARSER[-1] * LEAST_STEPS
# difference over the reach from which on a coarser run contradicts an estimate below the limit
CONTRADICTS = 0.3
# measured shares of a reach up to which estimates are withdrawn, and from which on there is a
# finding in any case: a tenth less than 5 % of it, and 5 % of the whole way, which is two reaches
CLEARED, EXCEEDED = 0.045, 0.1
# the same where bodies touch: twice the difference to half the step
EXCEEDED_TOUCHING = 0.2
# there half the step is another motion from this on, as chaos has it, and no order leads to a step
OTHER_MOTION = 2.0
# errors that matter are at least this share of the body, this angle [rad], this stretch [m or rad]
SMALL_SHARE, SMALL_TURN, SMALL_STRETCH = 1e-4, 1e-3, 1e-5
# where bodies touch, what plays and settles comes to rest a little elsewhere: at least this share,
# and the angle by which that moves the ends of a body
SMALL_SHARE_TOUCHING, SMALL_TURN_TOUCHING = 1e-3, 2e-3


class Moment(NamedTuple):
    """Poses and coordinates of a run at one time, to be compared with those of another run."""

    places: Array
    """(n, 3) m: centres of mass."""
    orientations: Array
    """(n, 4)."""
    turns: Array
    """(j, 3): what joints count whole turns by (State.joint_q)."""


# moments of the run that is judged, and of another
Pair = tuple[Sequence[Moment], Sequence[Moment]]


def moment(state: State) -> Moment:
    """The present moment of a run."""
    return Moment(state.p_WB.copy(), state.q_WB.copy(), state.joint_q.copy())


def repeated_steps(model: Model, options: StepOptions, steps: int) -> int:
    """How many steps of a run can be done again: all of a small one, those at the beginning of a
    longer one; none where its errors do not depend on the step of the scene."""
    count = int((model.bodies.kind == DYNAMIC).sum())
    if count == 0 or options.integrator not in OF_FIXED_STEPS:
        return 0
    most = (MOST_WORK_TOUCHING if may_strike(model) else MOST_WORK) // count
    span = steps if steps <= most else most - most % COARSER[0]
    return span if span >= COARSER[-1] else 0


def can_be_doubled(model: Model) -> bool:
    """Whether a run has few bodies, or such that can touch."""
    few = int((model.bodies.kind == DYNAMIC).sum()) <= MOST_BODIES
    return few or may_strike(model)


@lru_cache(16)
def due_steps(steps: int) -> tuple[int, ...]:
    """After which of so many steps the run is looked at: multiples of that of the coarsest other
    run, evenly, of finer ones too where these are few, and of two steps, closer and closer to the
    start, as what is let go may soon be at rest."""
    early = np.geomspace(1, steps // COARSER[-1], EARLY_MOMENTS)
    looks = [np.zeros(1), COARSER[-1] * early.round()]
    for factor in COARSER:
        if steps >= factor * LEAST_STEPS:
            looks.append(factor * np.linspace(0, steps // factor, MOMENTS + 1).round())
            if steps >= factor * MOMENTS:
                break
    return tuple(np.unique(np.concatenate(looks)).astype(int).tolist())


def ends_with(step: int, factor: float) -> bool:
    """Whether steps of `factor` times the size end where this step of the run ends."""
    return step % max(factor, 1.0) == 0.0


def first_compared(found: Sequence[Finding]) -> int:
    """After how many steps what is found is compared: drives that stand within a few steps raise no
    doubt, but do not dispel it either."""
    return 0 if any(one["quantity"] in ESTIMATES for one in found) else JUMP_STEPS


def estimated(model: Model, state: State, options: StepOptions, parted: Array) -> float:
    """The largest estimate of an error by the step, over its reach; parted: see `Shares`."""
    of_bodies = step_errors(model, state, options, parted).max(initial=0.0)
    return float(max(of_bodies, stretch_errors(model, state).max(initial=0.0)))


def coarser_step(estimate: float, steps: int) -> int:
    """How many times the step a coarser run has."""
    for factor in COARSER:
        if factor**2 * estimate <= CLEARED and steps >= factor * LEAST_STEPS:
            return factor
    return COARSER[-1]


def rotated(q: Array, v: Array) -> Array:
    """q v q* of quaternions (k, n, 4) and vectors (n, 3)."""
    return turn_all(q, np.broadcast_to(v, (*q.shape[:-1], 3)))


def hinged_to_ground(model: Model, moving: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(j,): hinges that join moving bodies to bodies that are fixed or prescribed."""
    joints = model.joints
    found: NDArray[np.bool_] = joints.kind == HINGE
    found &= moving[joints.body_a] != moving[joints.body_b]
    return found


class Shares:
    """Differences of two runs over the reach of each motion of the run that is judged.

    Reaches are half the diagonal of the box about a way, half the range of a coordinate, and of
    orientations the largest angle from the start, at most 1 rad.
    Bodies of revolution show the direction of their axis alone, and what is hinged to the ground
    its angle: a rotor that has turned for long is where it should be a little later.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        options: StepOptions,
        joint_motion: JointMotion,
        parted: Array,
    ) -> None:
        """The state of the run that is judged at its end; joint_motion gives coordinates
        (j, 3, 2) of all joints in a state; parted (n,) [m]: ways that overlaps at the start push
        bodies, some share in every step (parting.parted_ways)."""
        self.model, self.state, self._joint_motion = model, state, joint_motion
        self.time_step = float(options.time_step)
        kept = variations(model, state)
        self._reach = reaches(kept)
        self._swept = np.minimum(self.time_step * kept[:, TURNED], 1.0)
        self._axis = kept[:, SPIN_AXIS : SPIN_AXIS + 3]
        self._round = self._axis.any(axis=1)
        self._length = body_lengths(model, state.p_WB)
        moving = (model.bodies.kind == DYNAMIC) & ~prescribed_bodies(model)
        joints, free = model.joints, moving.copy()
        grounded = hinged_to_ground(model, moving)
        free[joints.body_a[grounded]] = free[joints.body_b[grounded]] = False
        self._turns = free & shows_turns(model)
        self._moving = free
        of_springs = spring_ends(model)[:, 1]
        self._children = np.concatenate([joints.body_b, of_springs])
        followed = moving[joints.body_a] | moving[joints.body_b]
        self._followed = np.concatenate([followed, np.ones(len(of_springs), bool)])
        bodies, springs = np.ones(2 * len(moving), bool), np.zeros(len(of_springs), bool)
        self.absolute = np.concatenate([bodies, grounded, springs])
        """(m,): motions of bodies themselves; the others are relative to other bodies."""
        self.touch = may_strike(model)
        """Whether bodies touch: they may come to the same rest whatever their way."""
        self._least = SMALL_SHARE, SMALL_TURN
        if settles(state, options):
            self._least = SETTLED_SHARE, SETTLED_SHARE
        elif self.touch:
            self._least = SMALL_SHARE_TOUCHING, SMALL_TURN_TOUCHING
        self._least_way = self._least[0] * self._length + parted
        self.abrupt = is_abrupt(model)
        """Whether something changes motions at a moment."""
        self.thresholds = has_thresholds(model)
        """Whether what a blow sets off may not come about in a coarser run."""

    def bodies(self) -> NDArray[np.int64]:
        """(m,): the body that each motion is of."""
        n = len(self._moving)
        return np.concatenate([np.arange(n), np.arange(n), self._children])

    def of(self, run: Sequence[Moment], other: Sequence[Moment]) -> Array:
        """(m,): the largest difference of each motion of the run to another at the same moments,
        over its reach; inf: a run failed."""
        both = (run, other)
        with np.errstate(invalid="ignore", over="ignore"):
            return np.concatenate([self._places(both), self._turned(both), self._moved(both)])

    @staticmethod
    def _share(error: Array, reach: Array, least: Array, counted: NDArray[np.bool_]) -> Array:
        worst = np.nan_to_num(error.max(axis=0), nan=np.inf)
        share = worst / np.maximum(np.nan_to_num(reach, nan=1.0, posinf=np.inf), least)
        return np.where(counted & ~(worst <= least), np.nan_to_num(share, nan=np.inf), 0.0)

    def _places(self, both: Pair) -> Array:
        a, b = (np.array([one.places for one in run]) for run in both)
        # looks may come once a turn, always at the same place: the way is that of all steps
        reach = np.maximum(0.5 * np.linalg.norm(np.ptp(a, axis=0), axis=1), self._reach)
        error = np.linalg.norm(a - b, axis=2)
        return self._share(error, reach, self._least_way, self._moving)

    def _turned(self, both: Pair) -> Array:
        a, b = (np.array([one.orientations for one in run]) for run in both)
        axes = [rotated(q, self._axis) for q in (a, b)]
        error = np.where(self._round, np.linalg.norm(axes[0] - axes[1], axis=2), turned_apart(a, b))
        from_start = np.where(
            self._round,
            np.linalg.norm(axes[0] - axes[0][:1], axis=2),
            turned_apart(a, a[:1]),
        )
        reach = np.minimum(from_start.max(axis=0), 1.0)
        reach = np.where(self._round, reach, np.maximum(reach, self._swept))
        return self._share(error, reach, np.full(len(reach), self._least[1]), self._turns)

    def _coordinates(self, one: Moment) -> Array:
        """(j + s,) rad or m: of hinges and sliders, whole turns included, 0 of other joints; and of
        springs (springs.stretches)."""
        model = self.model
        state = self.state._replace(p_WB=one.places, q_WB=one.orientations, joint_q=one.turns)
        motion = self._joint_motion(state)
        single = is_one_of(model.joints.kind, (HINGE, SLIDER))
        of_joints = np.where(single, motion[:, 0, 0], 0.0)
        return np.concatenate([of_joints, stretches(model, state, motion)])

    def _moved(self, both: Pair) -> Array:
        a, b = (np.array(list(map(self._coordinates, run))) for run in both)
        reach, least = 0.5 * np.ptp(a, axis=0), np.full(a.shape[1], SMALL_STRETCH)
        if self.touch:
            joints = self.model.joints
            way = self._least[0] * self._length[joints.body_b]
            small = np.where(joints.kind == SLIDER, way, self._least[1])
            least[: len(small)] = np.maximum(small, SMALL_STRETCH)
        return self._share(np.abs(a - b), reach, least, self._followed)


def contradicts(
    found: Sequence[Finding], coarse: Array, factor: int, *, abrupt: bool = False
) -> bool:
    """Whether a run with `factor` times the step contradicts what was estimated: its differences
    (m,) over their reaches are small where there is a finding, large where there is none.

    Where changes are abrupt, differences that are small by the second order are not by the first.
    """
    largest = float(coarse.max(initial=0.0))
    if any(one["quantity"] in ESTIMATES for one in found):
        return largest <= (factor**2 - 1) * STEP_SHARE
    grown = factor if abrupt else factor**2
    return largest > min((grown - 1) * STEP_SHARE, CONTRADICTS)


def can_change(found: Sequence[Finding]) -> bool:
    """Whether a verdict depends on estimates alone; whole turns that cannot be told are none."""
    return all(one["quantity"] in ESTIMATES and one["limit"] < HALF_TURN for one in found)


def measured_errors(coarse: Array, fine: Array, factor: int) -> Array:
    """(m,): errors over reaches, from differences to runs with `factor` times and half the step."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # of d = C h^p: d(factor h) - d(h) over d(h) - d(h/2), for p = 2 and p = 1
        ratio = np.where(np.isfinite(coarse), coarse / fine, np.inf)
    second, first = 4.0 / 3.0 * (factor**2 - 1.0), 2.0 * (factor - 1.0)
    order = 1.0 + np.clip((ratio - first) / (second - first), 0.0, 1.0)
    error: Array = np.where(fine > 0.0, fine / (1.0 - 0.5**order), 0.0)
    return error


def first_order_errors(fine: Array, factor: float) -> Array:
    """(m,): errors over reaches, from differences to a run with `factor` times the step alone."""
    return fine / (1.0 - factor)


def worst_body(errors: Array, shares: Shares) -> tuple[float, int]:
    """The largest error (m,) of a motion that is a body's own, over its reach, and that body."""
    of_bodies = np.where(shares.absolute, errors, 0.0)
    worst = int(np.argmax(of_bodies))
    return float(of_bodies[worst]), int(shares.bodies()[worst])


def exceeded_touching(found: Sequence[Finding]) -> float:
    """Where bodies touch, the measured share from which on it counts: it exceeds estimates, too."""
    estimates = [one["value"] for one in found if one["quantity"] in STEP_ERRORS]
    return float(max([EXCEEDED_TOUCHING, *estimates]))


def with_measured(
    found: Sequence[Finding], errors: Array, shares: Shares, names: Names
) -> list[Finding]:
    """Findings with errors (m,) of motions that were measured.

    If all are small they withdraw estimates, unless bodies touch; large ones of bodies take their
    place, there if they are larger. Those of one body relative to another let them stand. Without
    any all stand as they are.
    """
    if len(errors) == 0:
        return list(found)
    if errors.max(initial=0.0) <= CLEARED and not shares.touch:
        return [one for one in found if one["quantity"] not in ESTIMATES]
    value, body = worst_body(errors, shares)
    if value <= (exceeded_touching(found) if shares.touch else EXCEEDED):
        return list(found)
    kept = [one for one in found if one["quantity"] not in STEP_ERRORS]
    other = shares.touch and value > OTHER_MOTION
    change = FAR_CHANGE if other else step_change(shares.model, shares.time_step, value)
    more = {"value": value, "limit": STEP_SHARE, "unit": "-", "change": change}
    return [*kept, of_body(shares.state, names, body, quantity="step_error", **more)]
