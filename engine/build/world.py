"""The World of a simulation: its parts and the arrays of a step."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cardan.engine.build.threads import own_list
from cardan.engine.world.collision import collision_scratch
from cardan.engine.world.model import Model
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import Clock, Controls, Spare, World


def with_activity(model: Model, work: Workspace) -> Model:
    """The model with the activity of bodies (in `work`) as kinds: sleeping bodies have no rows."""
    work.motion.activity[:] = model.bodies.kind
    return model._replace(bodies=model.bodies._replace(kind=work.motion.activity))


def clock_arrays(time_step: float) -> Clock:
    """The clock before a step."""
    return Clock(
        h=np.full(1, time_step),
        share=np.ones(1),
        exact=np.zeros(1, np.int64),
        left=np.zeros(1),
        impacts=np.zeros(2, np.int64),
        free_from=np.full(1, np.inf),
    )


@cache
def no_controls() -> Controls:
    """Controls of no motor."""
    return Controls(np.zeros((0, 0)), np.zeros((0, 2), np.int64), np.ones(1, np.int64))


def copied(arrays: Any) -> Any:
    """Nested structs with copies of their arrays."""
    if isinstance(arrays, tuple):
        return type(arrays)(*(copied(one) for one in arrays))
    return arrays.copy()


def spare_arrays(state: State) -> Spare:
    """Arrays for the copy of the state before a step."""
    return Spare(
        state=copied(state),
        has_motion=np.zeros(1, np.int64),
        has_impulses=np.zeros(1, np.int64),
        events=np.zeros(1, np.int64),
    )


def of_thread(world: World, thread: int) -> World:
    """The world as another thread sees it: the same arrays, with scratch of its own."""
    work, lanes, found = world.work, world.work.dense.lanes, world.work.found
    crew = lanes.crew._replace(sides=lanes.crew.every[thread])
    dense = work.dense._replace(lanes=lanes._replace(crew=crew))
    mine = own_list(found.every, found.count, thread)
    own = collision_scratch(world.model.shapes, 1, 0)
    collision = world.collision._replace(
        pair=own.pair,
        cosine=own.cosine,
        simplex=own.simplex,
        polytope=own.polytope,
        patch=own.patch,
        spare=own.spare,
        reduction=own.reduction,
    )
    work = work._replace(dense=dense, found=found._replace(mine=mine))
    return world._replace(work=work, collision=collision)
