"""Arrays of worlds side by side, and the transfer of states to and from lanes (not compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.stretches import OF_A_SPRING, first_spring
from cardan.engine.build.scene import Built
from cardan.engine.compiler.lanes import LANES
from cardan.engine.lanes.boxes import lane_boxes, touching_pairs
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.lanes import (
    LaneBodies,
    LaneDrives,
    LaneKick,
    LaneModel,
    LanePlaces,
    LaneState,
    LaneWork,
    LaneWorld,
)
from cardan.engine.world.model import HINGE2, MOTOR_NONE, SLIDER, Joints, Model
from cardan.engine.world.state import State
from cardan.engine.world.tree import NODE_SLIDER, Tree

ALIGNMENT = 64  # bytes, a line of the cache


def lane_array(shape: tuple[int, ...]) -> Any:
    """Zeros of all worlds, aligned for vectors."""
    size = int(np.prod(shape)) * LANES.itemsize
    room = np.zeros(size + ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT
    return room[first : first + size].view(LANES).reshape(shape)


def in_lanes(one: Any) -> Any:
    """The same struct with arrays of lanes in place of arrays of floats; whole numbers are kept."""
    if isinstance(one, tuple):
        return type(one)(*map(in_lanes, one))
    if one.dtype.kind != "f":
        return one
    array = lane_array(one.shape)
    array["lane"][...] = one[..., None]
    return array


def own_rates(tree: Tree) -> list[tuple[int, int, int, int]]:
    """Rates that are those of a coordinate of a joint: (rate, node, joint, axis)."""
    found = []
    for i in range(len(tree.kind)):
        if tree.joint[i] >= 0 and tree.axis[i] >= 0 and tree.v_start[i + 1] - tree.v_start[i] == 1:
            found.append((int(tree.v_start[i]), i, int(tree.joint[i]), int(tree.axis[i])))
    return found


def has_spring(joints: Joints, j: int, axis: int) -> bool:
    """Whether the spring of a joint acts on this coordinate."""
    on = joints.spring_on[j] == 1 and joints.kind[j] != HINGE2
    return bool(on and axis == 0)


def lane_drives(model: Model) -> LaneDrives:
    """Motors, dampers, springs and stops by generalised velocities."""
    joints, tree = model.joints, model.tree
    v = int(tree.v_start[-1])

    def whole(value: int) -> NDArray[np.int64]:
        return np.full(v, value, np.int64)

    made = LaneDrives(
        driven=whole(0),
        count=np.zeros(1, np.int64),
        coordinate=whole(-1),
        motor_kind=whole(MOTOR_NONE),
        table=whole(0),
        motor_stiffness=np.zeros((v, 3)),
        motor_damping=np.zeros(v),
        motor_mass=np.zeros(v),
        motor_max_force=np.full(v, np.inf),
        damping=np.zeros(v),
        damping_mass=np.zeros(v),
        spring_k=np.zeros((v, 3)),
        spring_damping=np.zeros(v),
        spring_rest=np.zeros(v),
        spring_mass=np.zeros(v),
        records=whole(-1),
        limited=whole(0),
        lower=np.full(v, -np.inf),
        upper=np.full(v, np.inf),
        targets=model.targets,
        commanded=whole(0),
        command=np.zeros(v),
    )
    for k, i, j, axis in own_rates(tree):
        part = 0 if tree.kind[i] == NODE_SLIDER else 1
        made.coordinate[k] = tree.q_start[i]
        made.limited[k] = joints.limit_on[j, axis]
        if made.limited[k]:
            made.lower[k], made.upper[k] = joints.limit_lower[j, axis], joints.limit_upper[j, axis]
        made.motor_kind[k], made.table[k] = joints.motor_kind[j, axis], joints.motor_table[j, axis]
        if made.motor_kind[k] != MOTOR_NONE:
            made.motor_stiffness[k] = joints.motor_stiffness[j, axis]
            made.motor_damping[k] = joints.motor_damping[j, axis]
            made.motor_mass[k] = joints.motor_inverse_mass[j, axis]
            made.motor_max_force[k] = joints.motor_max_force[j, axis]
        made.damping[k], made.damping_mass[k] = joints.damping[j], joints.inverse_mass[j, part]
        if has_spring(joints, j, axis):
            made.spring_k[k], made.spring_rest[k] = joints.spring_k[j], joints.spring_rest[j]
            made.spring_damping[k] = joints.spring_damping[j]
            made.records[k] = first_spring(model) + OF_A_SPRING * j
            made.spring_mass[k] = joints.inverse_mass[j, 0 if joints.kind[j] == SLIDER else part]
        has_motor = made.motor_kind[k] != MOTOR_NONE
        made.driven[k] = has_motor or joints.damping[j] > 0.0 or has_spring(joints, j, axis)
    made.count[0] = made.driven.sum()
    return made


def lane_model(one: Built, pairs: NDArray[np.int64]) -> LaneModel:
    """What worlds in lanes need of a model, still as floats; pairs of shapes: `lane_boxes`."""
    model, bodies = one.model, one.model.bodies
    part = LaneBodies(bodies.kind, bodies.mass, bodies.inertia_B)
    boxes = lane_boxes(model, float(one.options.margin), pairs)
    return LaneModel(part, model.tree, lane_drives(model), boxes)


def lane_kick(model: LaneModel, work: Any, n: int) -> LaneKick:
    """Scratch of a kick; what the factor does not change is that of `work`."""
    v = len(model.drives.driven)
    apart = {name: lane_array(getattr(work, name).shape) for name in ("IA", "U", "D", "u", "qdd")}
    return LaneKick(
        tree=model.tree._replace(armature=lane_array((v,))),
        work=work._replace(**apart),
        gain=lane_array((v,)),
        push=lane_array((v,)),
        motor_gain=lane_array((v,)),
        motor_push=lane_array((v,)),
        before=lane_array((v,)),
        velocity_old=lane_array((n, 6)),
    )


def lane_places(m: int) -> LanePlaces:
    """Scratch of m boxes."""
    return LanePlaces(lane_array((m, 3)), lane_array((m, 3, 3)), lane_array((m,)))


def lane_world(one: Built) -> LaneWorld:
    """Arrays of W worlds, each with the numbers of this model and state, which `fits`."""
    model, state = one.model, one.state
    pairs = touching_pairs(model)
    assert pairs is not None
    n = len(model.bodies.kind)
    named = {name: getattr(state, name) for name in LaneState._fields if name != "left"}
    # the number of steps is the only whole number that changes
    own = LaneState(**(named | {"step": state.step.copy()}), left=np.zeros(1))
    plain = lane_model(one, pairs)
    made: LaneModel = in_lanes(plain)
    targets = made.drives.targets._replace(times=plain.drives.targets.times.copy())
    made = made._replace(drives=made.drives._replace(targets=targets))
    work = in_lanes(tree_work(model.tree))
    return LaneWorld(
        model=made,
        state=in_lanes(own),
        work=LaneWork(work, lane_kick(made, work, n), lane_places(len(made.boxes.body))),
        first=np.array([LIMITS + len(model.joints.kind) + n]),
    )


def write_lane(world: LaneWorld, lane: int, one: Built) -> None:
    """Put a world into a lane.

    Its structure, the times of its targets, and its number of steps are those of the other lanes.
    """
    _copy(lane_model(one, world.model.boxes.pairs), world.model, lane)
    _copy(one.state, world.state, lane)
    world.state.left["lane"][0, lane] = 0.0
    world.state.step[0] = one.state.step[0]


def read_lane(world: LaneWorld, lane: int, state: State, h: float) -> None:
    """state <- what the steps of the world in a lane have changed."""
    for name in LaneState._fields:
        source = getattr(world.state, name)
        if source.dtype == LANES and name != "left":
            getattr(state, name)[...] = source["lane"][..., lane]
    state.step[0] = world.state.step[0]
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
