"""In a worker process: the numbers that a study asks of a run, from its summary and recording."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.schemas.study import ENERGY, JOINTS

FORCES = frozenset(JOINTS) - {"q", "qd"}
"""Columns of joints that belong to steps: to `force_time`, and to nothing before the first one."""

Tables = Mapping[str, Mapping[str, NDArray[Any]]]
Vector = NDArray[np.float64]


def measured(
    wanted: Mapping[str, Any], summary: Mapping[str, Any], tables: Tables
) -> dict[str, list[float | None]]:
    """The objective and the constrained quantities of a study's request (`schemas.study`).

    The objective is one number; of measured data it is (simulated - measured) / deviation for every
    value, the simulated one linear between two records. `None` where the run has no such number.
    """
    objective = wanted["objective"]
    if objective["type"] == "data":
        found = [value for series in objective["series"] for value in _residuals(series, tables)]
    else:
        found = [_quantity(objective, summary, tables)]
    constraints = [_quantity(one["quantity"], summary, tables) for one in wanted["constraints"]]
    return {"objective": found, "constraints": constraints}


def needs_recording(wanted: Mapping[str, Any]) -> bool:
    """Whether a study's request is about anything that summaries do not have."""
    quantities = [wanted["objective"], *(one["quantity"] for one in wanted["constraints"])]
    return any(one["type"] != "metric" for one in quantities)


def _quantity(
    wanted: Mapping[str, Any], summary: Mapping[str, Any], tables: Tables
) -> float | None:
    if wanted["type"] == "metric":
        value: Any = summary
        for part in wanted["metric"].split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return float(value) if isinstance(value, int | float) else None
    time, values, _ = _signal(wanted, tables)
    if not len(values):
        return None
    return _reduced(wanted["reduce"], time, values - wanted["target"])


def _reduced(how: str, time: Vector, values: Vector) -> float:
    """One number of a signal; means are over time, by trapezia between the records."""
    span = time[-1] - time[0]
    match how:
        case "rms" | "mean":
            powers = np.square(values) if how == "rms" else values
            mean = np.trapezoid(powers, time) / span if span > 0.0 else powers[-1]
            return float(np.sqrt(mean) if how == "rms" else mean)
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case "peak":
            return float(np.abs(values).max())
    return float(values[-1])


def _residuals(series: Mapping[str, Any], tables: Tables) -> list[float | None]:
    time, values, end = _signal(series, tables)
    measured_at, expected = np.array(series["times"]), np.array(series["values"])
    # a run that ended early has no value there
    if not len(time) or end < measured_at[-1] * (1.0 - 1e-9):
        return [None] * len(expected)
    simulated = np.interp(measured_at, time, values)
    return list(((simulated - expected) / series["deviation"]).tolist())


def _signal(wanted: Mapping[str, Any], tables: Tables) -> tuple[Vector, Vector, float]:
    """Times [s] and values of a signal, and when its records end; empty where there are none."""
    column = wanted["column"]
    nothing = np.zeros(0)
    if wanted["body"] is not None:
        table = tables.get("bodies", {})
        chosen = table.get("body", nothing) == wanted["body"]
    elif wanted["joint"] is not None:
        table = tables.get("joints", {})
        # a joint without coordinates has one row, of the number -1
        number = np.maximum(table.get("coordinate", nothing), 0)
        chosen = (table.get("joint", nothing) == wanted["joint"]) & (number == wanted["coordinate"])
    else:
        table = tables.get("energy" if column in ENERGY else "momentum", {})
        chosen = np.ones(len(table.get("time", nothing)), dtype=bool)
    if column not in table or not chosen.any():
        return nothing, nothing, 0.0
    time = table["time"]
    end = float(time[chosen][-1])
    if column in FORCES:
        time = table.get("force_time", time)
        chosen = chosen & (table["step"] > 0)
    return time[chosen], table[column][chosen].astype(np.float64), end
