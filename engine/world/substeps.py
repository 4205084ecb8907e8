"""Scratch of `small_steps`: substeps of a kick with soft constraints."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.problem import Problem

# substeps.law: law of a row in a substep
LAW_STEP, LAW_EQUATION, LAW_ONE_SIDED, LAW_SURFACE = 0, 1, 2, 3


@struct
class Substeps(NamedTuple):
    """Arrays of one step; invalid between steps. `shift` is used at the end of the step."""

    part: (
        Problem  # the rows under the law of a substep: shares geometry with the problem of the step
    )
    law: NDArray  # (max,) int64          LAW_...
    total: NDArray  # (max,) N s, N m s   impulses of the substeps so far
    aim: NDArray  # (max,) m/s, rad/s     velocity that corrects the error of a soft row
    speed: NDArray  # (max,) m/s, rad/s   J v before the kick
    gain: NDArray  # (max,) m/s, rad/s    J (v_free - v) of one substep
    lanes: NDArray  # (240 layers,) m/s, N s, m  the same of contacts in lanes, see solvers/sweeps/simd/soft.py
    v: NDArray  # (n, 6) rad/s, m/s       M^-1 J^T of all impulses so far
    moved: NDArray  # (n, 6) rad, m       displacement of a body by these impulses at the kick of the substep
    shift: (
        NDArray  # (n, 6) rad, m       from the end of the step's drift to the end of the substeps
    )
