"""Reactions of joints that have no rows: those of the same joints in maximal coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.schemas.examples import example_document
from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

FIELDS = ("fx", "fy", "fz", "tx", "ty", "tz")


def reactions(scene: Document, formulation: str, dt: float, steps: int) -> np.ndarray:
    """(rows, 6) N, N m of the joint table."""
    options = {**scene.get("simulation", {}), "dt": dt, "formulation": formulation}
    sim = simulate(scene | {"simulation": options})
    sim.advance(steps)
    table = sim.joint_table()
    return np.column_stack([table[name] for name in FIELDS])


def figure() -> Document:
    """Bricks that swing on joints of several motions; one joint names its ends the other way."""
    bodies = [brick(f"b{i}", position=[0.5 * i + 0.25, 0.0, 0.0]) for i in range(4)]
    kinds = ("universal", "hinge", "fixed", "cylindrical")
    joints = []
    for i, kind in enumerate(kinds):
        ends = ["world" if i == 0 else f"b{i - 1}", f"b{i}"]
        parent, child = ends if i != 2 else ends[::-1]
        joint: Document = {"type": kind, "name": f"j{i}", "parent": parent, "child": child}
        joint |= {"anchor": [0.5 * i, 0.0, 0.1]}
        joint |= {} if kind == "fixed" else {"axis": [0.0, 0.6, 0.8]}
        joint |= {"axis2": [1, 0, 0]} if kind == "universal" else {}
        joint |= {"damping": 0.4} if kind == "hinge" else {}
        joints.append(joint)
    return document(bodies, joints)


def test_reactions_of_trees_are_those_of_rows() -> None:
    scene = figure()
    for joint in scene["joints"]:
        joint["erp"] = 0.02
    maximal = reactions(scene, "maximal", 1e-4, 40)
    reduced = reactions(scene, "reduced", 1e-4, 40)
    assert np.abs(maximal).max() > 20.0
    assert np.abs(maximal - reduced).max() < 2e-3 * np.abs(maximal).max()


def test_a_top_pushes_its_pivot_alike() -> None:
    scene = example_document("heavy-top")
    maximal = reactions(scene, "maximal", 1e-4, 50)
    reduced = reactions(scene, "reduced", 1e-4, 50)
    assert np.abs(maximal - reduced).max() < 2e-3 * np.abs(maximal).max()


@pytest.mark.parametrize("kind", ["slider", "screw", "cylindrical", "planar"])
@pytest.mark.parametrize("ground", [False, True])
def test_torques_are_about_the_anchor_of_the_child_wherever_the_tree_begins(
    kind: str, ground: bool
) -> None:
    # the child is nearer to the root, and the joint has slid: the ends have their anchors apart
    bodies = [brick("near", position=[0, 0, 0])]
    bodies[0] |= {"type": "static"} if ground else {"angular_velocity": [6.0, 4.0, -8.0]}
    bodies.append(brick("far", position=[0.7, 0.1, 0.2]))
    joint: Document = {"type": kind, "name": "j", "parent": "far", "child": "near"}
    joint |= {"anchor": [0.3, 0.0, 0.1], "axis": [0.8, 0.0, 0.6]}
    joint |= {"direction": [0.6, 0.0, -0.8]} if kind == "planar" else {}
    joint |= {"pitch": 0.4} if kind == "screw" else {}
    joint["initial"] = {
        "position": {"cylindrical": [0.5, 0.3], "planar": [0.5, -0.2, 0.3]}.get(kind, 0.5)
    }
    scene = document(bodies, [joint])
    maximal = reactions(scene, "maximal", 1e-4, 20)
    reduced = reactions(scene, "reduced", 1e-4, 20)
    assert np.abs(maximal).max() > 1.0
    assert np.abs(maximal - reduced).max() < 2e-3 * np.abs(maximal).max()
