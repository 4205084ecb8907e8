"""Linear models in which a rigid drive or equal limits hold a coordinate, beside other code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cardan
from cardan import linearize
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document

S = {"quantity": "acceleration"}
# the five pins of a linkage of four bars in the plane y = 0: x, z [m]
PINS = np.array([[0.0, 0.0], [0.0, 0.5], [0.5, 1.0], [1.0, 0.5], [1.0, 0.0]])
NAMES = ("first", "left", "top", "right", "last")


def turned(rate: float, arm: Any) -> Any:
    """Velocity by a turn about +y: x, z."""
    return np.array([rate * arm[1], -rate * arm[0]])


def linkage(first: float, last: float) -> Document:
    """Four bars and the ground as a pentagon; its two cranks turn at these rates [rad/s]."""
    left, right = turned(first, PINS[1] - PINS[0]), turned(last, PINS[3] - PINS[4])
    arms = [turned(1.0, PINS[2] - PINS[1]), -turned(1.0, PINS[2] - PINS[3])]
    rates = [first, *np.linalg.solve(np.transpose(arms), right - left), last]
    bodies, joints = [], []
    for i, rate in enumerate(rates):
        known, base = ((0, np.zeros(2)), (1, left), (3, right), (4, np.zeros(2)))[i]
        middle = 0.5 * (PINS[i] + PINS[i + 1])
        x, z = base + turned(rate, middle - PINS[known])
        bodies.append(
            {"name": f"bar{i}", "mass": 1.0, "inertia": [0.02, 0.03, 0.01]}
            | {"position": [middle[0], 0.0, middle[1]]}
            | {"linear_velocity": [x, 0.0, z], "angular_velocity": [0.0, rate, 0.0]}
        )
    ends = ["world", *(body["name"] for body in bodies), "world"]
    for i, (x, z) in enumerate(PINS):
        pair = {"parent": ends[i], "child": ends[i + 1]}
        if i == 4:
            pair = {"parent": "world", "child": ends[4]}
        joint = {"name": NAMES[i], "type": "hinge", "anchor": [x, 0.0, z], "axis": [0, 1, 0]}
        joints.append(joint | pair)
    # the loop is closed at a hinge between two bars
    joints[3], joints[4] = joints[4], joints[3]
    scene = document(bodies, joints)
    scene["gravity"] = [0.0, 0.0, -9.81]
    return scene


HOLDS = [
    {"limits": {"lower": 0.0, "upper": 0.0}},
    {"motor": {"type": "position", "target": 0.0}},
]


@pytest.mark.parametrize("hold", HOLDS, ids=["limits", "drive"])
def test_a_moving_loop_with_a_held_crank_is_the_loop_on_the_ground(hold: Document) -> None:
    """The loop's bars accelerate also where no free coordinate does; f0 was 18 instead of 2.7."""
    held, ground = linkage(0.0, 3.0), linkage(0.0, 3.0)
    held["joints"][0] |= hold
    ground["bodies"] = ground["bodies"][1:]
    ground["joints"] = ground["joints"][1:]
    ground["joints"][0]["parent"] = "world"
    outputs = [{"joint": name, **S} for name in ("left", "top")]
    found, wanted = (linearize(load_scene(s), outputs=outputs) for s in (held, ground))
    assert found.coordinates == wanted.coordinates
    for name in ("f0", "y0", "A", "C"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-8, abs=1e-8)


def test_a_crank_that_is_driven_at_a_speed_keeps_it_in_a_loop() -> None:
    """Against steps of the engine; the crank stood still in the model."""
    scene = linkage(2.0, 1.0)
    scene["joints"][0]["motor"] = {"type": "velocity", "target": 2.0}
    names = ("first", "left", "top")
    model = linearize(load_scene(scene), outputs=[{"joint": name, **S} for name in names])
    assert model.left_out == ()
    changes = []
    for h in (1e-4, 5e-5):
        scene["simulation"] = {"dt": h, "duration": h, "formulation": "reduced"}
        simulation = cardan.Simulation(scene)
        before = simulation.joint_state()[1]
        simulation.advance(1)
        changes.append((simulation.joint_state()[1] - before) / h)
    places = [[c.joint for c in simulation.coordinates].index(name) for name in names]
    assert model.y0 == pytest.approx((2.0 * changes[1] - changes[0])[places], abs=1e-5)


def test_the_acceleration_of_what_hangs_on_a_held_joint() -> None:
    """The outputs were those of the double pendulum: nothing was held in them."""
    bodies = [
        {"name": f"rod{i}", "mass": 1.0, "position": [i + 0.5, 0, 0], "inertia": [0.02, 0.03, 0.01]}
        for i in range(2)
    ]
    joints: list[Document] = [
        {"name": f"pin{i}", "type": "hinge", "axis": [0, 1, 0], "anchor": [i, 0, 0]}
        | {"parent": "rod0" if i else "world", "child": f"rod{i}"}
        for i in range(2)
    ]
    joints[0]["limits"] = {"lower": 0.0, "upper": 0.0}
    joints[1]["spring"] = {"stiffness": 7.0, "damping": 0.1}
    scene = document(bodies, joints) | {"gravity": [0.0, 0.0, -9.81]}
    outputs = [{"joint": "pin0", **S}, {"joint": "pin1", **S}]
    found = linearize(load_scene(scene), outputs=outputs)
    inertia = 0.03 + 0.25
    assert found.y0 == pytest.approx([0.0, 9.81 * 0.5 / inertia])
    assert found.y0[1] == pytest.approx(found.f0[1])
    assert found.C[0] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert found.C[1] == pytest.approx([-7.0 / inertia, -0.1 / inertia])
