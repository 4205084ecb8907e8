"""Findings about the whole motion: what the size of the step costs, energy that is unexplained,
and impacts whose outcome no law determines.

Estimates come from engine/accounting/variation.py; limits were chosen by the scenes of
docs/verification/trust.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import FIRST_STEP, LIMITS, TURN
from cardan.engine.accounting.variation import (
    IMPACTS,
    KEEPS_L,
    LARGEST_L,
    LARGEST_V,
    LEAST_P,
    MOST_P,
    PATH_L,
    SUM_L,
    SUM_V,
    TURNED,
    VARIED,
    VARIED_L,
    VARIED_V,
)
from cardan.engine.build.limits import LARGEST_TURN, REST_SPEED, body_lengths, can_touch
from cardan.engine.build.mobility import free_motions
from cardan.engine.world.model import DYNAMIC, FORCE_POINT_GRAVITY, GEAR, RACK, Model
from cardan.engine.world.options import ImpactTime, Integrator, StepOptions
from cardan.engine.world.state import EXTREME_DRIFT, EXTREME_KINETIC, State

Array = NDArray[np.float64]
Finding = dict[str, Any]

# error of a step over h times the change of its kick: that of an oscillation, (w h)^2/24 of the
# phase, with the mean of |sin|
ERROR_OF_CHANGE = np.pi / 48.0
# error over h times the kicks of bodies on drives that are springs: these are of first order
ERROR_OF_DRIVES = 0.3
# estimated error over the scale of the motion
STEP_SHARE = 0.06
# what compliant contacts add to it: their dampers see the velocity before the kick
ERROR_OF_SOFTNESS = 2.0
# errors that matter are at least this share of the body, or this angle [rad]
SMALL_SHARE, SMALL_TURN = 1e-5, 1e-3
# an unexplained energy that matters lifts every body by this share of its length
SMALL_LIFT = 1e-5
# unexplained energy over the largest kinetic energy
DRIFT_SHARE = 0.08
# the same with point gravity: an orbit multiplies an error of its energy by 3 pi each turn
DRIFT_SHARE_OF_ORBITS = 0.01
# errors of chaotic motion grow by this power of e per rad that a body turns to and fro, if it
# swings farther than the first of these angles, fully from the second one on [rad]
GROWTH_PER_TURN = 0.15
REGULAR_SWING, WILD_SWING = 0.6, 1.4


def variations(model: Model, state: State) -> Array:
    """(n, VARIED): how the kicks of each body varied, accounting/variation.py."""
    n = len(model.bodies.kind)
    first = LIMITS + len(model.joints.kind) + n
    return state.extremes[first:].reshape(n, VARIED)


def ratio(above: Array, below: Array) -> Array:
    """above / below; 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0.0)


def scales(largest_square: Array, path: Array, kicked: Array, h: float) -> Array:
    """(n,): amplitude of an oscillation, height of a fall: h sum |v| |v|max / sum |dv|."""
    return ratio(h * path * np.sqrt(largest_square), kicked)


def swings(kicked: Array, largest_square: Array) -> Array:
    """(n,): how often a velocity turned round."""
    return ratio(kicked, 2.0 * np.sqrt(largest_square))


def least_moments(model: Model, kept: Array) -> Array:
    """(n,): what an error of L is divided by to be an angle: kg m^2, 1 where w itself is kept."""
    found = np.ones(len(kept))
    chosen = kept[:, KEEPS_L] == 1.0
    found[chosen] = np.linalg.eigvalsh(model.bodies.inertia_B[chosen])[:, 0]
    return found


