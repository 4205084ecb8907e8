"""Scratch of `small_steps`: a kick in pieces, each with soft constraints."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import bundle
from cardan.engine.world.problem import Problem

# substeps.law: what a row asks for in a substep
LAW_STEP, LAW_EQUATION, LAW_ONE_SIDED, LAW_SURFACE = 0, 1, 2, 3


@bundle
class Substeps(NamedTuple):
    """Of one step; garbage between steps, but `shift` is wanted where the step ends."""

    part: (
        Problem  # the rows under the law of a substep: shares geometry with the problem of the step
    )
    law: NDArray  # (max,) int64          LAW_...
    total: NDArray  # (max,) N s, N m s   impulses of the substeps so far
    aim: NDArray  # (max,) m/s, rad/s     velocity that the error of a soft row asks for
    speed: NDArray  # (max,) m/s, rad/s   J v before the kick
    gain: NDArray  # (max,) m/s, rad/s    J (v_free - v) of one substep
    lanes: NDArray  # (240 layers,) m/s, N s, m  the same of contacts in lanes, see solvers/sweeps/simd/soft.py
    v: NDArray  # (n, 6) rad/s, m/s       M^-1 J^T of all impulses so far
    moved: (
        NDArray  # (n, 6) rad, m       how far they displaced a body where the substep has its kick
    )
    shift: NDArray  # (n, 6) rad, m       from where the drift of the step ends to where the substeps do
