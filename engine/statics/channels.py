"""Outputs of linear models, and the joint coordinates that inputs and outputs name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import turn
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.statics.fields import check_fields
from cardan.engine.statics.smooth import Sample, SmoothModel
from cardan.engine.world.tree import NODE_BALL
from cardan.schemas.given import GivenInvalid

Array = NDArray[np.float64]
Evaluation = Callable[[Sample], Array]
# as an Evaluation, given the motion of all joints too
Part = Callable[[Sample, Array], Array]
Place = tuple[str, int]

QUANTITIES = ("position", "velocity", "acceleration")
OUTPUT_FIELDS = ("joint", "coordinate", "body", "point", "quantity")


def joint_place(
    smooth: SmoothModel, given: Mapping[str, Any], where: Place
) -> tuple[int, int, str]:
    """Joint, coordinate and a name of an input or output. Raises GivenInvalid.

    where: its place among what is given
    """
    name, axis = given.get("joint"), int(given.get("coordinate", 0))
    names = smooth.simulation.joint_names
    if name is None:
        one = "a joint" if where[0] == "inputs" else "a joint or a body"
        raise GivenInvalid(where, f"it names no joint: {one} is needed")
    if name not in names:
        raise GivenInvalid((*where, "joint"), f"there is no joint '{name}'")
    j = names.index(name)
    count = int(n_coordinates(int(smooth.model.joints.kind[j])))
    if not 0 <= axis < count:
        noun = "coordinate" if count == 1 else "coordinates"
        message = f"joint '{name}' has {count} {noun}; there is no coordinate {axis}"
        raise GivenInvalid((*where, "coordinate"), message, axis)
    return j, axis, name if axis == 0 else f"{name}.{axis + 1}"


def read_outputs(
    smooth: SmoothModel, given: Sequence[Mapping[str, Any]] | None
) -> tuple[Evaluation, list[str]]:
    """A function that measures all outputs in the state of the last sample, and their names."""
    simulation, joints = smooth.simulation, smooth.model.joints
    if given is None:
        names = simulation.joint_names
        given = [
            {"joint": names[j], "coordinate": axis}
            for j in range(len(names))
            for axis in range(int(n_coordinates(int(joints.kind[j]))))
        ]
    found: list[str] = []
    parts: list[Part] = []
    for i, one in enumerate(given):
        check_fields("an output", one, OUTPUT_FIELDS)
        where = ("outputs", i)
        quantity = one.get("quantity", "position")
        if quantity not in QUANTITIES:
            message = f"quantity must be one of {', '.join(QUANTITIES)}, not '{quantity}'"
            raise GivenInvalid((*where, "quantity"), message)
        if one.get("body") is not None:
            if one.get("joint") is not None:
                raise GivenInvalid(where, "it names a joint and a body: one of them is needed")
            if one.get("coordinate"):
                message = "an output of a body has no coordinate: all three of W are outputs"
                raise GivenInvalid((*where, "coordinate"), message, one["coordinate"])
            found += [f"{one['body']} {quantity} {axis}" for axis in "xyz"]
            parts.append(_of_point(smooth, one, quantity, where))
        else:
            if any(one.get("point", ())):
                message = "an output of a joint has no point: a body has"
                raise GivenInvalid((*where, "point"), message, one["point"])
            j, axis, name = joint_place(smooth, one, where)
            found.append(f"{name} {quantity}")
            parts.append(_of_joint(smooth, (j, axis), quantity, where))

    of_joints = any(one.get("body") is None for one in given)

    def measured(sample: Sample) -> Array:
        placement, state = simulation.placement, simulation.state
        motion = placement.joint_motion(state) if of_joints else np.zeros(0)
        values = [part(sample, motion) for part in parts]
        return np.concatenate(values) if values else np.zeros(0)

    return measured, found


def _of_joint(
    smooth: SmoothModel, coordinate: tuple[int, int], quantity: str, where: Place
) -> Part:
    simulation, tree, (j, axis) = smooth.simulation, smooth.tree, coordinate
    if quantity == "acceleration":
        node = np.flatnonzero((tree.joint == j) & (tree.axis == axis) & (tree.kind != NODE_BALL))
        if not len(node):
            raise GivenInvalid(
                (*where, "quantity"),
                f"joint '{simulation.joint_names[j]}' is no joint of a tree with one axis: its "
                "acceleration is no output",
            )
        v = int(tree.v_start[node[0]])
        return lambda sample, _: sample.qdd[v : v + 1]
    k = QUANTITIES.index(quantity)
    return lambda _, motion: motion[j, axis, k : k + 1]


def _of_point(smooth: SmoothModel, given: Mapping[str, Any], quantity: str, where: Place) -> Part:
    names, state = smooth.simulation.body_names, smooth.simulation.state
    if given["body"] not in names:
        raise GivenInvalid((*where, "body"), f"there is no body '{given['body']}'")
    if quantity == "acceleration":
        message = "of a point of a body position and velocity can be outputs"
        raise GivenInvalid((*where, "quantity"), message)
    b = names.index(given["body"])
    point = np.asarray(given.get("point", (0.0, 0.0, 0.0)), float) - smooth.model.bodies.com_B[b]

    def measured(_: Sample, __: Array) -> Array:
        arm = turn(state.q_WB[b], point)
        if quantity == "position":
            return state.p_WB[b] + arm
        velocity: Array = state.v_WB_W[b] + np.cross(state.w_WB_W[b], arm)
        return velocity

    return measured