def driven_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies of joints with a drive that is a spring."""
    joints, found = model.joints, np.zeros(len(model.bodies.kind), bool)
    driven = (joints.motor_stiffness != 0.0).any(axis=(1, 2))
    found[joints.body_a[driven]] = found[joints.body_b[driven]] = True
    return found


def soft_bodies(model: Model) -> NDArray[np.bool_]:
    """(n,): bodies with a shape of a material that is compliant to some other, or with a spring
    of a joint: these are rows, too, and miss twice the phase of a force."""
    shapes, found = model.shapes, np.zeros(len(model.bodies.kind), bool)
    soft: NDArray[np.bool_] = np.any(model.materials.compliance > 0.0, axis=1)
    found[shapes.body[soft[shapes.material]]] = True
    joints = model.joints
    sprung = joints.spring_on == 1
    found[joints.body_a[sprung]] = found[joints.body_b[sprung]] = True
    return found


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


def step_errors(model: Model, state: State, options: StepOptions) -> Array:
    """(n,): estimated error of each body's motion by the size of the step, over its scale.

    With exact impacts nothing is estimated of bodies that can touch others.
    """
    kept, h = variations(model, state), float(options.time_step)
    moving, driven = model.bodies.kind == DYNAMIC, driven_bodies(model)
    if options.impact_time == ImpactTime.EXACT:
        moving &= ~can_touch(model.shapes, len(moving))
    grown, length = growth(model, kept, h), body_lengths(model, state.p_WB)
    factor = ERROR_OF_CHANGE * np.where(soft_bodies(model), ERROR_OF_SOFTNESS, 1.0)
    turning = scales(kept[:, LARGEST_L], kept[:, PATH_L], kept[:, SUM_L], h)
    worst = np.zeros(len(length))
    for kicked, varied, scale, unit, least in (
        (SUM_V, VARIED_V, reaches(kept), 1.0, SMALL_SHARE * length),
        (SUM_L, VARIED_L, turning, least_moments(model, kept), SMALL_TURN),
    ):
        first_order = np.where(driven, ERROR_OF_DRIVES * kept[:, kicked], 0.0)
        error = h * grown * np.maximum(factor * kept[:, varied], first_order)
        worst = np.maximum(worst, np.where(error / unit > least, ratio(error, scale), 0.0))
    return np.where(moving, worst, 0.0)


def small_energy(model: Model, state: State) -> float:
    """Energy that does not matter [J]: of lifting every body by SMALL_LIFT of its length, and of
    moving at REST_SPEED, or as fast as each did, if that is less."""
    square = variations(model, state)[:, LARGEST_V].clip(REST_SPEED**4, REST_SPEED**2)
    mass = model.bodies.mass
    weight = float(np.linalg.norm(state.gravity_W))
    lifted = weight * float(mass @ body_lengths(model, state.p_WB))
    return SMALL_LIFT * lifted + 0.5 * float(mass @ square)


def mean_turns(model: Model, state: State, h: float) -> Array:
    """(n,) rad: mean rotation per step of the moving parts of mechanisms.

    A crank turns about a resting axis, but what it moves does not.
    """
    joints, moving = model.joints, model.bodies.kind == DYNAMIC
    coupling = np.isin(joints.kind, (GEAR, RACK))
    inner = moving[joints.body_a] & moving[joints.body_b] & ~coupling
    part_of_one = np.zeros(len(moving), bool)
    part_of_one[joints.body_a[inner]] = part_of_one[joints.body_b[inner]] = True
    turned = h * variations(model, state)[:, TURNED] / max(int(state.step[0]), 1)
    return np.where(part_of_one & moving, turned, 0.0)


def so_far(state: State) -> dict[str, Any]:
    """Fields of a finding that holds for the run up to now."""
    step = int(state.step[0])
    time = float(state.time[0])
    nobody = {"body": None, "other_body": None, "joint": None, "worst": None}
    return {**nobody, "first_time": time, "first_step": step}


def largest_step(h: float, value: float, limit: float, order: int = 2) -> str:
    """The step with which an error of an order is within its limit, with a margin, as a change."""
    return f"Make `simulation.dt` at most {h * 0.8 * (limit / value) ** (1.0 / order):.2g} s."


def of_body(state: State, names: Any, i: int, **more: Any) -> Finding:
    """A finding about body i."""
    return {**so_far(state), "body": names.body(i), "worst": names.body(i), **more}


def step_error_finding(
    model: Model, state: State, options: StepOptions, names: Any
) -> Finding | None:
    """The body whose motion the step is longest for, if it is too long."""
    errors = step_errors(model, state, options)
    worst = int(np.argmax(errors))
    value = float(errors[worst])
    if not value > STEP_SHARE:
        return None
    change = largest_step(float(options.time_step), value, STEP_SHARE)
    more = {"value": value, "limit": STEP_SHARE, "unit": "-", "change": change}
    return of_body(state, names, worst, quantity="step_error", **more)


def mean_turn_finding(model: Model, state: State, h: float, names: Any) -> Finding | None:
    """The part of a mechanism that turns farthest per step, unless a turn was found already."""
    turns = mean_turns(model, state, h)
    fastest = int(np.argmax(turns))
    value = float(turns[fastest])
    if not value > LARGEST_TURN or state.extremes[TURN + FIRST_STEP] > 0.0:
        return None
    change = largest_step(h, value, LARGEST_TURN, 1)
    more = {"value": value, "limit": LARGEST_TURN, "unit": "rad", "change": change}
    return of_body(state, names, fastest, quantity="turn_per_step", **more)


def drift_finding(model: Model, state: State) -> Finding | None:
    """Energy that appeared or vanished without a cause."""
    drift = float(state.extremes[EXTREME_DRIFT])
    orbits = bool((model.forces.kind == FORCE_POINT_GRAVITY).any())
    share = DRIFT_SHARE_OF_ORBITS if orbits else DRIFT_SHARE
    limit = share * float(state.extremes[EXTREME_KINETIC]) + small_energy(model, state)
    if not drift > limit > 0.0 or not math.isfinite(drift):
        return None
    more = {"value": drift, "limit": limit, "unit": "J", "change": "Make `simulation.dt` smaller."}
    return {**so_far(state), "quantity": "energy_drift", **more}


def impact_finding(model: Model, state: State, names: Any) -> Finding | None:
    """The first body that bounced off two others in one step."""
    struck = np.flatnonzero(variations(model, state)[:, IMPACTS] > 1.0)
    if len(struck) == 0:
        return None
    change = (
        '`simulation.contact.restitution_law`: "propagating" lets impacts travel from contact to '
        "contact; compare the laws."
    )
    more = {"value": 2.0, "limit": 1.0, "unit": "bodies", "change": change}
    return of_body(state, names, int(struck[0]), quantity="simultaneous_impacts", **more)


def motion_findings(model: Model, state: State, options: StepOptions, names: Any) -> list[Finding]:
    """Findings about the motion up to now; integrators of smooth motion have none.

    names gives body(i); see engine/verdict/findings.py.
    """
    if state.step[0] == 0 or options.integrator != Integrator.SEMI_IMPLICIT_EULER:
        return []
    found = (
        step_error_finding(model, state, options, names),
        mean_turn_finding(model, state, float(options.time_step), names),
        drift_finding(model, state),
        impact_finding(model, state, names),
    )
    return [one for one in found if one is not None]
