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

from cardan.engine.accounting.body_records import (
    AXIS_TURNED,
    IMPACTS,
    ON_FACETS,
    TURNED,
    TURNED_ON_FACES,
)
from cardan.engine.accounting.crossings import FIRST_STEP, TURN
from cardan.engine.accounting.drive_noise import LARGEST, NOISE, NOISE_TIME, drive_records
from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.limits import LARGEST_TURN, LENGTH_SHARE, REST_SPEED, body_lengths
from cardan.engine.build.mobility import driven_mechanisms, prescribed_bodies
from cardan.engine.verdict.estimates import (
    cushioned_bodies,
    has_orbits,
    is_abrupt,
    may_strike,
    ratio,
    reaches,
    step_errors,
    stretch_errors,
    variations,
)
from cardan.engine.verdict.small_energies import energy_of_lifting, small_energy
from cardan.engine.world.model import (
    BOX,
    CAPSULE,
    COUPLING,
    DYNAMIC,
    ELLIPSOID,
    GEAR,
    PLANE,
    RACK,
    SLIDER,
    SPHERE,
    Model,
)
from cardan.engine.world.options import (
    Integrator,
    StepOptions,
)
from cardan.engine.world.state import (
    EXTREME_DRIFT,
    EXTREME_KINETIC,
    LEDGER_WORK_IN,
    RETURNED_LARGEST,
    RETURNED_TIME,
    State,
)

Array = NDArray[np.float64]
Finding = dict[str, Any]

# [rad] per step from which on whole turns of a followed angle cannot be told
HALF_TURN = np.pi
# estimated error over the scale of the motion
STEP_SHARE = 0.06
# of the present step: an error that asks for less is far beyond where orders of errors hold
LEAST_SHARE = 1e-3
FAR_CHANGE = (
    "Make `simulation.dt` smaller: by how much, an error this large does not tell. `verify` "
    "measures until when the answer holds."
)
# steps are advised that are smaller than errors ask for, by these shares: what touches has other
# errors with each step, as its impacts fall on other moments of one
MARGIN, MARGIN_TOUCHING = 0.8, 0.4
# unexplained energy over the largest kinetic energy
DRIFT_SHARE = 0.08
# the same with point gravity: an orbit multiplies an error of its energy by 3 pi each turn
DRIFT_SHARE_OF_ORBITS = 0.01
# energy that loops of trees get back in one step, over the largest kinetic energy: smooth
# mechanisms at careless steps have up to 2.4e-4, parallel cranks from 7.7e-4 on
RETURNED_SHARE = 5e-4
# force of a rigid drive that alternates, over its largest; the least that matters is this share of
# the largest kinetic energy, per rad
NOISE_SHARE, NOISE_OF_ENERGY = 0.05, 1e-3
# energy lost by turning on faces, or at the edges of facets, over what there was and was given
PATCH_SHARE = 0.08
# of each: its name, and what to change
PATCHES = {
    TURNED_ON_FACES: (
        "turning_on_face",
        "Compare with the lever arm of the true pressure; scale `friction` of the pair by it, or "
        "let it touch at one point and give it `spinning_friction`.",
    ),
    ON_FACETS: ("facet_impacts", "Use a finer mesh, or a shape that is round."),
}
SMALLER_STEP = "Make `simulation.dt` smaller."
# decision 1080: points of contact come and go with a depth, whatever the step is
RIM_CHANGE = (
    f"{SMALLER_STEP} Rims and facets that sink into what is soft may bring or take energy with any "
    "step: give the pair more `damping`, or no `compliance`."
)
# shapes whose points of contact come and go without a depth
SMOOTH = (SPHERE, CAPSULE, ELLIPSOID, BOX, PLANE)
LOOP_CHANGE = '`simulation.formulation`: "maximal" is right at dead centres; or a smaller `dt`.'
CABLE_CHANGE = (
    "A cable that is wound up to the rim of its wheel has no tangent any more: let a stop "
    "(`limits` of the joint that the drum turns on) hold before that. Else make `simulation.dt` "
    "smaller."
)


def energy_change(model: Model) -> str:
    """A sentence that says how to mend an energy that nothing explains."""
    if (model.joints.wheel > 0.0).any():
        return CABLE_CHANGE
    soft = cushioned_bodies(model)[model.shapes.body]
    return RIM_CHANGE if (soft & ~is_one_of(model.shapes.kind, SMOOTH)).any() else SMALLER_STEP


def mean_turns(model: Model, state: State, h: float) -> Array:
    """(n,) rad: mean rotation per step of the moving parts of mechanisms.

    A crank turns about a resting axis, but what it moves does not; shafts whose middles stay where
    they are move nothing, and driven mechanisms follow their drives at any speed.
    """
    joints, moving = model.joints, model.bodies.kind == DYNAMIC
    coupling = is_one_of(joints.kind, (GEAR, RACK, COUPLING))
    given = driven_mechanisms(model) | prescribed_bodies(model)
    free = ~(given[joints.body_a] & given[joints.body_b])
    inner = moving[joints.body_a] & moving[joints.body_b] & free & ~coupling
    part_of_one = np.zeros(len(moving), bool)
    part_of_one[joints.body_a[inner]] = part_of_one[joints.body_b[inner]] = True
    kept = variations(model, state)
    moves = reaches(kept) > LENGTH_SHARE * body_lengths(model, state.p_WB)
    turned = h * kept[:, AXIS_TURNED] / max(int(state.step[0]), 1)
    return np.where(part_of_one & moving & moves, turned, 0.0)


