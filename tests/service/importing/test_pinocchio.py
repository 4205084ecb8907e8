"""The algorithms for trees against Pinocchio's, on robots of others in random states."""

import functools

import numpy as np
import pytest

from cardan.engine import Dynamics
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path
from tests.service.importing.robots import robot_path

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra `robots`)")

# robots whose inertia nothing had to be guessed of
ROBOTS = ["ur5", "xarm7", "panda", "go2", "talos", "kinova", "double_pendulum"]
ACCURACY = 1e-10
STATES = 5


class Pair:
    """A robot twice: a tree of the engine, and Pinocchio's model; coordinates by joint name."""

    def __init__(self, name: str) -> None:
        path = robot_path(f"urdf/{name}")
        self.answer = import_path(path, ImportOptions(visuals=False))
        # Pinocchio's model leaves a mimic joint free, and a tree has no couplings
        joints = [one for one in self.answer.scene["joints"] if one["type"] != "coupling"]
        self.tree = Dynamics(load_scene({**self.answer.scene, "joints": joints}))
        self.joints = [coordinate.joint for coordinate in self.tree.coordinates]
        assert {coordinate.motion for coordinate in self.tree.coordinates} <= {"hinge", "slider"}
        self.other = pin.buildModelFromUrdf(str(path))
        self.data = self.other.createData()
        found = [self.other.joints[self.other.getJointId(name)] for name in self.joints]
        self.rates = np.array([joint.idx_v for joint in found])
        assert len(set(self.rates)) == self.other.nv == self.tree.nv
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

    def states(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Random coordinates, rates, and forces or accelerations, (states, nv) each."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.5, 1.5, (STATES, self.tree.nv))
        return q, rng.normal(size=q.shape), rng.normal(size=q.shape)

    def place(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's coordinates: a joint without limits has a cosine and a sine."""
        return pin.integrate(self.other, pin.neutral(self.other), self.to_other(q + self.start))

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
    q, qd, qdd = robot.states(1)
    tau = robot.tree.inverse_dynamics(q, qd, qdd)
    for k in range(STATES):
        wanted = pin.rnea(
            robot.other,
            robot.data,
            robot.place(q[k]),
            robot.to_other(qd[k]),
            robot.to_other(qdd[k]),
        )
        assert relative(tau[k], wanted[robot.rates]) < ACCURACY


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrices_are_pinocchios(name):
    robot = pair(name)
    q, _, _ = robot.states(2)
    H = robot.tree.mass_matrix(q)
    for k in range(STATES):
        wanted = np.triu(pin.crba(robot.other, robot.data, robot.place(q[k])))
        wanted = wanted + np.triu(wanted, 1).T
        assert relative(H[k], wanted[np.ix_(robot.rates, robot.rates)]) < ACCURACY


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_are_pinocchios(name):
    robot = pair(name)
    q, qd, tau = robot.states(3)
    qdd = robot.tree.forward_dynamics(q, qd, tau)
    for k in range(STATES):
        wanted = pin.aba(
            robot.other,
            robot.data,
            robot.place(q[k]),
            robot.to_other(qd[k]),
            robot.to_other(tau[k]),
        )
        assert relative(qdd[k], wanted[robot.rates]) < ACCURACY


@pytest.mark.parametrize("name", [*ROBOTS, "allegro", "anymal", "hyq", "icub", "pr2", "tiago"])
def test_links_stand_where_pinocchio_puts_them(name):
    robot = pair(name)
    start = robot.place(np.zeros(robot.tree.nv))
    pin.framesForwardKinematics(robot.other, robot.data, start)
    bodies = [b for b in robot.answer.scene["bodies"] if robot.other.existFrame(b["name"])]
    assert len(bodies) >= robot.tree.nv - len(bodies)
    for body in bodies:
        place = robot.data.oMf[robot.other.getFrameId(body["name"])]
        assert np.allclose(body["position"], place.translation, rtol=0, atol=1e-9)
        turn = pin.Quaternion(place.rotation).coeffs()[[3, 0, 1, 2]]
        found = np.array(body.get("orientation", [1.0, 0.0, 0.0, 0.0]))
        assert abs(abs(found @ turn) - 1.0) < 1e-12
