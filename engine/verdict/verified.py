"""The verdict on a run that was verified with smaller steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cardan.engine.verdict.motion import STEP_SHARE

# what a verification measures, and so needs no estimate
STEP_ERRORS = ("step_error", "stretch_error")
ESTIMATES = (*STEP_ERRORS, "turn_per_step")
# error of a motion over its own reach up to which these are withdrawn: with a margin, as runs that
# are both wrong may agree
CLEARED_SHARE = 0.5 * STEP_SHARE


def verdict_with(verdict: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict with a verification (the keys of schemas.summary.Verification) taken into account.

    An answer that does not depend on the step withdraws what was only estimated of the step; one
    that does has a finding. A motion that is small beside the scene is judged by its own reach: the
    error measured takes the place of the one that was estimated.
    """
    kept = list(verdict["findings"])
    if not found["within"]:
        kept.append(step_dependence(found))
    elif found["motion_error"] <= CLEARED_SHARE:
        kept = [one for one in kept if one["quantity"] not in ESTIMATES]
    elif found["motion_error"] > STEP_SHARE:
        kept = [one for one in kept if one["quantity"] not in STEP_ERRORS]
        kept.append(measured_step_error(found))
    status = verdict["status"]
    if status != "wrong":
        status = "suspect" if kept else "trusted"
    return {"status": status, "findings": kept}


def measured_step_error(found: Mapping[str, Any]) -> dict[str, Any]:
    """The finding of a run in which a body's own motion, or that of a spring, depends on the
    step."""
    return {
        "quantity": "stretch_error" if found.get("motion_of") == "spring" else "step_error",
        "value": found["motion_error"],
        "limit": STEP_SHARE,
        "unit": "-",
        "body": found["motion_worst"],
        "other_body": None,
        "joint": None,
        "worst": found["motion_worst"],
        "first_time": 0.0,
        "first_step": 0,
        "change": "Make `simulation.dt` smaller: runs with smaller steps differ by that much.",
    }


def verdict_for(verdict: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict with a tolerance (the keys of schemas.summary.Accuracy) taken into account.

    One that trial runs reached withdraws what was only estimated of the step; one that they did
    not reach is a finding.
    """
    kept = list(verdict["findings"])
    if found["reached"]:
        kept = [one for one in kept if one["quantity"] not in ESTIMATES]
    else:
        kept.append(missed_accuracy(found))
    status = verdict["status"]
    if status != "wrong":
        status = "suspect" if kept else "trusted"
    return {"status": status, "findings": kept}


def missed_accuracy(found: Mapping[str, Any]) -> dict[str, Any]:
    """The finding of a run that does not reach the tolerance that was asked for: of the error that
    is farthest from it."""
    errors = [
        (found["position_error"], found["asked"], "m"),
        (found.get("velocity_error"), found.get("velocity_asked"), "m/s"),
        (found.get("angle_error"), found.get("angle_asked"), "rad"),
        (found.get("reaction_error"), found.get("reaction_asked"), "N"),
    ]
    known = [one for one in errors if one[0] is not None and one[1] is not None]
    value, limit, unit = max(
        known, key=lambda one: one[0] / one[1], default=(found["size"], found["asked"], "m")
    )
    return {
        "quantity": "accuracy",
        "value": value,
        "limit": limit,
        "unit": unit,
        "body": found["worst"],
        "other_body": None,
        "joint": None,
        "worst": found["worst"],
        "first_time": 0.0,
        "first_step": 0,
        "change": "Allow more `simulation.accuracy.max_steps`, or a larger tolerance; in chaotic "
        "motion no step is small enough.",
    }


def step_dependence(found: Mapping[str, Any]) -> dict[str, Any]:
    """The finding of a run whose answer depends on the step."""
    error = found["final_error"]
    return {
        "quantity": "step_dependence",
        "value": found["size"] if error is None else error,
        "limit": found["tolerance"] * found["size"],
        "unit": "m",
        "body": found["worst"],
        "other_body": None,
        "joint": None,
        "worst": found["worst"],
        "first_time": found["horizon"],
        "first_step": found["horizon_step"],
        "change": "Make `simulation.dt` smaller, or use the answer before that time only.",
    }
