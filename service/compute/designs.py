"""Designs of a study: variables as points of a cube, and which design is the best.

Variables are scaled to [1, 2]: differences relative to their values are then shares of the range.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cardan.schemas.study import StudyRequest, StudyVariable

Vector = npt.NDArray[np.float64]
Design = tuple[float, ...]
"""Values of the variables, in their order."""

# how far beyond a bound a constraint still counts as kept: a share of the bound, and a share of
# `tolerance` times the range that the quantity had in the study, as a bound may be 0
KEPT, KEPT_OF_RANGE = 1e-6, 0.1


@dataclass(frozen=True)
class Measures:
    """What a run gave: the objective (the residuals of a fit), and the constrained quantities."""

    objective: Sequence[float]
    constraints: Sequence[float] = ()


def method_of(asked: StudyRequest) -> str:
    """The method of a study, chosen if none is asked for."""
    if asked.method is not None:
        return asked.method
    if asked.constraints:
        return "cobyqa"
    if asked.objective.type == "data":
        return "least_squares"
    return "nelder_mead" if len(asked.variables) == 1 else "cma_es"


def start_of(variable: StudyVariable) -> float:
    """Where the search begins."""
    return value_at(variable, 1.5) if variable.start is None else variable.start


def value_at(variable: StudyVariable, v: float) -> float:
    """The value of a variable at its scaled place v in [1, 2]."""
    share, low, high = v - 1.0, variable.lower, variable.upper
    if variable.scale == "log":
        value = math.exp(math.log(low) * (1.0 - share) + math.log(high) * share)
    else:
        value = low * (1.0 - share) + high * share
    return min(max(value, low), high)


def scaled(variable: StudyVariable, value: float) -> float:
    """The place of a value in [1, 2]."""
    low, high = variable.lower, variable.upper
    if variable.scale == "log":
        return 1.0 + math.log(value / low) / math.log(high / low)
    return 1.0 + (value - low) / (high - low)


def design_of(variables: Iterable[StudyVariable], v: Iterable[float]) -> Design:
    """The design at a scaled point."""
    return tuple(value_at(one, float(x)) for one, x in zip(variables, v, strict=True))


def objective_of(asked: StudyRequest, found: Measures | None) -> float | None:
    """The value of the objective; `None` where the run failed."""
    return None if found is None else objective_value(asked.objective.type, found.objective)


def objective_value(kind: str, numbers: Sequence[float]) -> float:
    """The value of an objective of a kind from what a run measured: of a fit the mean square."""
    return float(np.mean(np.square(numbers))) if kind == "data" else numbers[0]


def slacks_of(asked: StudyRequest, known: Mapping[Design, Measures | None]) -> list[float]:
    """How far beyond its bounds each constrained quantity may be."""
    values = np.array([found.constraints for found in known.values() if found is not None])
    ranges = np.ptp(values, axis=0) if len(values) else np.zeros(len(asked.constraints))
    return [
        max(
            KEPT * max(abs(one.at_least or 0.0), abs(one.at_most or 0.0)),
            KEPT_OF_RANGE * asked.tolerance * float(range_),
            1e-300,
        )
        for one, range_ in zip(asked.constraints, ranges, strict=True)
    ]


def violation_of(asked: StudyRequest, found: Measures, slacks: Sequence[float]) -> float:
    """The largest violation of a constraint, in units of `slacks_of`."""
    worst = 0.0
    for constraint, value, slack in zip(asked.constraints, found.constraints, slacks, strict=True):
        for bound, way in ((constraint.at_least, -1.0), (constraint.at_most, 1.0)):
            if bound is not None:
                worst = max(worst, way * (value - bound) / slack)
    return 0.0 if worst <= 1.0 else worst


def best_of(asked: StudyRequest, known: Mapping[Design, Measures | None]) -> Design | None:
    """The feasible design with the best objective, or the one that violates least."""
    sign = -1.0 if asked.objective.type != "data" and asked.objective.goal == "maximise" else 1.0
    best: tuple[float, float] | None = None
    chosen, slacks = None, slacks_of(asked, known)
    for design, found in known.items():
        value = objective_of(asked, found)
        if value is None or found is None:
            continue
        rank = (violation_of(asked, found, slacks), sign * value)
        if best is None or rank < best:
            best, chosen = rank, design
    return chosen


def deviations_of(asked: StudyRequest, design: Design, covariance: Vector) -> list[float]:
    """Standard deviations of the variables of a fit, at a design; nan: it ended on a bound."""
    found = []
    for i, (variable, value) in enumerate(zip(asked.variables, design, strict=True)):
        low, high = variable.lower, variable.upper
        slope = value * math.log(high / low) if variable.scale == "log" else high - low
        found.append(slope * math.sqrt(max(float(covariance[i, i]), 0.0)))
    return found
