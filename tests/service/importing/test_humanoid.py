"""The imported humanoid flies as MuJoCo's does: no contact, no stops, both by Runge-Kutta."""

import re
from typing import Any

import mujoco
import numpy as np
import pytest

from cardan.engine import Dynamics, Simulation
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.schemas.joint import Hinge
from cardan.service.importing import import_path
from tests.service.importing.robots import robot_path

SECONDS = 1.0
STEP = 5e-4
ACCURACY = 1e-6  # m


def humanoid_text(seed: int, rotors: bool) -> str:
    """Gymnasium's humanoid in a random state, without what is not smooth."""
    text = robot_path("gymnasium/humanoid").read_text()
    model = mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(seed)
    qpos = model.qpos0.copy()
    qpos[3:7] = rng.normal(size=4)
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qpos[7:] += rng.uniform(-0.3, 0.3, model.nq - 7)
    qvel = rng.uniform(-1.0, 1.0, model.nv)
    key = '<keyframe><key name="home" qpos="{}" qvel="{}"/></keyframe>'.format(
        " ".join(repr(float(x)) for x in qpos), " ".join(repr(float(x)) for x in qvel)
    )
    if not rotors:
        text = re.sub(r'\sarmature="[^"]*"', "", text)
    smooth = '<option><flag contact="disable" limit="disable"/></option>'
    return text.replace("</mujoco>", f"{smooth}{key}</mujoco>")


def flown_by_mujoco(text: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(text)
    assert model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_RK4)
    model.opt.timestep = STEP
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, round(SECONDS / STEP))
    mujoco.mj_forward(model, data)
    return model, data


class Flight:
    """The trees of a scene under its springs and dampers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.scene = load_scene(document)
        self.tree = Dynamics(self.scene)
        count = self.tree.nv
        self.damping, self.stiffness, self.rest = np.zeros(count), np.zeros(count), np.zeros(count)
        self.place = np.zeros(count, np.int64)
        joints = {joint.name: joint for joint in self.scene.joints}
        for coordinate in self.tree.coordinates:
            if coordinate.motion != "hinge":
                assert coordinate.motion == "free"
                continue
            assert coordinate.joint is not None
            joint, k = joints[coordinate.joint], coordinate.v[0]
            assert isinstance(joint, Hinge)
            self.place[k] = coordinate.q[0]
            self.damping[k] = joint.damping
            if joint.spring is not None:
                self.stiffness[k], self.rest[k] = joint.spring.stiffness, joint.spring.rest
        self.q, self.qd = self.tree.start.copy(), self.rates_at_start()

    def rates_at_start(self) -> np.ndarray:
        """Rates whose velocities are those of the scene's bodies: J qd = V, by least squares."""
        q = self.tree.start
        J = np.vstack([self.tree.jacobian(q, body.name) for body in self.scene.bodies[1:]])
        wanted = np.hstack(
            [[*body.angular_velocity, *body.linear_velocity] for body in self.scene.bodies[1:]]
        )
        rates, *_ = np.linalg.lstsq(J, wanted, rcond=None)
        assert np.abs(J @ rates - wanted).max() < 1e-9
        return rates

    def slope(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Time derivatives of coordinates and rates; quaternions as four numbers."""
        tau = -self.damping * qd - self.stiffness * (q[self.place] - self.rest)
        unit = q.copy()
        q_dot = np.zeros(len(q))
        for coordinate in self.tree.coordinates:
            a, b = coordinate.q[0], coordinate.v[0]
            if coordinate.motion == "hinge":
                q_dot[a] = qd[b]
                continue
            # rates of a free body are written in its own axes
            unit[a + 3 : a + 7] /= np.linalg.norm(unit[a + 3 : a + 7])
            mujoco.mju_rotVecQuat(q_dot[a : a + 3], qd[b + 3 : b + 6], unit[a + 3 : a + 7])
            spin = np.array([0.0, *qd[b : b + 3]])
            mujoco.mju_mulQuat(q_dot[a + 3 : a + 7], q[a + 3 : a + 7], spin)
            q_dot[a + 3 : a + 7] *= 0.5
        return q_dot, self.tree.forward_dynamics(unit, qd, tau)

    def fly(self, seconds: float, h: float) -> dict[str, np.ndarray]:
        """Where the origins of the bodies are in the end, by name."""
        q, v = self.q, self.qd
        for _ in range(round(seconds / h)):
            a, da = self.slope(q, v)
            b, db = self.slope(q + 0.5 * h * a, v + 0.5 * h * da)
            c, dc = self.slope(q + 0.5 * h * b, v + 0.5 * h * db)
            d, dd = self.slope(q + h * c, v + h * dc)
            q = q + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            v = v + h / 6.0 * (da + 2.0 * db + 2.0 * dc + dd)
        found = self.tree.kinematics(q)["position"]
        return dict(zip(self.tree.body_names, found, strict=True))


@pytest.mark.parametrize(("seed", "rotors"), [(1, False), (2, False), (3, True)])
def test_humanoid_follows_mujoco(tmp_path, seed, rotors):
    text = humanoid_text(seed, rotors)
    path = tmp_path / "humanoid.xml"
    path.write_text(text)
    answer = import_path(path, ImportOptions(formulation="reduced"))
    assert any("armature" in joint for joint in answer.scene["joints"]) == rotors
    document = answer.scene
    model, data = flown_by_mujoco(text)
    found = Flight(document).fly(SECONDS, STEP)
    compared = [i for i in range(1, model.nbody) if model.body(i).name in found]
    assert len(compared) > 8
    start = {body["name"]: np.array(body["position"]) for body in document["bodies"]}
    moved = [np.linalg.norm(data.xpos[i] - start[model.body(i).name]) for i in compared]
    assert max(moved) > 1.0
    for i in compared:
        name = model.body(i).name
        assert np.allclose(found[name], data.xpos[i], rtol=0, atol=ACCURACY), name


@pytest.mark.parametrize("rotors", [False, True])
def test_simulated_humanoid_follows_mujoco(tmp_path, rotors):
    """The same by the engine's own integrator."""
    text = humanoid_text(1, rotors)
    path = tmp_path / "humanoid.xml"
    path.write_text(text)
    document = import_path(path, ImportOptions(formulation="reduced")).scene
    document["simulation"] |= {"integrator": "rk4", "dt": STEP, "duration": SECONDS}
    simulation = Simulation(load_scene(document))
    simulation.advance(round(SECONDS / STEP))
    assert simulation.failure is None
    assert simulation.summary()["energy"]["max_relative_drift"] < 1e-8
    model, data = flown_by_mujoco(text)
    found = dict(zip(simulation.body_names, simulation.poses()[:, :3], strict=True))
    compared = [i for i in range(1, model.nbody) if model.body(i).name in found]
    assert len(compared) > 8
    for i in compared:
        assert np.allclose(found[model.body(i).name], data.xpos[i], rtol=0, atol=1e-9)
