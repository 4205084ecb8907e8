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

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.variation import (
    IMPACTS,
    KEEPS_L,
    LARGEST_L,
    LARGEST_V,
    SUM_L,
    SUM_V,
    VARIED,
    VARIED_L,
    VARIED_V,
)
from cardan.engine.build.limits import body_lengths
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import Integrator, StepOptions
from cardan.engine.world.state import EXTREME_DRIFT, EXTREME_KINETIC, State

Array = NDArray[np.float64]

# error of a step over h times the change of its kick: that of an oscillation, (w h)^2/24 of the
# phase, with the mean of |sin|
ERROR_OF_CHANGE = np.pi / 48.0
# estimated error over the scale of the motion
STEP_SHARE = 0.03
# errors that matter are at least this share of the body, or this angle [rad]
SMALL_SHARE = 0.002
# unexplained energy over the largest kinetic energy
DRIFT_SHARE = 0.05


def variations(model: Model, state: State) -> Array:
    """(n, VARIED): how the kicks of each body varied, accounting/variation.py."""
    n = len(model.bodies.kind)
    first = LIMITS + len(model.joints.kind) + n
    return state.extremes[first:].reshape(n, VARIED)


def share(varied: Array, total: Array, square: Array, h: float, time: float) -> Array:
    """Estimated error over the scale of the motion; 0 where nothing moves."""
    error = ERROR_OF_CHANGE * h * varied
    with np.errstate(divide="ignore", invalid="ignore"):
        found = error * total / (square * time)
    return np.where(square > 0.0, np.nan_to_num(found, nan=0.0, posinf=0.0), 0.0)


def step_errors(model: Model, state: State, h: float) -> Array:
    """(n,): estimated error of each body's motion by the size of the step, over its scale."""
    kept, time = variations(model, state), float(state.time[0])
    bodies = model.bodies
    moving = (bodies.kind == DYNAMIC) & (time > 0.0)
    length = body_lengths(model, state.p_WB)
    ways = share(kept[:, VARIED_V], kept[:, SUM_V], kept[:, LARGEST_V], h, max(time, h))
    turns = share(kept[:, VARIED_L], kept[:, SUM_L], kept[:, LARGEST_L], h, max(time, h))
    way = ERROR_OF_CHANGE * h * kept[:, VARIED_V]
    ways = np.where(way > SMALL_SHARE * length, ways, 0.0)
    least = np.ones(len(length))
    least[moving] = np.linalg.eigvalsh(bodies.inertia_B[moving])[:, 0]
    least[kept[:, KEEPS_L] == 0.0] = 1.0
    turn = ERROR_OF_CHANGE * h * kept[:, VARIED_L] / np.where(least > 0.0, least, 1.0)
    turns = np.where(turn > SMALL_SHARE, turns, 0.0)
    return np.where(moving, np.maximum(ways, turns), 0.0)


def so_far(state: State) -> dict[str, Any]:
    """Fields of a finding that holds for the run up to now."""
    step = int(state.step[0])
    time = float(state.time[0])
    nobody = {"body": None, "other_body": None, "joint": None, "worst": None}
    return {**nobody, "first_time": time, "first_step": step}


def largest_step(h: float, value: float, limit: float, order: int = 2) -> str:
    """The step with which an error of an order is within its limit, with a margin, as a change."""
    return f"Make `simulation.dt` at most {h * 0.8 * (limit / value) ** (1.0 / order):.2g} s."


def motion_findings(model: Model, state: State, options: StepOptions, names: Any) -> list[Any]:
    """Findings about the motion up to now."""
    h, found = float(options.time_step), []
    if state.step[0] == 0 or options.integrator != Integrator.SEMI_IMPLICIT_EULER:
        return []
    errors = step_errors(model, state, h)
    worst = int(np.argmax(errors)) if len(errors) else 0
    if len(errors) and errors[worst] > STEP_SHARE:
        value = float(errors[worst])
        found.append(
            {
                **so_far(state),
                "quantity": "step_error",
                "value": value,
                "limit": STEP_SHARE,
                "unit": "-",
                "body": names.body(worst),
                "worst": names.body(worst),
                "change": largest_step(h, value, STEP_SHARE),
            }
        )
    kinetic = float(state.extremes[EXTREME_KINETIC])
    drift = float(state.extremes[EXTREME_DRIFT])
    limit = DRIFT_SHARE * kinetic
    if drift > limit > 0.0 and math.isfinite(drift):
        found.append(
            {
                **so_far(state),
                "quantity": "energy_drift",
                "value": drift,
                "limit": limit,
                "unit": "J",
                "change": "Make `simulation.dt` smaller.",
            }
        )
    for i in np.flatnonzero(variations(model, state)[:, IMPACTS] > 1.0)[:1]:
        found.append(
            {
                **so_far(state),
                "quantity": "simultaneous_impacts",
                "value": 2.0,
                "limit": 1.0,
                "unit": "bodies",
                "body": names.body(int(i)),
                "worst": names.body(int(i)),
                "change": '`simulation.contact.restitution_law`: "propagating" lets impacts '
                "travel from contact to contact; compare the laws.",
            }
        )
    return found
