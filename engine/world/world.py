"""The World: model, state, workspace and options, the argument of every phase of a step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.events import Events
from cardan.engine.world.model import Model
from cardan.engine.world.options import StepOptions
from cardan.engine.world.report import Report
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace


@struct
class Clock(NamedTuple):
    """The present step, or the part of it that ends at an impact."""

    h: NDArray  # (1,) s              length of the part, the interval of integration
    share: NDArray  # (1,) -          of the scene's step: 1, or less for a part of it
    exact: NDArray  # (1,) int64      1: the part ends at an impact, which no row may anticipate
    left: NDArray  # (1,) s           remaining time of a step in parts
    impacts: NDArray  # (2,) int64    searches for the next impact so far, and their limit
    free_from: (
        NDArray  # (1,) s      time from which no body has constraints in this run; inf: never
    )


@struct
class Spare(NamedTuple):
    """Copy of the state before the step, of the parts the step changes; see step/transaction.py."""

    state: State
    has_motion: NDArray  # (1,) int64    1: the motion in `state` is a copy from before the step
    has_impulses: NDArray  # (1,) int64  1: so are contact caches and joint impulses
    events: NDArray  # (1,) int64        number of events before the step


@struct
class Controls(NamedTuple):
    """Targets of motors over a run, all held for equally many steps; none: no row."""

    targets: NDArray  # (t, u) m, rad, m/s, rad/s, N or N m  row k from the (k * held)-th step on
    motors: NDArray  # (u, 2) int64    joint and axis of each column
    held: NDArray  # (1,) int64        steps for which a row holds


@struct
class World(NamedTuple):
    """Everything that a step reads and writes.

    Four lifetimes: model, kind, options and controls are constant; state is saved; of collision the tree and
    its pairs are a cache, which does not affect results; all else is invalid between steps.
    """

    model: Model  # with the activity of this step (work.motion.activity) as bodies.kind
    kind: NDArray  # (n,) int64  STATIC, KINEMATIC or DYNAMIC, as in the scene
    state: State
    spare: Spare
    work: Workspace
    collision: CollisionScratch
    options: StepOptions
    controls: Controls
    clock: Clock
    report: Report
    events: Events
