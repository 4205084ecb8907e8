"""Two scenes with a bit of everything, for laws that hold for any scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.scenes import brick, document

Document = dict[str, Any]


def link(kind: str, parent: str, child: str, anchor: list[float], **more: Any) -> Document:
    """A joint named after its bodies."""
    name = f"{kind}-{parent}-{child}"
    return {"name": name, "type": kind, "parent": parent, "child": child} | (
        {"anchor": anchor, **more}
    )


def machine() -> Document:
    """Six bodies on a moving base: joints of six kinds, stops, motors, friction, springs."""
    base = {"name": "base", "type": "kinematic", "linear_velocity": [0.2, 0.1, 0.0]}
    bodies = [base | {"angular_velocity": [0.0, 0.0, 0.0]}]
    for k in range(6):
        at = [0.5 * k + 0.25, 0.1 * (k % 2), 0.05 * k]
        q = [math.cos(0.2 * k), 0.6 * math.sin(0.2 * k), 0.0, 0.8 * math.sin(0.2 * k)]
        body = brick(f"body-{k}", position=at, orientation=q, mass=1.0 + 0.3 * k)
        bodies.append(body | {"linear_velocity": base["linear_velocity"]})
    motor = {"type": "velocity", "target": 2.0, "max_force": 3.0}
    servo = {"type": "position", "target": 0.4, "stiffness": 30.0, "damping": 4.0}
    spring = {"stiffness": 200.0, "damping": 3.0, "rest": 0.02}
    joints = [
        link("hinge", "base", "body-0", [0, 0, 0], axis=[0.1, 1, 0.2], motor=motor),
        link("ball", "body-0", "body-1", [0.5, 0.05, 0.02]),
        link("slider", "body-1", "body-2", [1.0, 0.1, 0.1], axis=[0.3, 0.1, 1], spring=spring),
        link("universal", "body-2", "body-3", [1.5, 0, 0.1], axis=[0, 1, 0], axis2=[0, 0, 1]),
        link("hinge", "body-3", "body-4", [2.0, 0.1, 0.2], axis=[0, 0.2, 1], motor=servo),
        link(
            "hinge",
            "body-4",
            "body-5",
            [2.5, 0, 0.2],
            axis=[0.2, 1, 0],
            limits={"lower": -0.3, "upper": 0.25, "restitution": 0.5},
            damping=0.05,
        ),
    ]
    forces = [
        {"type": "spring", "parent": "body-0", "child": "body-5", "stiffness": 15.0}
        | {"anchor": [0.2, 0, 0.1], "anchor2": [2.7, 0.1, 0.2], "damping": 0.5},
        {"type": "torsion", "parent": "body-1", "child": "body-3", "stiffness": 2.0}
        | {"axis": [0.2, 0.3, 1.0], "damping": 0.1},
        {"type": "wrench", "body": "body-3", "force": [1, 2, 3], "torque": [0.3, 0, 0.1]},
    ]
    return document(bodies, joints, forces=forces, gravity=[0, 0, -9.81], simulation={"dt": 1e-3})


def heap() -> Document:
    """Seven round solids that fall on a floor and on each other.

    Round, because a face that slides on a face is indeterminate: how its weight is shared by the
    corners, and so the torque of friction, is left open by the laws.
    """
    stone = {"stone": {"friction": 0.4, "restitution": 0.3}}
    # defaults that have units, so that they can be told in others; some of them start too close
    contact = {"restitution_threshold": 0.5, "max_correction_speed": 0.2}
    exact = {"dt": 1e-3, "solver": {"tolerance": 1e-13}, "contact": contact}
    floor = {"type": "box", "size": [6, 6, 1], "material": "stone", "position": [0, 0, -0.5]}
    bodies: list[Document] = [
        {"name": "floor", "type": "kinematic", "shapes": [floor], "linear_velocity": [0, 0, 0]}
        | {"angular_velocity": [0, 0, 0]}
    ]
    shapes: list[Document] = [
        {"type": "capsule", "radius": 0.12, "length": 0.4},
        {"type": "sphere", "radius": 0.15},
        {"type": "capsule", "radius": 0.1, "length": 0.3},
        {"type": "sphere", "radius": 0.2},
        {"type": "sphere", "radius": 0.1},
        {"type": "capsule", "radius": 0.08, "length": 0.2},
        {"type": "sphere", "radius": 0.13},
    ]
    for k, shape in enumerate(shapes):
        angle = 0.3 + 0.4 * k
        body = {
            "name": f"solid-{k}",
            "mass": 1.0 + 0.2 * k,
            "shapes": [shape | {"material": "stone"}],
        }
        body["position"] = [0.13 * math.sin(2.0 * k), 0.11 * math.cos(3.0 * k), 0.3 + 0.32 * k]
        body["orientation"] = [math.cos(angle), *(math.sin(angle) * x for x in (0.48, 0.64, 0.6))]
        body["linear_velocity"] = [0.1 * k, -0.1, -1.0]
        body["angular_velocity"] = [0.5, -0.3 * k, 0.7]
        bodies.append(body)
    return document(bodies, materials=stone, gravity=[0, 0, -9.81], simulation=exact)


JOINTS: list[Document] = [
    {"type": "ball"},
    {"type": "hinge", "axis": [0.1, 0.2, 1], "limits": {"lower": -0.1, "upper": 0.15}},
    {"type": "slider", "axis": [1, 0.3, 0], "limits": {"lower": -0.02, "upper": 0.03}},
    {"type": "hinge2", "axis": [0, 0, 1], "axis2": [0, 1, 0.2], "spring": {"stiffness": 300.0}},
    {"type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0], "damping": 0.1},
    {"type": "fixed"},
    {"type": "hinge", "axis": [1, 1, 0], "motor": {"type": "velocity", "target": 3.0}},
    {"type": "hinge", "axis": [1, 0, 1], "motor": {"type": "position", "target": 0.3}},
    {"type": "cylindrical", "axis": [0, 1, 0], "friction": 0.5},
    {"type": "planar", "axis": [0, 1, 0.4]},
]


def adrift(seed: int) -> Document:
    """Two to five bodies in space, on random joints, with springs, close enough to collide."""
    dice = np.random.default_rng(seed)
    shapes: list[Document] = [
        {"type": "sphere", "radius": 0.2},
        {"type": "box", "size": [0.4, 0.3, 0.2]},
        {"type": "capsule", "radius": 0.12, "length": 0.25},
    ]
    bodies: list[Document] = []
    for k in range(int(dice.integers(2, 6))):
        q = dice.normal(size=4)
        body = brick(f"body-{k}", mass=float(dice.uniform(0.5, 3.0)))
        body["position"] = [0.44 * (k % 2), 0.44 * (k // 2), 0.05 * k]
        body["orientation"] = (q / np.linalg.norm(q)).tolist()
        body["linear_velocity"] = dice.normal(size=3).tolist()
        body["angular_velocity"] = (2.0 * dice.normal(size=3)).tolist()
        body["shapes"] = [{**shapes[int(dice.integers(3))], "material": "rough"}]
        bodies.append(body)
    joints = []
    for k in range(1, len(bodies)):
        if dice.uniform() < 0.7:
            joint = {"name": f"joint-{k}", "parent": f"body-{k - 1}", "child": f"body-{k}"}
            joint |= JOINTS[int(dice.integers(len(JOINTS)))]
            middle = 0.5 * (np.array(bodies[k]["position"]) + bodies[k - 1]["position"])
            joints.append(joint | {"anchor": middle.tolist()})
    ends = {"parent": "body-0", "child": f"body-{len(bodies) - 1}", "stiffness": 80.0}
    spring = {"type": "spring", "anchor": [0, 0, 0.1], "anchor2": bodies[-1]["position"], **ends}
    rough = {"rough": {"friction": 0.5, "restitution": 0.3}}
    space = {"gravity": [0, 0, 0], "simulation": {"dt": 2e-3}, "materials": rough}
    return document(bodies, joints, forces=[spring | {"damping": 1.0}], **space)


SCENES = {"machine": machine, "heap": heap}
