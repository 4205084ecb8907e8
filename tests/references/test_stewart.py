"""A Stewart platform: six legs of given lengths carry it where inverse kinematics says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

H, END, HEIGHT = 1e-3, 1.0, 0.6
Array = np.ndarray


def circle(radius: float, angles: tuple[float, ...]) -> Array:
    """(6, 3) m: anchors on a circle."""
    a = np.array(angles)
    return radius * np.stack([np.cos(a), np.sin(a), 0.0 * a], axis=1)


BASE = circle(0.5, (-0.14, 0.14, 1.954, 2.234, 4.049, 4.329))
TOP = circle(0.3, (-0.9, 0.9, 1.194, 2.994, 3.289, 5.089))


def pose(time: float) -> tuple[Array, Rotation]:
    """Where the platform shall be: it starts from rest and moves along and about all axes."""
    s = 0.5 * (1.0 - math.cos(2.0 * math.pi * time))
    s2 = 0.5 * (1.0 - math.cos(4.0 * math.pi * time))
    place = np.array([0.05 * s, -0.04 * s2, HEIGHT + 0.06 * s])
    return place, Rotation.from_rotvec([0.15 * s2, 0.1 * s, 0.2 * s])


def legs(time: float) -> Array:
    """(6, 3) m: from the base to the platform."""
    place, turn = pose(time)
    found: Array = place + turn.apply(TOP) - BASE
    return found


def platform(formulation: str) -> Document:
    """Legs are two rods on a slider, between a universal joint and a ball."""
    bodies: list[Document] = [
        {"name": "top", "position": [0, 0, HEIGHT], "mass": 20.0, "inertia": [0.5, 0.5, 0.9]}
    ]
    joints: list[Document] = []
    times = np.arange(round(END / H) + 8) * H
    lengths = np.array([np.linalg.norm(legs(time), axis=1) for time in times])
    for k, leg in enumerate(legs(0.0)):
        along = leg / np.linalg.norm(leg)
        across = np.cross(along, [0.0, 0.0, 1.0])
        across /= np.linalg.norm(across)
        for name, share in (("lower", 0.3), ("upper", 0.7)):
            at = (BASE[k] + share * leg).tolist()
            bodies.append({"name": f"{name}{k}", "position": at, "mass": 1.0})
            bodies[-1]["inertia"] = [0.02, 0.02, 0.02]
        foot = {"name": f"foot{k}", "type": "universal", "parent": "world", "child": f"lower{k}"}
        axes = {"axis": across.tolist(), "axis2": np.cross(along, across).tolist()}
        joints.append({**foot, "anchor": BASE[k].tolist(), **axes})
        target = {"times": times.tolist(), "values": (lengths[:, k] - lengths[0, k]).tolist()}
        slide = {"name": f"leg{k}", "type": "slider", "parent": f"lower{k}", "child": f"upper{k}"}
        motor = {"type": "position", "target": target}
        joints.append({**slide, "axis": along.tolist(), "motor": motor})
        head = {"name": f"head{k}", "type": "ball", "parent": f"upper{k}", "child": "top"}
        joints.append({**head, "anchor": (BASE[k] + leg).tolist()})
    simulation = {"dt": H, "duration": END, "formulation": formulation}
    return document(bodies, joints, simulation=simulation)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_stewart_platform_is_where_inverse_kinematics_says(formulation: str) -> None:
    sim = simulate(platform(formulation))
    away, turned, moved = 0.0, 0.0, 0.0
    for _ in range(50):
        sim.advance(round(END / H / 50))
        place, turn = pose(sim.time)
        x, q = sim.poses()[0, :3], sim.poses()[0, 3:]
        found = Rotation.from_quat(np.roll(q, -1))
        away = max(away, float(np.linalg.norm(x - place)))
        turned = max(turned, float((found * turn.inv()).magnitude()))
        moved = max(moved, float(np.linalg.norm(place - [0.0, 0.0, HEIGHT])))
    assert moved > 0.07
    assert away < 1e-6
    assert turned < 3e-6
