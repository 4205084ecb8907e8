"""Findings as sentences."""

from __future__ import annotations

from typing import Any

Finding = dict[str, Any]

SENTENCES = {
    "initial_overlap": "Bodies '{body}' and '{other_body}' overlap at the start by {value:.3g} m; "
    "1 % of the smaller is {limit:.3g} m.",
    "joint_error": "Joint '{joint}' comes apart by more than 1 % of the smaller body it joins, "
    "first {when}; the largest error is {value:.3g} m, of joint '{worst}' (limit {limit:.3g} m).",
    "joint_angle": "Joint '{joint}' turns where or farther than it may, first {when}; the largest "
    "error is {value:.3g} rad, of joint '{worst}' (limit {limit:.3g} rad).",
    "drive_error": "The motor of joint '{joint}' has no largest force and still does not do what "
    "it is told, first {when}; the worst, of joint '{worst}', is {value:.3g} behind (limit "
    "{limit:.3g} {unit}).",
    "energy_growth": "The total energy grows without work being done, first {when}; at worst by "
    "{value:.3g} J (limit {limit:.3g} J).",
    "travel_per_step": "Body '{body}' moves farther in one step than it is long, first {when}; the "
    "longest way for its size is {value:.3g} m, of body '{worst}' (limit {limit:.3g} m).",
    "penetration": "Rigid bodies are deep in one another: '{body}' {when} first; the deepest is "
    "{value:.3g} m, of body '{worst}' (limit {limit:.3g} m, 10 % of its thickness).",
    "step_error": "The step is long for the motion of body '{body}': its error is estimated as "
    "{value:.2g} times that motion (limit {limit:.2g}).",
    "stretch_error": "The step is long for the spring of body '{body}': the error of its "
    "own motion is estimated as {value:.2g} times that (limit {limit:.2g}).",
    "solver_error": "The solver leaves too much: with an exact solution of contacts and joints the "
    "motion of body '{body}' differs by {value:.2g} of itself (limit {limit:.2g}).",
    "energy_drift": "Energy appears or vanishes without a cause: {value:.3g} J (limit "
    "{limit:.3g} J, 8 % of the largest kinetic energy).",
    "simultaneous_impacts": "Body '{body}' bounces off two others in one step: what comes of it "
    "depends on the law of restitution.",
    "turning_on_face": "Body '{body}' turns on a face, and friction takes {value:.3g} J of that "
    "(limit {limit:.3g} J): with the lever arms of its corners or rim. A pressure spread evenly "
    "has shorter ones: 2/3 of the radius of a disc, 0.54 of the corners of a square.",
    "facet_impacts": "Body '{body}' strikes the edges between the facets of a mesh and loses "
    "{value:.3g} J there (limit {limit:.3g} J): on a smooth surface it would not.",
    "initial_velocity": "The velocities at the start contradict joint '{joint}' by {value:.3g} "
    "{unit} (limit {limit:.3g}, 1e-3 of what it sums up).",
    "trigger_late": "A trigger acts between steps: {when} the coordinate of joint '{joint}' was "
    "{value:.3g} {unit} beyond the value it waits for (limit {limit:.3g} {unit}).",
    "loop_jump": "The loop of joint '{joint}' jumps, most {when}: in one step it was scaled by "
    "{value:.3g} J (limit {limit:.3g} J), as after a dead centre. Torques there are noise.",
    "step_dependence": "The answer depends on the step from t = {first_time:.6g} s on: with half "
    "of it, body '{worst}' is elsewhere by {value:.3g} m at the end (limit {limit:.3g} m).",
    "accuracy": "The error of {what} is estimated as {value:.3g} {unit}, of body '{worst}'; "
    "{limit:.3g} {unit} was asked for.",
    "drive_noise": "The force of the drive of joint '{joint}' alternates from step to step, most "
    "{when}: by {value:.3g} {unit} to either side (limit {limit:.3g} {unit}).",
    "turn_per_step": "Body '{body}' turns far in one step, first {when}; the largest turn is "
    "{value:.3g} rad, of body '{worst}' (limit {limit:.3g} rad).",
}

# what an `accuracy` was asked of, by its unit
OF_UNIT = {"m": "positions", "m/s": "velocities", "rad": "orientations", "N": "forces of joints"}


def sentence(finding: Finding) -> str:
    """A finding as a sentence: quantity, place, time, size, and the setting to change."""
    when = f"at {finding['first_time']:.6g} s (step {finding['first_step']})"
    what = OF_UNIT.get(finding["unit"], "")
    said = SENTENCES[finding["quantity"]].format(when=when, what=what, **finding)
    others = finding.get("others", 0)
    more = f" So do {others} other pairs of bodies." if others else ""
    return f"{said}{more} {finding['change']}"
