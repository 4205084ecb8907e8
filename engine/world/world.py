"""The one argument of every verb of a step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import bundle
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.events import Events
from cardan.engine.world.model import Model
from cardan.engine.world.options import StepOptions
from cardan.engine.world.report import Report
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace


@bundle
class Clock(NamedTuple):
    """The step under way, or the part of it that ends at an impact."""

    h: NDArray  # (1,) s              length of the part: what verbs integrate over
    share: NDArray  # (1,) -          of the scene's step: 1, or less for a part of it
    exact: NDArray  # (1,) int64      1: the part ends at an impact, which no row may anticipate
    left: NDArray  # (1,) s           of the step, where it is done in parts
    impacts: NDArray  # (2,) int64    searches for the next impact so far, and at most
    free_from: (
        NDArray  # (1,) s      time from which nothing constrains any body in this run; inf: never
    )


@bundle
class Spare(NamedTuple):
    """The state before the step, as far as the step has changed it; see step/transaction.py."""

    state: State
    has_motion: NDArray  # (1,) int64    1: the small part of `state` is what it was before the step
    has_impulses: NDArray  # (1,) int64  1: contact caches and impulses of joints are so as well
    events: NDArray  # (1,) int64        events before the step


@bundle
class World(NamedTuple):
    """Everything that a step reads and writes.

    Four lifetimes: model, kind and options are constant; state is saved; of collision the tree and
    its pairs are a cache, which never changes a result; all else is garbage between steps.
    """

    model: Model  # with what bodies do in this step (work.motion.activity) as bodies.kind
    kind: NDArray  # (n,) int64  what bodies are: STATIC, KINEMATIC or DYNAMIC
    state: State
    spare: Spare
    work: Workspace
    collision: CollisionScratch
    options: StepOptions
    clock: Clock
    report: Report
    events: Events
