"""Scratch of instantaneous impacts, separate from the kick."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.problem import Problem
from cardan.engine.world.state import ContactCache

# impacts.role of a contact: inactive, closed, approaches fast enough to rebound
ROLE_OPEN, ROLE_CLOSED, ROLE_STRUCK = 0, 1, 2

# impacts.record
RECORD_RESIDUAL, RECORD_COULOMB, RECORD_ITERATIONS, N_RECORD = range(4)


@struct
class Impacts(NamedTuple):
    """One impact at a time and the sums of a step; empty if impacts are part of the kick and no
    drive can start at once."""

    problem: Problem  # equations of the bodies in reach, contacts, then contacts that restore
    source: NDArray  # (max,) int64             row of the step that a row of `problem` is
    kept: NDArray  # (rows,) m/s or rad/s       J v of the step's equations before the first impact
    speed: NDArray  # (max,) m/s or rad/s       J v before this impact
    first: NDArray  # (max,) N s                impulses that end the approach
    lam: NDArray  # (max,) N s                  impulses of the whole impact
    role: NDArray  # (contacts,) int64          ROLE_...
    reached: NDArray  # (n,) int64              1: the impact may move this body
    velocity: NDArray  # (n, 6) rad/s, m/s      present, with half of the kick; angular first, W
    seen: NDArray  # (n, 6) rad/s, m/s          present, without it
    contact_lam: NDArray  # (contacts, 3) N s   normal and tangents, all impacts of the step
    joint_lam: NDArray  # (j, 22) N s or N m s  by slot, all impacts of the step
    accumulator: ContactCache  # normal and tangent impulses of the parts of a step done so far, in place of impulse_W
    record: NDArray  # (3,)                     largest residuals m/s, sum of iterations: RECORD_...
    started: NDArray  # (1,) int64              1: drives started before the drift of this step
    started_reaction: NDArray  # (j, 6) N m, N  of that on inner joints of trees: torque, force, W