def counted_turns(model: Model, state: State, h: float) -> Array:
    """(n,) rad: rotation per step of bodies whose angles are followed over whole turns.

    That is those of gears, racks and couplings; the larger of the mean and of the last step.
    """
    joints = model.joints
    coupled = is_one_of(joints.kind, (GEAR, RACK))
    coupled[joints.term_joint] = True
    followed = np.zeros(len(model.bodies.kind), bool)
    followed[joints.body_a[coupled]] = followed[joints.body_b[coupled]] = True
    mean = variations(model, state)[:, TURNED] / max(int(state.step[0]), 1)
    last = np.linalg.norm(state.w_WB_W, axis=1)
    return np.where(followed & (model.bodies.kind == DYNAMIC), h * np.maximum(mean, last), 0.0)


def so_far(state: State) -> dict[str, Any]:
    """Fields of a finding that holds for the run up to now."""
    step = int(state.step[0])
    time = float(state.time[0])
    nobody = {"body": None, "other_body": None, "joint": None, "worst": None}
    return {**nobody, "first_time": time, "first_step": step}


def largest_step(
    h: float, value: float, limit: float, order: int = 2, margin: float = MARGIN
) -> str:
    """The step with which an error of an order is within its limit, with a margin, as a change."""
    share = margin * (limit / value) ** (1.0 / order)
    if share < LEAST_SHARE:
        return FAR_CHANGE
    return f"Make `simulation.dt` at most {h * share:.2g} s."


def step_change(model: Model, h: float, value: float) -> str:
    """The step that an error of a motion, over its reach, asks for, as a change.

    Impacts, and what else changes at a moment within a step, leave errors of first order.
    """
    touch = may_strike(model)
    order = 1 if touch or is_abrupt(model) else 2
    return largest_step(h, value, STEP_SHARE, order, MARGIN_TOUCHING if touch else MARGIN)


def of_body(state: State, names: Any, i: int, **more: Any) -> Finding:
    """A finding about body i."""
    return {**so_far(state), "body": names.body(i), "worst": names.body(i), **more}


def ends_of_spring(model: Model, spring: int) -> tuple[int, int, int]:
    """Parent and child of a spring, of a coupling those of its last term, and its joint; -1: none.

    Springs are those of joints, then force elements.
    """
    joints, n = model.joints, len(model.joints.kind)
    if spring >= n:
        return int(model.forces.body_a[spring - n]), int(model.forces.body_b[spring - n]), -1
    last = int(joints.term_start[spring + 1]) - 1
    moved = joints.term_joint[last] if joints.kind[spring] == COUPLING else spring
    return int(joints.body_a[moved]), int(joints.body_b[moved]), spring


def step_error_finding(
    model: Model, state: State, options: StepOptions, names: Any, parted: Array
) -> Finding | None:
    """The body whose motion the step is longest for, if it is too long; or a spring, if it is
    longer still for its own motion."""
    errors = step_errors(model, state, options, parted)
    within = stretch_errors(model, state)
    value = float(max(errors.max(), within.max(initial=0.0)))
    if not value > STEP_SHARE:
        return None
    change = step_change(model, float(options.time_step), value)
    more = {"value": value, "limit": STEP_SHARE, "unit": "-", "change": change}
    if errors.max() == value:
        return of_body(state, names, int(np.argmax(errors)), quantity="step_error", **more)
    parent, child, joint = ends_of_spring(model, int(np.argmax(within)))
    more["other_body"] = names.body(parent)
    more["joint"] = None if joint < 0 else names.joints[joint]
    return of_body(state, names, child, quantity="stretch_error", **more)


def turn_finding(turns: Array, limit: float, state: State, h: float, names: Any) -> Finding | None:
    """The body of the largest turn per step above a limit, unless a turn was found already."""
    fastest = int(np.argmax(turns))
    value = float(turns[fastest])
    if not value > limit or state.extremes[TURN + FIRST_STEP] > 0.0:
        return None
    change = largest_step(h, value, limit, 1)
    more = {"value": value, "limit": limit, "unit": "rad", "change": change}
    return of_body(state, names, fastest, quantity="turn_per_step", **more)


