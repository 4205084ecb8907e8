"""Statics, linear models and inverse kinematics beside Pinocchio and MuJoCo.

The numbers of the peers are stored, so that they are compared on machines without them too; where
they are installed, the stored numbers are compared with theirs.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cardan
from cardan.schemas import load_scene
from tests.references.peers import HANDS, STORED, Array, numbers

pytestmark = pytest.mark.reference

Robot = dict[str, Any]
# differences of the smooth motion, of fourth order, beside analytic derivatives; beside MuJoCo's of
# second order
ANALYTIC, BY_DIFFERENCES = 1e-9, 1e-7


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def error(found: Array, wanted: Any) -> float:
    """Largest difference as a share of the largest number."""
    wanted = np.asarray(wanted)
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


def places(robot: Robot, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Where the robot's joints are in a list of coordinates."""
    return np.array([names.index(joint) for joint in robot["joints"]], np.int64)


@pytest.mark.parametrize("name", HANDS)
def test_drives_hold_what_pinocchios_gravity_asks(stored: dict[str, Any], name: str) -> None:
    robot = stored["pinocchio"][name]
    for pose in robot["poses"]:
        scene = copy.deepcopy(robot["scene"])
        by_name = dict(zip(robot["joints"], pose["q"], strict=True))
        for joint in scene["joints"]:
            if joint["name"] in by_name:
                value = by_name[joint["name"]]
                joint["initial"] = {"position": value}
                joint["motor"] = {"type": "position", "target": value}
        found = cardan.statics(load_scene(scene), search=False)
        assert found.status == "equilibrium"
        efforts = {one["joint"]: one["drives"][0] for one in found.joints}
        held = np.array([efforts[joint] for joint in robot["joints"]])
        assert np.abs(held).max() > 1.0
        assert error(held, pose["gravity"]) < 1e-10


@pytest.mark.parametrize("name", HANDS)
def test_a_linear_model_is_pinocchios(stored: dict[str, Any], name: str) -> None:
    robot = stored["pinocchio"][name]
    pose, joints = robot["poses"][0], robot["joints"]
    forces = [{"joint": joint, "kind": "force"} for joint in joints]
    q, qd = (dict(zip(joints, pose[key], strict=True)) for key in ("q", "qd"))
    found = cardan.linearize(load_scene(robot["scene"]), q, qd, inputs=forces)
    at = places(robot, found.coordinates)
    n = len(joints)
    rows = n + at
    assert error(found.A[np.ix_(rows, at)], pose["ddq_dq"]) < ANALYTIC
    assert error(found.A[np.ix_(rows, rows)], pose["ddq_dv"]) < ANALYTIC
    assert error(found.B[rows], pose["inverse_mass"]) < ANALYTIC


@pytest.mark.parametrize("name", HANDS)
def test_inverse_kinematics_reach_pinocchios_frames(stored: dict[str, Any], name: str) -> None:
    robot = stored["pinocchio"][name]
    scene = load_scene(robot["scene"])
    for pose in robot["poses"]:
        target = {"body": robot["hand"], "position": pose["hand"]}
        if name == "arm":
            target["orientation"] = pose["hand_orientation"]
        found = cardan.inverse_kinematics(scene, [target])
        assert found.found
        assert max(found.errors[0]) < 1e-7


def test_a_linear_model_with_springs_and_dampers_is_mujocos(stored: dict[str, Any]) -> None:
    robot = stored["mujoco"]["sprung"]
    q, qd = (dict(zip(robot["joints"], robot[key], strict=True)) for key in ("q", "qd"))
    found = cardan.linearize(load_scene(robot["scene"]), q, qd)
    assert places(robot, found.coordinates).tolist() == [0, 1, 2]
    assert error(found.f0, robot["rates"]) < 1e-11
    assert error(found.A, robot["A"]) < BY_DIFFERENCES


def test_statics_has_no_contacts_where_the_scene_has_none() -> None:
    """Links of a robot that overlap where `collisions` is off do not carry each other."""
    scene: Robot = {
        "bodies": [
            {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
            {
                "name": "box",
                "mass": 2.0,
                "position": [0, 0, 0.1],
                "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
            },
        ]
    }
    assert cardan.statics(load_scene(scene), search=False).status == "equilibrium"
    scene["simulation"] = {"collisions": False}
    assert cardan.statics(load_scene(scene), search=False).status == "none"


def test_the_stored_numbers_are_those_of_the_peers(stored: dict[str, Any]) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra `robots`)")
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (extra `robots`)")
    found = numbers()
    for kind in ("pinocchio", "mujoco"):
        for name, robot in stored[kind].items():
            # inertias are rotated by a library whose last digit depends on the processor
            scene = found[kind][name].pop("scene")
            assert _largest_difference(scene, robot["scene"]) < 1e-14, "made anew by the import"
            rest = {key: value for key, value in robot.items() if key != "scene"}
            assert _largest_difference(found[kind][name], rest) < (
                1e-12 if kind == "pinocchio" else BY_DIFFERENCES
            )


def _largest_difference(found: Any, wanted: Any) -> float:
    """Over all numbers of two documents; infinite where anything else differs."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict) or found.keys() != wanted.keys():
            return np.inf
        return max((_largest_difference(found[key], wanted[key]) for key in wanted), default=0.0)
    if isinstance(wanted, list) and wanted and not _is_number(np.ravel(wanted)[0]):
        if len(found) != len(wanted):
            return np.inf
        return max(_largest_difference(*both) for both in zip(found, wanted, strict=True))
    if isinstance(wanted, list) or _is_number(wanted):
        return error(np.asarray(found, float), wanted) if np.size(wanted) else 0.0
    return 0.0 if found == wanted else np.inf


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
