"""Options and results of all methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from cardan.engine.complementarity.problem import Array
from cardan.engine.world.report import STOP_REASONS, STOPPED_NO_SOLUTION


class Stopped(StrEnum):
    """Why a method stopped; `no_solution` is proved, `not_found` is not."""

    TOLERANCE = "tolerance"
    MAX_ITERATIONS = "max_iterations"
    EXACT = "exact"
    STALLED = "stalled"
    NO_SOLUTION = "no_solution"
    NOT_FOUND = "not_found"


# by the numbers of world/report.py; a ray of Lemke's path alone proves nothing
STOPPED = (*(Stopped(name) for name in STOP_REASONS[:STOPPED_NO_SOLUTION]), Stopped.NOT_FOUND)


@dataclass(frozen=True)
class MethodOptions:
    """Options of a method, the same for all methods."""

    tolerance: float = 1e-10  # residual at which it may stop, as a share of the largest |b|
    max_iterations: int = 0  # sweeps, steps, pivots; 0: the method's own
    relaxation: float = 1.0  # omega of jacobi and sor
    history: bool = False  # whether residuals are kept
    guess: Array | None = field(default=None, compare=False)  # (n,) warm start; none: 0


@dataclass(frozen=True)
class Answer:
    """Result of a method before it is measured: x and how the method ended."""

    x: Array  # (n,)
    stopped: Stopped
    iterations: int
    method: str
    history: Array  # (iterations,) or (0,): the method's own residual after each


@dataclass(frozen=True)
class Solution:
    """An answer, measured by code independent of the solvers."""

    x: Array  # (n,)
    w: Array  # (n,)       A x + b
    residual: float  # largest natural map, in the unit of w (measure.residual)
    coulomb_error: float  # |x - P_K(x - u)| / |b| of Coulomb's law, whatever was solved
    stopped: Stopped
    iterations: int
    method: str  # what ran; never "auto"
    # where asked for: residual of each iteration (`proximal`: of each point); without any two
    history: Array
    # (n,) with `no_solution`: the y that proves it (certificate.infeasibility)
    certificate: Array | None = None

    @property
    def solved(self) -> bool:
        """Whether the method reached its tolerance or an exact solution."""
        return self.stopped in (Stopped.TOLERANCE, Stopped.EXACT)