def drift_finding(
    model: Model, state: State, options: StepOptions, parted: Array
) -> Finding | None:
    """Energy that appeared or vanished without a cause: beyond that of lifting by `parted`."""
    drift = float(state.extremes[EXTREME_DRIFT])
    share = DRIFT_SHARE_OF_ORBITS if has_orbits(model) else DRIFT_SHARE
    limit = share * float(state.extremes[EXTREME_KINETIC]) + small_energy(model, state, options)
    limit += energy_of_lifting(model, state, parted)
    if not drift > limit > 0.0 or not math.isfinite(drift):
        return None
    more = {"value": drift, "limit": limit, "unit": "J", "change": energy_change(model)}
    return {**so_far(state), "quantity": "energy_drift", **more}


def loop_finding(model: Model, state: State, options: StepOptions, names: Any) -> Finding | None:
    """Loops of trees whose rates had to be scaled by far more in one step than a drift explains.

    So it is after a dead centre, where the equations of a loop lose their rank: drives then have
    torques that are noise for some steps, and fast mechanisms leave their branch. Where nothing
    moves, as in a frame, both energies are rounding.
    """
    loops = np.flatnonzero(model.tree.inner == 0)
    largest = float(state.extremes[RETURNED_LARGEST])
    kinetic = float(state.extremes[EXTREME_KINETIC])
    limit = RETURNED_SHARE * kinetic
    if len(model.tree.kind) == 0 or len(loops) == 0 or not largest > limit > 0.0:
        return None
    if kinetic < small_energy(model, state, options):
        return None
    more = {"value": largest, "limit": limit, "unit": "J", "change": LOOP_CHANGE}
    found = so_far(state) | {"joint": names.joints[int(loops[0])], "quantity": "loop_jump"}
    time = float(state.extremes[RETURNED_TIME])
    step = round(time / max(float(state.time[0]), 1e-300) * int(state.step[0]))
    return {**found, **more, "first_time": time, "first_step": step}


def drive_finding(model: Model, state: State, options: StepOptions, names: Any) -> Finding | None:
    """The rigid drive whose force alternates most from step to step, if that is noise that matters.

    Matter does a share of its largest force that would change the largest kinetic energy by
    NOISE_OF_ENERGY over a radian, or over the length of what it drives.
    """
    joints, h = model.joints, float(options.time_step)
    kept = drive_records(model, state)
    if not kept[:, NOISE].any():
        return None
    unit = np.where(joints.kind == SLIDER, body_lengths(model, state.p_WB)[joints.body_b], 1.0)
    least = NOISE_OF_ENERGY * float(state.extremes[EXTREME_KINETIC]) / unit
    noise, limit = kept[:, NOISE] / h, NOISE_SHARE * kept[:, LARGEST] / h
    limit = np.maximum(limit, least)
    worst = int(np.argmax(ratio(noise, limit)))
    if not noise[worst] > limit[worst]:
        return None
    more = {"value": float(noise[worst]), "limit": float(limit[worst]), "change": LOOP_CHANGE}
    time, name = float(kept[worst, NOISE_TIME]), names.joints[worst]
    more |= {"unit": "N" if joints.kind[worst] == SLIDER else "N m", "joint": name, "worst": name}
    found = so_far(state) | more | {"quantity": "drive_noise"}
    return found | {"first_time": time, "first_step": round(time / h)}


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


def patch_finding(model: Model, state: State, names: Any, which: int) -> Finding | None:
    """The body that lost most by turning on faces, or at the edges of facets, if that matters.

    That is a share of the largest kinetic energy and of the work done: cars that turn all the time
    lose to their tyres what their drives give.
    """
    quantity, change = PATCHES[which]
    lost = np.where(model.bodies.kind == DYNAMIC, variations(model, state)[:, which], 0.0)
    worst = int(np.argmax(lost))
    given = float(state.extremes[EXTREME_KINETIC]) + max(float(state.ledger[LEDGER_WORK_IN]), 0.0)
    small = 0.5 * float(model.bodies.mass[worst]) * REST_SPEED**2
    value, limit = float(lost[worst]), max(PATCH_SHARE * given, small)
    if not value > limit:
        return None
    more = {"value": value, "limit": limit, "unit": "J", "change": change}
    return of_body(state, names, worst, quantity=quantity, **more)


def motion_findings(
    model: Model, state: State, options: StepOptions, names: Any, parted: Array
) -> list[Finding]:
    """Findings about the motion up to now; of integrators of smooth motion its energy alone.

    names gives body(i); see engine/verdict/findings.py. parted (n,) [m]: parting.parted_ways
    """
    if state.step[0] == 0:
        return []
    if options.integrator != Integrator.SEMI_IMPLICIT_EULER:
        drift = drift_finding(model, state, options, parted)
        return [] if drift is None else [drift]
    h = float(options.time_step)
    found = (
        step_error_finding(model, state, options, names, parted),
        turn_finding(mean_turns(model, state, h), LARGEST_TURN, state, h, names),
        turn_finding(counted_turns(model, state, h), HALF_TURN, state, h, names),
        drift_finding(model, state, options, parted),
        loop_finding(model, state, options, names),
        drive_finding(model, state, options, names),
        impact_finding(model, state, names),
        patch_finding(model, state, names, TURNED_ON_FACES),
        patch_finding(model, state, names, ON_FACETS),
    )
    return [one for one in found if one is not None]
