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
    """Force [N] and torque [N m] on the child at the anchor, W, and what drives and stops give."""
    simulation = reactions.simulation
    rows, state = simulation.work.rows, simulation.state
    forces = [(int(i), float(f), False) for i, f in reactions.fixed]
    if x is not None:
        values = zip(reactions.rows, x * reactions.unit, touched, strict=True)
        forces += [(int(i), float(f), bool(open_)) for i, f, open_ in values]
    found = []
    for j, joint in enumerate(scene.joints):
        force, torque = np.zeros(3), np.zeros(3)
        drives, stops = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        unique = True
        arm = turn(
            state.q_WB[simulation.model.joints.body_b[j]], simulation.model.joints.anchor_B[j]
        )
        for i, value, open_ in forces:
            if int(rows.joint[i]) != j:
                continue
            kind, axis = int(rows.kind[i]), int(rows.axis[i])
            unique = unique and not open_
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
        found.append(
            {
                "joint": joint.name,
                "force": force.tolist() if x is not None else None,
                "torque": torque.tolist() if x is not None else None,
                "drives": drives if x is not None else None,
                "stops": stops if x is not None else None,
                "unique": unique if x is not None else None,
            }
        )
    return found


def contact_forces(
    reactions: Reactions, x: Array | None, touched: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Contacts within reach: bodies, point, normal, gap, and forces on the second body."""
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
