"""The algorithms for trees against Pinocchio's, on robots of others in random states."""

import functools
from typing import Any

import numpy as np
import pytest

from engine.articulated.forward import forward_dynamics
from engine.articulated.inverse import inverse_dynamics
from engine.articulated.joint_inertia import joint_inertia
from engine.build.scene import build
from engine.build.tree import Start, build_tree, tree_work
from engine.world.tree import NODE_HINGE, NODE_SLIDER
from schemas import load_scene
from schemas.imported import ImportOptions
from service.importing import import_path
from tests.service.importing.robots import robot_path

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra `robots`)")

# robots whose inertia nothing had to be guessed of
ROBOTS = ["ur5", "xarm7", "panda", "go2", "talos", "kinova", "double_pendulum"]
GRAVITY = (0.0, 0.0, -9.81)
ACCURACY = 1e-10


class Pair:
    """A robot twice: a tree of the engine, and Pinocchio's model; coordinates by joint name."""

    def __init__(self, name: str) -> None:
        path = robot_path(f"urdf/{name}")
        self.answer = import_path(path, ImportOptions())
        scene = load_scene(self.answer.scene)
        built = build(scene)
        start = Start(built.state.p_WB, built.state.q_WB)
        self.tree, self.q = build_tree(built.model.bodies, built.model.joints, start)
        self.work = tree_work(self.tree, dense=True)
        moving = [i for i, kind in enumerate(self.tree.kind) if kind in (NODE_HINGE, NODE_SLIDER)]
        self.joints = [scene.joints[int(self.tree.joint[i])].name for i in moving]
        assert len(self.joints) == len(self.q) == int(self.tree.v_start[-1])
        self.other = pin.buildModelFromUrdf(str(path))
        self.data = self.other.createData()
        found = [self.other.joints[self.other.getJointId(name)] for name in self.joints]
        self.rates = np.array([joint.idx_v for joint in found])
        assert len(set(self.rates)) == self.other.nv == len(self.joints)
        self.start = self.start_of_model()

    def start_of_model(self) -> np.ndarray:
        """Coordinates of the model where the scene's are zero: joints whose limits exclude 0."""
        start = dict.fromkeys(self.joints, 0.0)
        for note in self.answer.report.notes:
            if note.code == "start_at_limit":
                for where in note.where:
                    _, joint, value = where.split("'")
                    start[joint] = float(value.removeprefix(" at "))
        return np.array([start[name] for name in self.joints])

    def state(self, seed: int) -> tuple[np.ndarray, Any, np.ndarray]:
        """A random state: coordinates of both, and rates."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.5, 1.5, len(self.joints))
        turned = np.zeros(self.other.nv)
        turned[self.rates] = q + self.start
        return (
            q,
            pin.integrate(self.other, pin.neutral(self.other), turned),
            rng.normal(size=len(q)),
        )

    def to_other(self, values: np.ndarray) -> np.ndarray:
        out = np.zeros(self.other.nv)
        out[self.rates] = values
        return out


@functools.cache
def pair(name: str) -> Pair:
    return Pair(name)


def relative(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_are_pinocchios(name):
    robot = pair(name)
    for seed in range(5):
        q, q_other, qd = robot.state(seed)
        qdd = np.random.default_rng(100 + seed).normal(size=len(q))
        tau = np.zeros(len(q))
        inverse_dynamics(robot.tree, q, qd, qdd, GRAVITY, robot.work, tau)
        wanted = pin.rnea(robot.other, robot.data, q_other, robot.to_other(qd), robot.to_other(qdd))
        assert relative(tau, wanted[robot.rates]) < ACCURACY


@pytest.mark.parametrize("name", ROBOTS)
def test_joint_inertia_is_pinocchios(name):
    robot = pair(name)
    for seed in range(5):
        q, q_other, _ = robot.state(seed)
        joint_inertia(robot.tree, q, robot.work)
        H = np.tril(robot.work.H) + np.tril(robot.work.H, -1).T
        wanted = np.triu(pin.crba(robot.other, robot.data, q_other))
        wanted = wanted + np.triu(wanted, 1).T
        assert relative(H, wanted[np.ix_(robot.rates, robot.rates)]) < ACCURACY


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_are_pinocchios(name):
    robot = pair(name)
    for seed in range(5):
        q, q_other, qd = robot.state(seed)
        tau = np.random.default_rng(200 + seed).normal(size=len(q))
        qdd = np.zeros(len(q))
        wrench = np.zeros((len(robot.tree.kind), 6))
        forward_dynamics(robot.tree, q, qd, tau, wrench, GRAVITY, robot.work, qdd)
        wanted = pin.aba(robot.other, robot.data, q_other, robot.to_other(qd), robot.to_other(tau))
        assert relative(qdd, wanted[robot.rates]) < ACCURACY
