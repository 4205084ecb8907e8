"""Verdict on a run: whether results are trusted, the first violation, and the setting to change.

A finding is a plain object with the keys of schemas.summary.Finding; warnings are their sentences.
What is compared in every step is in accounting/crossings.py, the limits are in build/limits.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import (
    APART,
    DEPTH,
    DRIVE,
    FIRST_STEP,
    FIRST_WHO,
    GROWTH,
    TRAVEL,
    TURN,
    TWIST,
    WORST,
    WORST_LIMIT,
    WORST_WHO,
)
from cardan.engine.build.limits import LENGTH_SHARE, body_lengths, shorter_length
from cardan.engine.build.mobility import joined_bodies
from cardan.engine.errors import Failure
from cardan.engine.verdict.moments import moment_findings
from cardan.engine.verdict.motion import (
    CABLE_CHANGE,
    energy_change,
    largest_step,
    motion_findings,
)
from cardan.engine.verdict.small_energies import energy_of_lifting
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import StepOptions
from cardan.engine.world.state import EXTREME_RESIDUAL, State

Finding = dict[str, Any]

# what makes a run wrong beyond this multiple of its limit; an unexplained energy that must also be
# more than there ever was, as small ones matter where nothing moves (small_energies.all_energy)
FAR = 10.0
WRONG = ("joint_error", "joint_angle", "drive_error", "penetration", "energy_growth")
# bodies are a rope where the lightest is lighter than all together by this factor
LIGHT = 50.0
# phase per step at which the links of a rope are followed [rad]
ROPE_TURN = 0.5
# largest number of overlapping pairs that are listed
MOST_OVERLAPS = 10

DEPTH_CHANGE = (
    "Make `simulation.dt` smaller; if bodies press hard, make their masses less unlike or "
    "give `simulation.solver` more `max_iterations`."
)
# what an overlap at the start may lead to, and what is to be changed then
LED_TO = ("energy_growth", "energy_drift", "penetration")
OVERLAP_CHANGE = (
    "Mend the overlap at the start first: bodies that are pushed apart are deep and gain energy, "
    "whatever the step."
)
DRIVE_CHANGE = (
    "Give the motor a `max_force`, with which it yields, or take away what holds it: a stop, a "
    "contact, another motor."
)


class Names(NamedTuple):
    """Names of bodies and joints, in the order of the scene."""

    bodies: Sequence[str]
    joints: Sequence[str]

    def body(self, i: int) -> str:
        """Name of body i; the world is the one after the last."""
        return self.bodies[i] if i < len(self.bodies) else "world"


class Overlap(NamedTuple):
    """Two bodies that overlap at the start."""

    body_a: int
    body_b: int
    depth: float  # m
    limit: float  # m  LENGTH_SHARE of the shorter one


def find_overlaps(model: Model, state: State, contacts: Contacts) -> list[Overlap]:
    """Pairs of bodies that overlap by more than LENGTH_SHARE of the shorter, the worst first.

    Compliant contacts are meant to overlap.

    Reads   contacts at the current poses
    """
    n = int(contacts.count[0])
    deep = np.flatnonzero((contacts.gap[:n] < 0.0) & (contacts.compliance[:n] == 0.0))
    if len(deep) == 0:
        return []
    depth: dict[tuple[int, int], float] = {}
    for c in deep:
        pair = sorted((int(contacts.body_a[c]), int(contacts.body_b[c])))
        key = (pair[0], pair[1])
        depth[key] = max(depth.get(key, 0.0), -float(contacts.gap[c]))
    length = body_lengths(model, state.p_WB)
    found = []
    for (a, b), most in depth.items():
        limit = LENGTH_SHARE * float(shorter_length(model, length, a, b))
        if most > limit:
            found.append(Overlap(a, b, most, limit))
    return sorted(found, key=lambda one: (-one.depth / one.limit, one.body_a, one.body_b))


def ignored_pairs(model: Model, overlaps: Sequence[Overlap]) -> list[Overlap]:
    """Which of the overlapping pairs `ignore_initial_overlaps` keeps from colliding.

    All pairs of dynamic bodies; a pair with a static or kinematic body where joints hold the
    dynamic one. What floats may stand on such a body, and would fall through it.
    """
    joints, moving, part = model.joints, model.bodies.kind == DYNAMIC, joined_bodies(model)
    a, b = joints.body_a, joints.body_b
    held = set(part[a[moving[a] & ~moving[b]]]) | set(part[b[moving[b] & ~moving[a]]])
    found = []
    for one in overlaps:
        ends = [body for body in (one.body_a, one.body_b) if moving[body]]
        if len(ends) == 2 or any(part[body] in held for body in ends):
            found.append(one)
    return found


def overlap_change(model: Model, one: Overlap) -> str:
    """A sentence that says how to mend an overlap at the start."""
    ignored = (
        "set `simulation.ignore_initial_overlaps`: true, " if ignored_pairs(model, [one]) else ""
    )
    return (
        f"Move them apart, {ignored}or keep the pair from touching by `collision_group` and "
        "`collision_mask`."
    )


def overlap_findings(model: Model, overlaps: Sequence[Overlap], names: Names) -> list[Finding]:
    """One finding for each pair of bodies, of at most MOST_OVERLAPS of them."""
    found: list[Finding] = [
        {
            "quantity": "initial_overlap",
            "value": one.depth,
            "limit": one.limit,
            "unit": "m",
            "body": names.body(one.body_a),
            "other_body": names.body(one.body_b),
            "joint": None,
            "worst": None,
            "first_time": 0.0,
            "first_step": 0,
            "change": overlap_change(model, one),
        }
        for one in overlaps[:MOST_OVERLAPS]
    ]
    if len(overlaps) > MOST_OVERLAPS:
        found[-1]["others"] = len(overlaps) - MOST_OVERLAPS
    return found


def crossing(state: State, what: int, h: float) -> Finding | None:
    """Fields common to all kinds of crossings; None without a crossing of this kind.

    `first` and `worst_who` are indices of bodies or joints.
    """
    record = state.extremes[what : what + 5]
    step = int(record[FIRST_STEP])
    if step == 0:
        return None
    return {
        "value": float(record[WORST]),
        "limit": float(record[WORST_LIMIT]),
        "body": None,
        "other_body": None,
        "joint": None,
        "first": int(record[FIRST_WHO]),
        "worst_who": int(record[WORST_WHO]),
        "first_time": step * h,
        "first_step": step,
    }


def joint_change(model: Model, state: State, options: StepOptions, j: int) -> str:
    """Settings that reduce the error of joint j, as a sentence."""
    if has_cable(model, j):
        return CABLE_CHANGE
    rope = rope_step(model, state, j)
    if rope is not None and rope < options.time_step:
        return (
            f"Light bodies carry heavy ones: their tension makes them swing fast. Make "
            f"`simulation.dt` at most {rope:.2g} s, make the light bodies heavier, or replace them "
            f"by one joint of type `distance` with `limits`, a rope without mass."
        )
    if state.extremes[EXTREME_RESIDUAL] > options.solver.tolerance:
        solver = (
            ' or `simulation.solver.method`: "auto" with more `max_iterations`; where motors and '
            "stops or joints contradict each other, give the motors a `max_force`"
        )
    else:
        solver = ""
    if len(model.tree.kind) > 0:
        return f"Make `simulation.dt` smaller{solver}."
    return f'Make `simulation.dt` smaller, or use `simulation.formulation`: "reduced"{solver}.'


def has_cable(model: Model, j: int) -> bool:
    """Whether joint j is a cable on a wheel, or a coupling with one."""
    joints = model.joints
    terms = joints.term_joint[joints.term_start[j] : joints.term_start[j + 1]]
    return bool((joints.wheel[[j, *terms]] > 0.0).any())


def rope_step(model: Model, state: State, j: int) -> float | None:
    """Step [s] for the lightest body among those joint j connects, under the weight of all.

    A link of mass m and length l under a tension T turns about its middle with 12 T/(m l); two
    links that turn against each other are stiffer by a few.
    """
    part, bodies = joined_bodies(model), model.bodies
    moving = bodies.kind == DYNAMIC
    ends = [b for b in (int(model.joints.body_a[j]), int(model.joints.body_b[j])) if moving[b]]
    weight = float(np.linalg.norm(state.gravity_W))
    if not ends or weight == 0.0:
        return None
    together = moving & (part == part[ends[0]])
    mass, length = bodies.mass[together], body_lengths(model, state.p_WB)[together]
    lightest = int(np.argmin(mass * length))
    if mass[lightest] * LIGHT > mass.sum():
        return None
    tension = weight * float(mass.sum())
    return ROPE_TURN * float(np.sqrt(mass[lightest] * length[lightest] / (12.0 * tension)))


# numbers of runs that fail are beyond all limits
@np.errstate(over="ignore", invalid="ignore")
def findings(
    model: Model,
    state: State,
    options: StepOptions,
    names: Names,
    overlaps: Sequence[Overlap],
    parted: NDArray[np.float64],
) -> list[Finding]:
    """Every limit that the run exceeded, in this order: overlaps at the start, joints, drives,
    growth of energy, travel and rotation per step, penetration, moments, and the motion.

    `value` and `limit` are those of the worst crossing relative to its limit; `first_time` [s] is
    the end of the step in which `body` or `joint` was the first to leave its own.

    parted (n,) [m]: how far small overlaps at the start pushed bodies up (parting.parted_ways)
    """
    h = float(options.time_step)
    found = overlap_findings(model, overlaps, names)
    for what, quantity, unit in ((APART, "joint_error", "m"), (TWIST, "joint_angle", "rad")):
        apart = crossing(state, what, h)
        if apart is not None:
            first, worst = apart.pop("first"), apart.pop("worst_who")
            apart |= {"quantity": quantity, "unit": unit, "joint": names.joints[first]}
            apart |= {
                "worst": names.joints[worst],
                "change": joint_change(model, state, options, first),
            }
            found.append(apart)
    drive = crossing(state, DRIVE, h)
    if drive is not None:
        first, worst = drive.pop("first"), drive.pop("worst_who")
        drive |= {"quantity": "drive_error", "unit": "m or rad", "joint": names.joints[first]}
        drive |= {"worst": names.joints[worst], "change": DRIVE_CHANGE}
        found.append(drive)
    growth = crossing(state, GROWTH, h)
    lifted = energy_of_lifting(model, state, parted)
    if growth is not None and growth["value"] > growth["limit"] + lifted:
        growth["limit"] += lifted
        del growth["first"], growth["worst_who"]
        growth |= {"quantity": "energy_growth", "unit": "J", "worst": None}
        growth["change"] = energy_change(model)
        found.append(growth)
    for what, quantity, unit in ((TRAVEL, "travel_per_step", "m"), (TURN, "turn_per_step", "rad")):
        finding = crossing(state, what, h)
        if finding is not None:
            first, worst = finding.pop("first"), finding.pop("worst_who")
            finding["value"] *= h
            finding["limit"] *= h
            finding |= {"quantity": quantity, "unit": unit, "body": names.body(first)}
            change = largest_step(h, finding["value"], finding["limit"], 1)
            finding |= {"worst": names.body(worst), "change": change}
            found.append(finding)
    deep = crossing(state, DEPTH, h)
    if deep is not None:
        first, worst = deep.pop("first"), deep.pop("worst_who")
        deep |= {"quantity": "penetration", "unit": "m", "body": names.body(first)}
        deep |= {"worst": names.body(worst), "change": DEPTH_CHANGE}
        found.append(deep)
    found += moment_findings(model, state, h, names)
    found += motion_findings(model, state, options, names, parted)
    if overlaps:
        ends = {names.body(b) for one in overlaps for b in (one.body_a, one.body_b)}
        for one in found:
            # energy is of no body
            if one["quantity"] in LED_TO and one["body"] in {None, *ends}:
                one["change"] = OVERLAP_CHANGE
    return found


def is_far(one: Finding, energy: float) -> bool:
    """Whether a finding makes a run wrong in which there was so much energy [J]."""
    far = bool(one["value"] > FAR * one["limit"])
    if one["quantity"] == "energy_drift":
        return far and bool(one["value"] > energy)
    return far and one["quantity"] in WRONG


def verdict(found: Sequence[Finding], failure: Failure | None, energy: float) -> dict[str, Any]:
    """`status`: trusted, suspect or wrong; `findings`.

    Wrong is a run that failed, and one with a finding that is far beyond its limit.

    energy [J]: all that there was (small_energies.all_energy)
    """
    wrong = failure is not None or any(is_far(one, energy) for one in found)
    status = "wrong" if wrong else "suspect" if found else "trusted"
    return {"status": status, "findings": list(found)}
