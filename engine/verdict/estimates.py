"""Errors of the step size, estimated for each body from how its kicks varied.

They come from engine/accounting/variation.py; factors were chosen by the scenes of
docs/verification/trust.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import (
    AXIS_TURNED,
    BRAKED_WAY,
    FIRST_V,
    IMPACT_WITH,
    IMPACTS,
    KEEPS_L,
    LARGEST_L,
    LARGEST_V,
    LEAST_P,
    MOST_AIM,
    MOST_EARLY,
    MOST_EARLY_TURN,
    MOST_LAGGED_L,
    MOST_LAGGED_V,
    MOST_P,
    MOST_VARIED_L,
    MOST_VARIED_V,
    PATH_L,
    PATH_V,
    RELEASES,
    SPIN_AXIS,
    STOP_PHASE,
    SUM_L,
    SUM_V,
    TURNED,
    VARIED,
)
from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.stretches import LEAST_X, MOST_VARIED_X, MOST_X, spring_records
from cardan.engine.build.limits import REST_SPEED, body_lengths, can_touch, shows_turns
from cardan.engine.build.mobility import driven_mechanisms, free_motions, prescribed_bodies
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    DYNAMIC,
    FORCE_DRAG,
    FORCE_POINT_GRAVITY,
    Model,
)
from cardan.engine.world.options import (
    ImpactTime,
    RestitutionLaw,
    SolverMethod,
    StepOptions,
)
from cardan.engine.world.state import EXTREME_CONTACTS, EXTREME_DRIFT, EXTREME_KINETIC, State

Array = NDArray[np.float64]

# error of a step over h times the change of its kick: that of an oscillation, (w h)^2/24 of the
# phase, with the mean of |sin|
ERROR_OF_CHANGE = np.pi / 48.0
# error over h times the kicks of bodies on drives that lag: these are of first order
ERROR_OF_DRIVES = 0.3
# phase per step, or damping over the mass, from which on a drive lags: see implicit_share
FOLLOWED_PHASE = 2.0
# the same where the period depends on the energy: an error of the speed on an orbit is three times
# as large one of the phase, and its ellipse turns
ERROR_OF_ORBITS = 4.0
# displacement by early impacts over the way to and fro: it is known, with a margin
ERROR_OF_IMPACTS = 0.72
# error of a rebound over the square of its phase per step
ERROR_OF_STOPS = 0.15
# displacement of what bounces on compliant contacts over its way, by an energy that is unexplained:
# each bounce adds its change of the time of flight
ERROR_OF_BOUNCES = 0.66
# what compliant rows add to it: their dampers see the velocity before the kick; of what lies on
# compliant contacts it is the whole error, of which 5 % is wrong, not the limit of other estimates
ERROR_OF_SOFTNESS, CUSHIONED = 2.0, 1.2
# what links that are slowed down miss of the phase, over what a step misses: (w h)^2/4
ERROR_OF_LINKS = 6.0
# time by which each release of static friction shifts what follows, over the step: the release is
# late by half a step, and so the spring is longer and the next stick by twice as much
ERROR_OF_RELEASES = 1.5
# way that is wrong where drag takes a velocity within a step, over h times the velocity
ERROR_OF_DRAG = 0.4
# angle that the axis of what spins on a ball joint of a tree is wrong by, over the angle that it
# turns and the square of the spin in a step: its rates are in axes that spin with it
ERROR_OF_SPINS = 0.6
# errors that matter are at least this share of the body, or this angle [rad]
SMALL_SHARE, SMALL_TURN = 1e-5, 1e-3
# errors of chaotic motion grow by this power of e per rad that a body turns to and fro, if it
# swings farther than the first of these angles, fully from the second one on [rad]
GROWTH_PER_TURN = 0.15
REGULAR_SWING, WILD_SWING = 0.6, 1.4
# a drive that brings its body to rest within this share of a run leaves no error after it
SETTLED_TIME = 0.01
# the same under `small_steps`, whose contacts are soft rows: what is laid down settles into them
SETTLED_SHARE = 1e-2


def variations(model: Model, state: State) -> Array:
    """(n, VARIED): how the kicks of each body varied, accounting/variation.py."""
    n = len(model.bodies.kind)
    first = LIMITS + len(model.joints.kind) + n
    return state.extremes[first : first + VARIED * n].reshape(n, VARIED)


def may_strike(model: Model) -> bool:
    """Whether a moving body can touch another."""
    moving = model.bodies.kind == DYNAMIC
    return bool((moving & can_touch(model.shapes, len(moving))).any())


def has_thresholds(model: Model) -> bool:
    """Whether joints may break or triggers fire, which blows of other steps may not bring about."""
    return len(model.triggers.kind) > 0 or bool(np.isfinite(model.joints.breaking_force).any())


def is_abrupt(model: Model) -> bool:
    """Whether something changes a motion at a moment, wherever that is within a step: stops and
    friction of joints, motors with a largest force, and what `has_thresholds` says."""
    joints = model.joints
    bounded = np.isfinite(joints.motor_max_force).any()
    held = (joints.limit_on != 0).any() or (joints.friction > 0.0).any()
    return bool(bounded or held or has_thresholds(model))


def ratio(above: Array, below: Array) -> Array:
    """above / below; 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0.0)


