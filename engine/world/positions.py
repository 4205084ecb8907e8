"""Scratch for correcting positions at the end of a step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import bundle
from cardan.engine.world.islands import Islands
from cardan.engine.world.problem import Problem
from cardan.engine.world.report import Report
from cardan.engine.world.rows import Rows


@bundle
class Positions(NamedTuple):
    """Garbage between steps."""

    rows: Rows  # the equations once more, where the step ends: of these only the errors are used
    error: NDArray  # (j, 22) m or rad      C of every equation there
    place: NDArray  # (j, 22) int64         row of `rows` that it is
    wanted: NDArray  # (max,) m or rad      C to take away, by row of the step's problem
    problem: Problem  # impulses that move poses instead of velocities: w in m or rad
    islands: Islands
    report: Report  # of its solver
    parent: NDArray  # (n,) int64           disjoint sets of bodies that corrections move together
    held: NDArray  # (n,) int64             by set, at its first body: 0 floats, 1 + body it hangs on, -1 on several that move apart
    gained: NDArray  # (n,) J               what equations of joints gave to this body or another of its set
    lost: NDArray  # (n, 3) N m s           what each body's angular momentum about the origin lost
    sums: NDArray  # (n, 28) kg, m, s, J    by set: mass, m p, inertia, momenta, energies (stabilisation/momentum.py)
