"""The workspace, invalid between steps: filling it with NaN before a step must not change the result."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.crew import FoundContacts
from cardan.engine.world.drives import DriveWork
from cardan.engine.world.impacts import Impacts
from cardan.engine.world.islands import Islands
from cardan.engine.world.least import LeastReactions
from cardan.engine.world.positions import Positions
from cardan.engine.world.problem import Dense, Problem
from cardan.engine.world.rows import Rows
from cardan.engine.world.substeps import Substeps
from cardan.engine.world.tree import TreeWork


@struct
class Motion(NamedTuple):
    """Velocities and inertia in the middle of one step."""

    velocity_old: NDArray  # (n, 6)          in the middle, before the kick; angular first, W
    velocity_free: (
        NDArray  # (n, 6)         rad/s, m/s  after the kick of forces, without constraints
    )
    jump: NDArray  # (n, 6)                  rad/s, m/s  change by impacts before the kick
    lead: NDArray  # (n, 6)                  rad/s, m/s  in the kick, of bodies whose given motion has a kink: what contacts see beside its velocity
    levers: NDArray  # (n, 6)                kg, kg m, kg m^2  of links: constraints/geometric_stiffness.py
    inverse_inertia_W: NDArray  # (n, 3, 3)  1/(kg m^2) about the centre of mass
    wrench: NDArray  # (n, 6)                N m, N  of force elements and commands (no gravity)
    booked: NDArray  # (n, 6)                N m, N  the share of `wrench` whose work the ledger books as work in
    bias_acceleration: NDArray  # (n, 6)               rad/s^2, m/s^2  accelerations of free flight: gyroscopic and of joints of trees
    velocity_ahead: NDArray  # (n, 6)        rad/s, m/s  at the end of the step, as predicted; of scenes with loops of trees, (0, 6) without trees
    acceleration_ahead: NDArray  # (n, 6)    rad/s^2, m/s^2  of free flight from the kick to there
    scratch: NDArray  # (n, 6)               rad/s, m/s  for solvers and residuals; after the kick the mean of before and after
    activity: (
        NDArray  # (n,) int64 -        STATIC, KINEMATIC, DYNAMIC, ASLEEP or ABSENT in this step
    )
    jointed: NDArray  # (n,) int64 -       1: a joint acts on it, by rows or drives; else constraints/rolling.py
    deflected: NDArray  # (n,) int64 -     1: it goes elsewhere than contacts were found for, see step/continuous.py


@struct
class Workspace(NamedTuple):
    """All arrays of a step that are not part of the state."""

    contacts: Contacts
    ahead: Contacts  # of bodies that a kick has deflected, found once more: step/continuous.py
    found: FoundContacts
    rows: Rows
    problem: Problem
    islands: Islands
    dense: Dense
    positions: Positions
    substeps: Substeps
    motion: Motion
    impacts: Impacts
    tree: TreeWork
    drives: DriveWork
    loop_rows: Rows  # loop equations of trees at the end of a step
    least: LeastReactions
    loops: Problem
