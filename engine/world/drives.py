"""Drives of trees: what acts on each generalised velocity besides gravity and wrenches."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.tree import TreeWork

# columns of DriveWork.gain and push
MOTOR, DAMPER, SPRING = range(3)
N_PARTS = 3


@struct
class Drives(NamedTuple):
    """Motors, dampers, springs and stops of joints by generalised velocities, v of all trees."""

    alone: NDArray  # (1,) int64          1: all that moves are trees, and no joint has another law or friction
    count: NDArray  # (1,) int64          how many generalised velocities are driven
    hidden: NDArray  # (j,) int64         1: all its motors, dampers and springs are inertias of rotors: they need no rows
    silent: NDArray  # (j,) int64         as Tree, but for hidden drives
    stopped: NDArray  # (j,) int64        as Tree, but for hidden drives
    on_body: NDArray  # (n,) int64        1: a hidden drive acts on this body
    driven: NDArray  # (v,) int64         1: it has a motor, damper or spring that is hidden
    limited: NDArray  # (v,) int64        1: it has stops
    coordinate: NDArray  # (v,) int64     where its coordinate is in State.tree_q; -1: it has none of its own
    joint: NDArray  # (v,) int64          its joint; -1: as above
    axis: NDArray  # (v,) int64           which coordinate of the joint
    part: NDArray  # (v,) int64           column of Joints.inverse_mass of its damper
    spring: (
        NDArray  # (v,) int64         column of Joints.inverse_mass of its spring; -1: it has none
    )


@struct
class DriveWork(NamedTuple):
    """Scratch of a kick with drives that have no rows: impulse = -(gain qd + push), qd after it."""

    without_rows: NDArray  # (1,) int64   1: hidden drives have none in this step
    shown: NDArray  # (1,) int64          number of the rows of drives, behind all others, for reports alone
    tree: TreeWork  # of Workspace, but with a factor and responses of its own
    free: NDArray  # (k, 6) rad/s, m/s    velocities of nodes after the kick of forces and drives, W
    rotors: NDArray  # (v,) kg or kg m^2  inertia of rotors and gain
    gain: NDArray  # (v, 3) kg or kg m^2  of motor, damper, spring
    push: NDArray  # (v, 3) N s or N m s
    before: NDArray  # (v,) m/s or rad/s  generalised velocities before the kick
    after: NDArray  # (v,) m/s or rad/s   and after it
