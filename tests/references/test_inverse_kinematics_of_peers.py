"""Inverse kinematics beside Pinocchio's own, on an arm of six axes and on one of seven.

Pinocchio has no function for it; its documentation solves it by a loop (closed-loop inverse
kinematics, damped), which stands here with Pinocchio's frames, Jacobians and logarithms.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path
from tests.service.importing.robots import robot_path

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra `robots`)")
pytestmark = pytest.mark.reference

HANDS = {"ur5": "wrist_3_link", "xarm7": "link7"}
POSES = 3
DAMPING, ENOUGH, MOST_STEPS = 1e-12, 1e-11, 200


class Robot:
    """An arm twice: a scene, and Pinocchio's model."""

    def __init__(self, name: str) -> None:
        path = robot_path(f"urdf/{name}")
        scene = import_path(path, ImportOptions(visuals=False)).scene
        scene["simulation"]["collisions"] = False
        self.scene, self.hand = load_scene(scene), HANDS[name]
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(self.hand)
        self.joints = list(self.model.names)[1:]
        assert self.model.nq == self.model.nv == len(self.joints)

    def place(self, q: np.ndarray) -> Any:
        """The hand in W."""
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.frame].copy()

    def poses(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Coordinates within the limits, and starts beside them."""
        rng = np.random.default_rng(11)
        low = np.maximum(self.model.lowerPositionLimit, -1.5)
        high = np.minimum(self.model.upperPositionLimit, 1.5)
        inner = [low + (high - low) * rng.uniform(0.2, 0.8, len(low)) for _ in range(POSES)]
        return [(q, q + rng.uniform(-0.08, 0.08, len(q))) for q in inner]

    def theirs(self, target: Any, q: np.ndarray) -> np.ndarray:
        """Coordinates that Pinocchio's loop finds from q."""
        for _ in range(MOST_STEPS):
            apart = self.place(q).actInv(target)
            error = pin.log(apart).vector
            if np.linalg.norm(error) < ENOUGH:
                return q
            J = -pin.Jlog6(apart.inverse()) @ pin.computeFrameJacobian(
                self.model, self.data, q, self.frame
            )
            step = -J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(6), error)
            q = pin.integrate(self.model, q, step)
        raise AssertionError("Pinocchio's loop does not end")

    def ours(self, target: Any, q: np.ndarray) -> tuple[Any, np.ndarray]:
        """What `inverse_kinematics` finds from q."""
        orientation = pin.Quaternion(target.rotation).coeffs()[[3, 0, 1, 2]]
        wanted = {"position": target.translation.tolist(), "orientation": orientation.tolist()}
        start = dict(zip(self.joints, q.tolist(), strict=True))
        found = cardan.inverse_kinematics(
            self.scene, [{"body": self.hand, **wanted}], q=start, tolerance=1e-10
        )
        return found, np.array([found.coordinates[joint][0] for joint in self.joints])


@functools.cache
def robot(name: str) -> Robot:
    return Robot(name)


def test_six_axes_come_to_the_coordinates_of_pinocchios_loop() -> None:
    """From a start beside it, six axes have one solution: both find it."""
    arm = robot("ur5")
    for q, start in arm.poses():
        target = arm.place(q)
        found, coordinates = arm.ours(target, start)
        assert found.found
        assert found.starts == 1
        theirs = arm.theirs(target, start)
        assert np.abs(theirs - q).max() < 1e-8
        assert np.abs(coordinates - theirs).max() < 1e-8


def test_seven_axes_bring_the_hand_where_pinocchios_loop_does() -> None:
    """Seven axes have a line of solutions: the hands agree, and both stay near the start."""
    arm = robot("xarm7")
    for q, start in arm.poses():
        target = arm.place(q)
        found, coordinates = arm.ours(target, start)
        assert found.found
        theirs = arm.theirs(target, start)
        for solution in (coordinates, theirs):
            assert np.linalg.norm(pin.log(arm.place(solution).actInv(target)).vector) < 1e-8
            assert np.abs(solution - start).max() < 0.5
        # both take the least change of coordinates, to first order
        assert np.linalg.norm(coordinates - theirs) < 0.2 * np.linalg.norm(theirs - start)


@pytest.mark.parametrize("name", HANDS)
def test_a_hand_out_of_reach_is_reached_by_nobody(name: str) -> None:
    arm = robot(name)
    target = arm.place(arm.poses()[0][0])
    target.translation = target.translation * 10.0
    assert not arm.ours(target, arm.poses()[0][1])[0].found
    with pytest.raises(AssertionError, match="does not end"):
        arm.theirs(target, arm.poses()[0][1])
