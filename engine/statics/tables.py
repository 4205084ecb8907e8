"""Reactions as tables: of joints, of contacts, and the coordinates they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import turn
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.simulation import Simulation
from cardan.engine.statics.reactions import Reactions
from cardan.engine.world.rows import (
    ROW_COUPLING,
    ROW_EQUATION,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_NORMAL,
    ROW_SPRING,
    ROW_TANGENT,
)
from cardan.schemas import Scene

Array = NDArray[np.float64]


def coordinates_of_joints(scene: Scene, simulation: Simulation) -> dict[str, list[float]]:
    """Coordinates of the joints that have some, by name."""
    motion = simulation.placement.joint_motion(simulation.state)
    counts = [int(n_coordinates(int(kind))) for kind in simulation.model.joints.kind]
    return {
        joint.name: motion[j, :n, 0].tolist()
        for j, (joint, n) in enumerate(zip(scene.joints, counts, strict=True))
        if n
    }


def joint_reactions(
    scene: Scene, reactions: Reactions, x: Array | None, touched: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Reaction of every joint; without x (no equilibrium) all of it is None.

    x (k,)        solution of the equilibrium, in units of reactions.unit, by reactions.rows
    touched (k,)  rows whose force is not unique
    Returns       force [N] and torque [N m] on the child at the anchor, W; drives and stops by
                  coordinate [N or N m]; unique
    """
    rows = reactions.simulation.work.rows
    if x is None:
        nothing = dict.fromkeys(("force", "torque", "drives", "stops", "unique"))
        return [{"joint": joint.name, **nothing} for joint in scene.joints]
    forces: dict[int, list[tuple[int, float, bool]]] = {}
    for i, value in reactions.fixed:
        forces.setdefault(int(rows.joint[i]), []).append((int(i), float(value), False))
    for i, value, is_open in zip(reactions.rows, x * reactions.unit, touched, strict=True):
        forces.setdefault(int(rows.joint[i]), []).append((int(i), float(value), bool(is_open)))
    return [
        {"joint": joint.name, **_reaction(reactions.simulation, j, forces.get(j, []))}
        for j, joint in enumerate(scene.joints)
    ]


def _reaction(
    simulation: Simulation, j: int, forces: Sequence[tuple[int, float, bool]]
) -> dict[str, Any]:
    """The reaction of joint j from its rows: (row, force [N or N m], whether it is not unique)."""
    rows, joints = simulation.work.rows, simulation.model.joints
    force, torque = np.zeros(3), np.zeros(3)
    drives, stops = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    arm = turn(simulation.state.q_WB[joints.body_b[j]], joints.anchor_B[j])
    for i, value, _ in forces:
        kind, axis = int(rows.kind[i]), int(rows.axis[i])
        if kind == ROW_MOTOR:
            drives[axis] += value
        if kind == ROW_COUPLING:
            stops[0] = value
        if kind == ROW_LIMIT:
            stops[axis] += value
        if kind in (ROW_EQUATION, ROW_LIMIT, ROW_SPRING):
            push = value * rows.J_b[i, 3:]
            force += push
            torque += value * rows.J_b[i, :3] - np.cross(arm, push)
    return {
        "force": force.tolist(),
        "torque": torque.tolist(),
        "drives": drives,
        "stops": stops,
        "unique": not any(is_open for _, _, is_open in forces),
    }


def contact_forces(
    reactions: Reactions, x: Array | None, touched: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Contacts within reach: bodies, point [m], normal, gap [m], forces on the second body [N], W.

    x, touched: as of `joint_reactions`; without x the forces are None.
    """
    simulation = reactions.simulation
    contacts, rows = simulation.work.contacts, simulation.work.rows
    names = (*simulation.body_names, "world")
    forces: Sequence[float] = () if x is None else (x * reactions.unit).tolist()
    by_contact: dict[int, dict[str, Any]] = {}
    for k, i in enumerate(reactions.rows):
        kind, c = int(rows.kind[i]), int(rows.slot[i])
        if kind == ROW_NORMAL:
            by_contact[c] = {
                "number": c,
                "body_a": names[int(contacts.body_a[c])],
                "body_b": names[int(contacts.body_b[c])],
                "point": contacts.point_W[c].tolist(),
                "normal": contacts.normal_W[c].tolist(),
                "gap": float(contacts.gap[c]),
                "friction": float(contacts.friction[c]),
                "normal_force": forces[k] if forces else None,
                "friction_force": [0.0, 0.0, 0.0] if forces else None,
                "unique": not touched[k] if forces else None,
            }
        elif kind == ROW_TANGENT and forces:
            along = by_contact[c]["friction_force"]
            for axis in range(3):
                along[axis] += forces[k] * float(rows.J_b[i, 3 + axis])
    return list(by_contact.values())
