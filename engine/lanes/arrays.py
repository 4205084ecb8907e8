"""Arrays of worlds side by side, and the transfer of states to and from lanes (not compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.build.drives import drive_work
from cardan.engine.build.scene import Built
from cardan.engine.compiler.lanes import LANES
from cardan.engine.lanes.boxes import lane_boxes, touching_pairs
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.lanes import (
    LaneBodies,
    LaneForces,
    LaneJoints,
    LaneModel,
    LanePlaces,
    LaneState,
    LaneWork,
    LaneWorld,
)
from cardan.engine.world.state import State

ALIGNMENT = 64  # bytes, a line of the cache


def lane_array(shape: tuple[int, ...]) -> Any:
    """Zeros of all worlds, aligned for vectors."""
    size = int(np.prod(shape)) * LANES.itemsize
    room = np.zeros(size + ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT
    return room[first : first + size].view(LANES).reshape(shape)


def in_lanes(one: Any) -> Any:
    """The same struct with arrays of lanes in place of arrays of floats; integers are kept."""
    if isinstance(one, tuple):
        return type(one)(*map(in_lanes, one))
    if one.dtype.kind != "f":
        return one
    array = lane_array(one.shape)
    array["lane"][...] = one[..., None]
    return array


def lane_model(one: Built, pairs: NDArray[np.int64]) -> LaneModel:
    """The parts of a model that lanes need, still as floats; pairs of shapes: `lane_boxes`."""
    model = one.model
    v = len(model.drives.driven)
    return LaneModel(
        bodies=LaneBodies(*(getattr(model.bodies, name) for name in LaneBodies._fields)),
        tree=model.tree,
        drives=model.drives,
        joints=LaneJoints(*(getattr(model.joints, name) for name in LaneJoints._fields)),
        forces=LaneForces(*(getattr(model.forces, name) for name in LaneForces._fields)),
        targets=model.targets,
        commanded=np.zeros(v, np.int64),
        command=np.zeros(v),
        boxes=lane_boxes(model, float(one.options.margin), pairs),
    )


def lane_places(m: int) -> LanePlaces:
    """Scratch of m boxes."""
    return LanePlaces(lane_array((m, 3)), lane_array((m, 3, 3)), lane_array((m,)))


def lane_world(one: Built) -> LaneWorld:
    """Arrays of W worlds, each with the numbers of this model and state; it must pass `fits`."""
    model, state = one.model, one.state
    pairs = touching_pairs(model)
    assert pairs is not None
    n = len(model.bodies.kind)
    named = {name: getattr(state, name) for name in LaneState._fields if name != "left"}
    # the number of steps is the only integer that changes
    own = LaneState(**(named | {"step": state.step.copy()}), left=np.zeros(1))
    plain = lane_model(one, pairs)
    made: LaneModel = in_lanes(plain)
    made = made._replace(targets=made.targets._replace(times=plain.targets.times.copy()))
    work = in_lanes(tree_work(model.tree))
    return LaneWorld(
        model=made,
        state=in_lanes(own),
        work=LaneWork(
            tree=work,
            drives=drive_work(work, lane_array),
            velocity_old=lane_array((n, 6)),
            booked=lane_array((n, 6)),
            places=lane_places(len(made.boxes.body)),
        ),
        first=np.array([LIMITS + len(model.joints.kind) + n]),
    )


def write_lane(world: LaneWorld, lane: int, one: Built) -> None:
    """Put a world into a lane.

    Its structure, the times of its targets, and its number of steps are those of the other lanes.
    """
    _copy(lane_model(one, world.model.boxes.pairs), world.model, lane)
    write_state(world.state, lane, one.state)


def write_state(lanes: LaneState, lane: int, state: State) -> None:
    """Put the state of a world into its lane; its number of steps is that of the other lanes."""
    _copy(state, lanes, lane)
    lanes.left["lane"][0, lane] = 0.0
    lanes.step[0] = state.step[0]


def read_lane(lanes: LaneState, lane: int, state: State, h: float) -> None:
    """state <- what the steps of the world in a lane have changed."""
    for name in LaneState._fields:
        source = getattr(lanes, name)
        if source.dtype == LANES and name != "left":
            getattr(state, name)[...] = source["lane"][..., lane]
    state.step[0] = lanes.step[0]
    state.time[0] = state.step[0] * h


def _copy(source: Any, target: Any, lane: int) -> None:
    """Floats of a struct into one lane of the arrays with the same names."""
    for name in target._fields:
        into = getattr(target, name)
        if name == "left":
            continue
        if isinstance(into, tuple):
            _copy(getattr(source, name), into, lane)
        elif into.dtype == LANES:
            into["lane"][..., lane] = getattr(source, name)
