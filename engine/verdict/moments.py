"""Findings about moments: velocities at the start that joints forbid, triggers that act late."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import (
    CONTRADICTED,
    FIRST_STEP,
    WORST,
    WORST_LIMIT,
    WORST_WHO,
)
from cardan.engine.verdict.estimates import ratio
from cardan.engine.verdict.motion import largest_step, so_far
from cardan.engine.world.model import Model
from cardan.engine.world.state import State
from cardan.engine.world.triggers import FIRED_LATE, FIRED_RANGE, FIRED_TIME

Array = NDArray[np.float64]
Finding = dict[str, Any]

# how far beyond its value a coordinate is when a trigger fires, over the farthest it ever was
LATE_SHARE = 0.01
START_CHANGE = (
    "Give all bodies that the joint holds together velocities that fit: the run starts with the "
    "nearest ones, as after a blow."
)


def start_finding(state: State, names: Any) -> Finding | None:
    """The joint that the initial velocities contradict most, by more than rounding."""
    record = state.extremes[CONTRADICTED : CONTRADICTED + 5]
    if record[FIRST_STEP] == 0.0:
        return None
    name = names.joints[int(record[WORST_WHO])]
    found = {**so_far(state), "quantity": "initial_velocity", "joint": name, "worst": name}
    found |= {"value": float(record[WORST]), "limit": float(record[WORST_LIMIT])}
    found |= {"unit": "m/s or rad/s", "change": START_CHANGE}
    return found | {"first_time": 0.0, "first_step": 0}


def trigger_finding(model: Model, state: State, h: float, names: Any) -> Finding | None:
    """The trigger that fired farthest beyond the coordinate it waits for, if that is far.

    Triggers act between steps; where a release at an angle is late, it goes elsewhere.
    """
    kept, triggers = state.triggers, model.triggers
    limits = LATE_SHARE * kept[:, FIRED_RANGE]
    shares = ratio(kept[:, FIRED_LATE], limits)
    worst = int(np.argmax(shares)) if len(shares) else -1
    if worst < 0 or not shares[worst] > 1.0:
        return None
    value, limit = float(kept[worst, FIRED_LATE]), float(limits[worst])
    j, time = int(triggers.what[worst]), float(kept[worst, FIRED_TIME])
    more = {"value": value, "limit": limit, "unit": "m or rad", "joint": names.joints[j]}
    more |= {"worst": names.joints[j], "change": largest_step(h, value, limit, 1)}
    found = so_far(state) | more | {"quantity": "trigger_late"}
    return found | {"first_time": time, "first_step": round(time / h)}


def moment_findings(model: Model, state: State, h: float, names: Any) -> list[Finding]:
    """Findings about moments up to now."""
    found = (
        start_finding(state, names),
        trigger_finding(model, state, h, names),
    )
    return [one for one in found if one is not None]