def scales(largest_square: Array, path: Array, kicked: Array, h: float) -> Array:
    """(n,): amplitude of an oscillation, height of a fall: h sum |v| |v|max / sum |dv|."""
    return ratio(h * path * np.sqrt(largest_square), kicked)


def swings(kicked: Array, largest_square: Array) -> Array:
    """(n,): how often a velocity turned round."""
    return ratio(kicked, 2.0 * np.sqrt(largest_square))


def least_moments(model: Model, kept: Array, links: NDArray[np.bool_]) -> Array:
    """(n,): what an error of L is divided by to be an angle: kg m^2, 1 where w itself is kept; of
    links (twists_freely) the moment across their axis."""
    found = np.ones(len(kept))
    chosen = kept[:, KEEPS_L] == 1.0
    moments = np.linalg.eigvalsh(model.bodies.inertia_B[chosen])
    # two of a body of revolution are across its axis: the middle one is
    found[chosen] = np.where(links[chosen], moments[:, 1], moments[:, 0])
    return found


def twists_freely(model: Model, kept: Array) -> NDArray[np.bool_]:
    """(n,): bodies of revolution that ball joints hold, as the links of ropes: no equation has
    their twist, and it is not seen."""
    joints, n = model.joints, len(kept)
    ends = np.concatenate([joints.body_a, joints.body_b])
    others = np.tile(joints.kind != BALL, 2)
    held, elsewhere = np.bincount(ends, minlength=n), np.bincount(ends, others, n)
    round_bodies = kept[:, SPIN_AXIS : SPIN_AXIS + 3].any(axis=1)
    found: NDArray[np.bool_] = round_bodies & (held[:n] > 0) & (elsewhere[:n] == 0)
    return found


def driven_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies of joints with a drive that is a spring."""
    joints, found = model.joints, np.zeros(len(model.bodies.kind), bool)
    driven = (joints.motor_stiffness != 0.0).any(axis=(1, 2))
    found[joints.body_a[driven]] = found[joints.body_b[driven]] = True
    return found


def lagging_bodies(model: Model, h: float) -> NDArray[np.bool_]:
    """(n,): bodies of joints with a drive that is too stiff for the step (springs.drive_gain).

    Whether one is whose stiffness depends on its way is not known: it counts as such.
    """
    joints, found = model.joints, np.zeros(len(model.bodies.kind), bool)
    stiffness, inverse_mass = joints.motor_stiffness, joints.motor_inverse_mass
    lags = h * np.sqrt(np.maximum(stiffness[:, :, 0], 0.0) * inverse_mass) > FOLLOWED_PHASE
    yields = stiffness.any(axis=2)
    lags |= yields & (h * joints.motor_damping * inverse_mass > FOLLOWED_PHASE)
    lagging = (lags | (stiffness[:, :, 1:] != 0.0).any(axis=2)).any(axis=1)
    found[joints.body_a[lagging]] = found[joints.body_b[lagging]] = True
    return found


def cushioned_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies with a shape of a material that is compliant to some other."""
    shapes, found = model.shapes, np.zeros(len(model.bodies.kind), bool)
    soft: NDArray[np.bool_] = np.any(model.materials.compliance > 0.0, axis=1)
    found[shapes.body[soft[shapes.material]]] = True
    return found


