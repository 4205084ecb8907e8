"""Scratch of position correction at the end of a step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.islands import Islands
from cardan.engine.world.problem import Problem
from cardan.engine.world.report import Report
from cardan.engine.world.rows import Rows


@struct
class Positions(NamedTuple):
    """Arrays of position correction; invalid between steps."""

    rows: Rows  # the equations at the end of the step, of which only the errors are used
    error: NDArray  # (j, 22) m or rad      C of every equation at the end of the step
    place: NDArray  # (j, 22) int64         its row in `rows`
    wanted: NDArray  # (max,) m or rad      C to correct, by row of the step's problem; inf: not corrected
    problem: Problem  # impulses that change poses instead of velocities: w in m or rad
    islands: Islands
    report: Report  # of its solver
    parent: NDArray  # (n,) int64           disjoint sets of bodies that corrections move together
    held: NDArray  # (n,) int64             by set, at its first body: 0 floating, 1 + the body it is attached to, -1 attached to several with relative motion
    passes: NDArray  # (n, 8) m or rad, rad/s, -  by set, at its first body (stabilisation/passes.py): largest error, largest shift, square of the fastest spin; 1: in this pass; largest error of the pass before; largest error and largest shift as displacements [m]; error of a joint that is in place
    gained: (
        NDArray  # (n,) J               work of joint equations on this body or another of its set
    )
    jolted: NDArray  # (n,) J               the same of equations whose losses are physical
    lost: NDArray  # (n, 3) N m s           loss of each body's angular momentum about the origin
    sums: NDArray  # (n, 29) kg, m, s, J    by set: mass, m p, inertia, momenta, energies (stabilisation/momentum.py)
