"""Initial coordinates of joints: bodies placed along their trees from `joints[].initial`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.placement import Placed, Placement, place
from cardan.engine.build.poses import Poses
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.world.model import Model
from cardan.engine.world.state import State
from cardan.schemas import Scene

Array = NDArray[np.float64]

# a coordinate outside of trees may miss its `initial` by this [m or rad]
REACHED = 1e-6


def initials(scene: Scene) -> list[tuple[int, Any]]:
    """Numbers and `initial` of the joints that have one."""
    found = [(j, getattr(joint, "initial", None)) for j, joint in enumerate(scene.joints)]
    return [(j, initial) for j, initial in found if initial is not None]


def place_initial(scene: Scene, model: Model, state: State, zero: Poses, faults: Faults) -> State:
    """The state with the bodies placed by `initial` of the joints; unchanged if no joint has it.

    zero: the poses of the scene. Faults: loops that do not close, an `initial` of a joint outside
    the trees that contradicts the others, and velocities that are given twice.
    """
    if not initials(scene):
        return state
    placement = Placement(model, zero)
    q, qd = placement.start.copy(), np.zeros(placement.nv)
    moved = _trees_with_velocities(scene, placement)
    for t in moved:
        _check_velocities(scene, placement, t, faults)
        _copy_root_velocity(placement, state, t, qd)
    for j, initial in initials(scene):
        if j in placement.nodes:
            placement.put(q, j, np.atleast_1d(initial.position))
            if initial.velocity is not None:
                placement.put_velocity(qd, q, j, np.atleast_1d(initial.velocity))
    _check_outside(scene, placement, faults)
    others = Placed(*(array.copy() for array in _motion_of(state)))
    placement.follow(state, q)
    placed = placement.bodies(q, qd, others)
    given = np.isin(_tree_of_bodies(placement), moved)[:, None]
    place(
        state,
        placed._replace(
            v=np.where(given, placed.v, others.v), w=np.where(given, placed.w, others.w)
        ),
    )
    _check_reached(scene, placement, state, faults)
    _check_loops(scene, placement, state, faults)
    if len(model.tree.kind):
        state = state._replace(tree_q=placement.coordinates(model.tree, state)[0])
    return state


def _motion_of(state: State) -> tuple[Array, Array, Array, Array]:
    return state.p_WB, state.q_WB, state.v_WB_W, state.w_WB_W


def _tree_of_bodies(placement: Placement) -> NDArray[np.int64]:
    """(n,) the tree of each body; -1: none."""
    node, tree = placement.tree.node, placement.tree.tree
    found: NDArray[np.int64] = np.where(node >= 0, np.append(tree, -1)[node], -1)
    return found


def _trees_with_velocities(scene: Scene, placement: Placement) -> list[int]:
    """Trees in which a joint has an initial velocity."""
    found = {
        int(placement.tree.tree[placement.nodes[j][0]])
        for j, initial in initials(scene)
        if j in placement.nodes and initial.velocity is not None
    }
    return sorted(found)


def _check_velocities(scene: Scene, placement: Placement, t: int, faults: Faults) -> None:
    """Only the root body of a tree whose joints have velocities may have one of its own."""
    tree = placement.tree
    root = int(tree.start[t]) if tree.floating[t] else -1
    for b in np.flatnonzero(_tree_of_bodies(placement) == t):
        body = scene.bodies[b]
        if tree.node[b] != root and (any(body.linear_velocity) or any(body.angular_velocity)):
            faults.add(
                f"/bodies/{b}/linear_velocity",
                "velocity_twice",
                f"Body '{body.name}' has a velocity, and joints of its tree have an initial "
                "velocity; one of both is allowed.",
                "Keep the velocity of the tree's first body and those of its joints.",
            )


def _copy_root_velocity(placement: Placement, state: State, t: int, qd: Array) -> None:
    """A floating tree starts with the velocity of its root in the scene."""
    tree = placement.tree
    if not tree.floating[t]:
        return
    i = int(tree.start[t])
    v = int(tree.v_start[i])
    qd[v : v + 6] = placement.coordinates(tree, state)[1][v : v + 6]


def _check_outside(scene: Scene, placement: Placement, faults: Faults) -> None:
    """A velocity of a joint outside of the trees follows from the others."""
    for j, initial in initials(scene):
        if j not in placement.nodes and initial.velocity is not None:
            faults.add(
                f"/joints/{j}/initial/velocity",
                "initial_outside_tree",
                f"Joint '{scene.joints[j].name}' closes a loop or holds a moving body: its "
                "velocity follows from those of the other joints.",
                "Give the velocities of the other joints of its loop.",
            )


def _check_reached(scene: Scene, placement: Placement, state: State, faults: Faults) -> None:
    """The coordinate of a joint outside of the trees follows from the others."""
    motion, joints = placement.joint_motion(state), placement.model.joints
    for j, initial in initials(scene):
        if j in placement.nodes:
            continue
        for axis, wanted in enumerate(np.atleast_1d(initial.position)):
            reached = float(motion[j, axis, 0])
            off = reached - wanted
            if not is_length(int(joints.kind[j]), axis):
                off = (off + np.pi) % (2.0 * np.pi) - np.pi
            if abs(off) <= REACHED:
                continue
            faults.add(
                f"/joints/{j}/initial/position",
                "initial_outside_tree",
                f"Joint '{scene.joints[j].name}' closes a loop or holds a moving body: with the "
                f"other joints as they start its coordinate {axis} is {reached:.6g}, not "
                f"{wanted:.6g}.",
                "Give the coordinates of the other joints of its loop.",
            )


def _check_loops(scene: Scene, placement: Placement, state: State, faults: Faults) -> None:
    """Every joint must be closed within the tolerance of anchors."""
    tolerance = scene.simulation.anchor_tolerance
    for j, sentence in open_joints(placement, state, tolerance, [x.name for x in scene.joints]):
        faults.add(
            f"/joints/{j}",
            "loop_open",
            sentence,
            "Change `initial` of the joints of its loop so that they fit one another.",
        )


def open_joints(
    placement: Placement, state: State, tolerance: float, names: Sequence[str]
) -> list[tuple[int, str]]:
    """Joints that are open at the current poses by more than a tolerance [m, rad]: a sentence."""
    found = []
    for j, (apart, turned) in enumerate(placement.errors(state)):
        if max(apart, turned) > tolerance:
            found.append(
                (
                    j,
                    f"Joint '{names[j]}' does not close: at these coordinates it is open by "
                    f"{apart:.6g} m and {turned:.6g} rad; {tolerance:g} is accepted.",
                )
            )
    return found