def soft_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies of compliant materials, or with a spring, a drive or a stop of a joint that
    yields: these are rows, too, and miss twice the phase of a force."""
    joints, found = model.joints, cushioned_bodies(model) | driven_bodies(model)
    sprung = (joints.spring_on == 1) | (joints.limit_stiffness != 0.0).any(axis=(1, 2))
    found[joints.body_a[sprung]] = found[joints.body_b[sprung]] = True
    return found


def settled_bodies(model: Model, kept: Array, steps: int) -> NDArray[np.bool_]:
    """(n,): bodies on drives that are springs, which move for a small part of a run only.

    A drive brings its body to the target whatever the step: what is wrong is so while it moves.
    """
    # a run that blew up has no other speeds than infinite ones
    kept = np.nan_to_num(kept)
    moving = ratio(kept[:, PATH_V], np.sqrt(kept[:, LARGEST_V]))
    turning = ratio(kept[:, PATH_L], np.sqrt(kept[:, LARGEST_L]))
    settled: NDArray[np.bool_] = np.maximum(moving, turning) < SETTLED_TIME * steps
    return driven_bodies(model) & settled


def errors_of_spins(model: Model, kept: Array, h: float, steps: int) -> Array:
    """(n,): error of the direction of bodies of revolution that ball joints of trees hold."""
    joints = model.joints
    on_ball = np.zeros(len(kept), bool)
    inner = (joints.kind == BALL) & (model.tree.inner == 1)
    on_ball[joints.body_b[inner]] = True
    # a run that blew up has no other spins than infinite ones
    mean = h * np.nan_to_num(kept[:, [TURNED, AXIS_TURNED]], posinf=0.0) / max(steps, 1)
    spin = np.maximum(mean[:, 0] ** 2 - mean[:, 1] ** 2, 0.0)
    turned = mean[:, 1] * steps
    share = ERROR_OF_SPINS * spin * np.maximum(turned, 1.0)
    return np.where(on_ball & (share * np.minimum(turned, 1.0) > SMALL_TURN), share, 0.0)


def stretch_errors(model: Model, state: State) -> Array:
    """(j + f,): estimated error of the coordinate of each spring by the size of the step, over its
    reach: that of an oscillation."""
    kept = spring_records(model, state)
    error = ERROR_OF_CHANGE * kept[:, MOST_VARIED_X]
    reach = 0.5 * (kept[:, MOST_X] - kept[:, LEAST_X])
    given = prescribed_bodies(model) | (model.bodies.kind != DYNAMIC)
    prescribed = np.concatenate(
        [given[one.body_a] & given[one.body_b] for one in (model.joints, model.forces)]
    )
    prescribed[: len(model.joints.kind)] &= model.joints.kind != COUPLING
    return np.where((error > SMALL_SHARE) & ~prescribed, ratio(error, reach), 0.0)


def growth(model: Model, kept: Array, h: float) -> Array:
    """(n,): by what errors of bodies grow where joints leave several motions free.

    A rotor turns but is not turned round, a pendulum of small swings is turned round but turns
    little: neither is chaotic.
    """
    turned, count = h * kept[:, TURNED], swings(kept[:, SUM_L], kept[:, LARGEST_L])
    swing = ratio(turned, 2.0 * count)
    wild = ((swing - REGULAR_SWING) / (WILD_SWING - REGULAR_SWING)).clip(0.0, 1.0)
    exponent = GROWTH_PER_TURN * wild * np.minimum(turned, 4.0 * count)
    return np.exp(np.where(free_motions(model) > 1, exponent, 0.0).clip(0.0, 50.0))


def reaches(kept: Array) -> Array:
    """(n,) m: half the diagonal of the box about the way of each centre of mass."""
    box = kept[:, MOST_P : MOST_P + 3] - kept[:, LEAST_P : LEAST_P + 3]
    return 0.5 * np.linalg.norm(box, axis=1)


def ways_of_impacts(model: Model, kept: Array, options: StepOptions, ways: Array) -> Array:
    """(n,) m: what early impacts displace bodies along, by the ways (n,) of all; of those that
    strike one another the longest way of any, as a ball in the middle of a row hardly moves."""
    moving = model.bodies.kind == DYNAMIC
    among = (kept[:, IMPACTS] > 0.0) & moving[kept[:, IMPACT_WITH].astype(int)]
    if options.restitution_law == RestitutionLaw.PROPAGATING:
        among = kept[:, MOST_EARLY] > 0.0
    return np.where(among & moving, ways[among & moving].max(initial=0.0), ways)


def errors_of_bounces(model: Model, state: State, kept: Array) -> Array:
    """(n,): displacement of each body over its way, if what energy appeared or vanished without a
    cause was that of its bounces; what is slower than REST_SPEED bounces no more."""
    rest = 0.5 * float(model.bodies.mass.sum()) * REST_SPEED**2
    kinetic = max(float(state.extremes[EXTREME_KINETIC]), rest)
    share = float(state.extremes[EXTREME_DRIFT]) / kinetic if kinetic > 0.0 else 0.0
    return ERROR_OF_BOUNCES * share * swings(kept[:, SUM_V], kept[:, LARGEST_V])


def step_errors(model: Model, state: State, options: StepOptions, parted: Array) -> Array:
    """(n,): estimated error of each body's motion by the size of the step, over its scale.

    Errors that matter exceed `parted` (n,) [m], the ways out of overlaps (parting.parted_ways).

    With exact impacts nothing is estimated of bodies that can touch others; what rigid drives
    prescribe has no such error.
    """
    kept, h = variations(model, state), float(options.time_step)
    slowed = state.link_inertia.any(axis=1)
    moving, lagging = model.bodies.kind == DYNAMIC, lagging_bodies(model, h)
    moving &= ~prescribed_bodies(model)
    if options.impact_time == ImpactTime.EXACT:
        moving &= ~can_touch(model.shapes, len(moving))
    grown, length = growth(model, kept, h), body_lengths(model, state.p_WB)
    factor = ERROR_OF_CHANGE * np.where(soft_bodies(model), ERROR_OF_SOFTNESS, 1.0)
    cushioned = cushioned_bodies(model)
    factor *= np.where(cushioned, CUSHIONED, 1.0)
    factor *= np.where(slowed, ERROR_OF_LINKS, 1.0)
    factor *= ERROR_OF_ORBITS if has_orbits(model) else 1.0
    turning = scales(kept[:, LARGEST_L], kept[:, PATH_L], kept[:, SUM_L], h)
    # a body that stands on a drive settles, and an angle that matters moves its end by this share
    small = np.where(driven_bodies(model), SMALL_TURN, SMALL_SHARE)
    small = np.where(settles(state, options), SETTLED_SHARE, small)
    least_way = small * length + parted
    worst = ERROR_OF_STOPS * kept[:, STOP_PHASE] ** 2
    worst = np.maximum(worst, np.where(cushioned, errors_of_bounces(model, state, kept), 0.0))
    moments = errors_of_moments(model, kept, h)
    # what turns about its centre has no way of its own
    way = np.maximum(reaches(kept), SMALL_SHARE * length)
    worst = np.maximum(worst, np.where(moments > least_way, ratio(moments, way), 0.0))
    early = ERROR_OF_IMPACTS * grown * np.maximum(kept[:, MOST_EARLY], kept[:, MOST_AIM])
    along = ways_of_impacts(model, kept, options, way)
    early = np.where(early > least_way, ratio(early, along), 0.0)
    turned = ERROR_OF_IMPACTS * grown * kept[:, MOST_EARLY_TURN]
    # a direction swings by one radian at most to either side of its mean
    seen = np.where(shows_turns(model), np.minimum(h * kept[:, TURNED], 1.0), h * kept[:, TURNED])
    turned = np.where(turned > SMALL_TURN, ratio(turned, seen), 0.0)
    worst = np.maximum(worst, errors_of_spins(model, kept, h, int(state.step[0])))
    given, links = driven_mechanisms(model), twists_freely(model, kept)
    moments_of = least_moments(model, kept, links)
    settled = settled_bodies(model, kept, int(state.step[0]))
    # links that are slowed down tremble; what counts is how far they turn
    turning = np.where(slowed & links, moments_of * seen, turning)
    for kicked, lagged, varied, known, scale, unit, least in (
        (SUM_V, MOST_LAGGED_V, MOST_VARIED_V, early, way, 1.0, least_way),
        (SUM_L, MOST_LAGGED_L, MOST_VARIED_L, turned, turning, moments_of, SMALL_TURN),
    ):
        # a driven mechanism takes errors back: they are those of one swing
        largest = kept[:, LARGEST_V if kicked == SUM_V else LARGEST_L]
        grown = np.where(given, grown / np.maximum(swings(kept[:, kicked], largest), 1.0), grown)
        first_order = np.where(lagging, ERROR_OF_DRIVES * kept[:, lagged], 0.0)
        error = h * grown * np.maximum(factor * kept[:, varied], first_order)
        error = np.where(settled, 0.0, error)
        share = np.where(error / unit > least, ratio(error, scale), 0.0)
        worst = np.maximum(worst, share + known)
    return np.where(moving, worst, 0.0)


def has_orbits(model: Model) -> bool:
    """Whether bodies attract each other."""
    return bool((model.forces.kind == FORCE_POINT_GRAVITY).any())


def errors_of_moments(model: Model, kept: Array, h: float) -> Array:
    """(n,) m: displacement by what happens within a step at another moment, or not at all:
    friction that took from a blow, static friction that let go, drag that stops within the step."""
    # a run that blew up has no other speeds than infinite ones
    forces, speed = model.forces, np.sqrt(np.nan_to_num(kept[:, LARGEST_V]))
    kicked = np.nan_to_num(kept[:, SUM_V] + kept[:, FIRST_V])
    rate = np.zeros(len(kept))
    drags = forces.kind == FORCE_DRAG
    body = forces.body_a[drags]
    linear, quadratic = forces.coefficient[drags].T
    np.add.at(rate, body, (linear + quadratic * speed[body]) * model.bodies.inverse_mass[body])
    stopped = h * kicked * (h * rate).clip(0.0, 1.0) ** 2
    released = ERROR_OF_RELEASES * h * kept[:, RELEASES] * speed
    found: Array = kept[:, BRAKED_WAY] + released + ERROR_OF_DRAG * stopped
    return found


def settles(state: State, options: StepOptions) -> bool:
    """Whether bodies settled into contacts that are soft rows of substeps."""
    substeps = options.solver.method == SolverMethod.SMALL_STEPS
    return bool(substeps and state.extremes[EXTREME_CONTACTS] > 0.0)
