"""Complementarity problems without a scene."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BOUNDS = ("lo", "hi")


@dataclass(frozen=True)
class Solution:
    """A solution, measured by code that no solver shares."""

    status: str
    """`solved`; `no_solution`: it is proved that there is none; `not_found`: neither."""
    x: Array = field(repr=False)
    """The unknowns."""
    w: Array = field(repr=False)
    """A x + b; of `linear` A x - b."""
    residual: float
    """Largest violation of the complementarity law, in the unit of w; nan: it was not finite."""
    method: str
    """The method that ran."""
    iterations: int
    """Sweeps, steps or pivots."""
    document: Mapping[str, Any] = field(repr=False)
    """Everything the service says: certificate, history, multipliers of programs."""


def read_solution(document: Mapping[str, Any]) -> Solution:
    """Return a solution with arrays."""
    residual = document["residual"]
    return Solution(
        status=document["status"],
        x=np.array(document["x"], float),
        w=np.array(document["w"], float),
        residual=math.nan if residual is None else residual,
        method=document["method"],
        iterations=document["iterations"],
        document=document,
    )


def without_infinities(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problem with bounds as in JSON, where an infinite one is null."""
    given = {name: problem[name] for name in BOUNDS if problem.get(name) is not None}
    bounds = {
        name: [None if one is None or math.isinf(one) else one for one in values]
        for name, values in given.items()
    }
    return {**problem, **bounds}
