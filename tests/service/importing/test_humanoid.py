"""The imported humanoid flies as MuJoCo's does: no contact, no stops, both by Runge-Kutta."""

import re

import mujoco
import numpy as np
import pytest

from engine.articulated.forward import forward_dynamics
from engine.articulated.places import write_places
from engine.build.scene import build
from engine.build.tree import Start, build_tree, tree_work
from engine.world.tree import NODE_BALL, NODE_FREE, NODE_HINGE
from schemas import load_scene
from schemas.imported import ImportOptions
from service.importing import import_path
from tests.service.importing.robots import robot_path

SECONDS = 1.0
STEP = 5e-4


def humanoid_text(seed: int) -> str:
    """Gymnasium's humanoid in a random state, without what is not smooth, and without rotors."""
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
    """A tree of the engine under the springs and dampers of its scene."""

    def __init__(self, document: dict) -> None:
        self.scene = load_scene(document)
        built = build(self.scene)
        self.bodies = built.model.bodies
        start = Start(built.state.p_WB, built.state.q_WB)
        self.tree, self.q = build_tree(self.bodies, built.model.joints, start)
        self.work = tree_work(self.tree)
        self.wrench = np.zeros((len(self.tree.kind), 6))
        count = int(self.tree.v_start[-1])
        self.damping, self.stiffness, self.rest = np.zeros(count), np.zeros(count), np.zeros(count)
        self.place = np.zeros(count, np.int64)
        for i, kind in enumerate(self.tree.kind):
            if kind != NODE_HINGE:
                continue
            joint = self.scene.joints[int(self.tree.joint[i])]
            k = int(self.tree.v_start[i])
            self.place[k] = self.tree.q_start[i]
            self.damping[k] = joint.damping
            if joint.spring is not None:
                self.stiffness[k], self.rest[k] = joint.spring.stiffness, joint.spring.rest
        self.qd = self.rates_at_start(built.state.v_WB_W, built.state.w_WB_W)

    def rates_at_start(self, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Rates whose velocities are those of the bodies: S qd = V, by least squares."""
        from engine.articulated.places import write_velocities

        write_places(self.tree, self.q, self.work)
        nodes = [i for i, body in enumerate(self.tree.body) if body >= 0]
        columns = []
        for k in range(len(self.damping)):
            one = np.zeros(len(self.damping))
            one[k] = 1.0
            write_velocities(self.tree, one, self.work)
            columns.append(self.work.V[nodes].ravel())
        wanted = np.hstack([w[self.tree.body[nodes]], v[self.tree.body[nodes]]]).ravel()
        rates, *_ = np.linalg.lstsq(np.array(columns).T, wanted, rcond=None)
        assert np.abs(np.array(columns).T @ rates - wanted).max() < 1e-9
        return rates

    def slope(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Time derivatives of coordinates and rates; quaternions as four numbers."""
        tau = -self.damping * qd - self.stiffness * (q[self.place] - self.rest)
        qdd = np.zeros(len(qd))
        gravity = self.scene.gravity
        forward_dynamics(self.tree, q, qd, tau, self.wrench, gravity, self.work, qdd)
        q_dot = np.zeros(len(q))
        for i, kind in enumerate(self.tree.kind):
            a, b = int(self.tree.q_start[i]), int(self.tree.v_start[i])
            assert kind != NODE_BALL
            if kind == NODE_HINGE:
                q_dot[a] = qd[b]
            elif kind == NODE_FREE:
                # rates of a free body are written in its own axes
                turn = q[a + 3 : a + 7]
                rotation = np.zeros(9)
                mujoco.mju_quat2Mat(rotation, turn)
                q_dot[a : a + 3] = rotation.reshape(3, 3) @ qd[b + 3 : b + 6]
                mujoco.mju_mulQuat(q_dot[a + 3 : a + 7], turn, np.array([0.0, *qd[b : b + 3]]))
                q_dot[a + 3 : a + 7] *= 0.5
        return q_dot, qdd

    def fly(self, seconds: float, h: float) -> None:
        q, v = self.q, self.qd
        for _ in range(round(seconds / h)):
            a, da = self.slope(q, v)
            b, db = self.slope(q + 0.5 * h * a, v + 0.5 * h * da)
            c, dc = self.slope(q + 0.5 * h * b, v + 0.5 * h * db)
            d, dd = self.slope(q + h * c, v + h * dc)
            q = q + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            v = v + h / 6.0 * (da + 2.0 * db + 2.0 * dc + dd)
        self.q, self.qd = q, v
        write_places(self.tree, q, self.work)

    def origin(self, name: str) -> np.ndarray:
        """Where the origin of a body is."""
        body = [b.name for b in self.scene.bodies].index(name)
        node = list(self.tree.body).index(body)
        rotation = self.work.R[node].reshape(3, 3)
        return self.work.p_WB[node] - rotation @ self.bodies.com_B[body]


@pytest.mark.parametrize("seed", [1, 2])
def test_humanoid_follows_mujoco(tmp_path, seed):
    text = humanoid_text(seed)
    path = tmp_path / "humanoid.xml"
    path.write_text(text)
    document = import_path(path, ImportOptions(formulation="reduced")).scene
    # both formulations build the same bodies; the tree is made of them here
    document["simulation"]["formulation"] = "maximal"
    flight = Flight(document)
    before = {body["name"]: np.array(body["position"]) for body in document["bodies"]}
    flight.fly(SECONDS, STEP)
    model, data = flown_by_mujoco(text)
    moved = 0.0
    for index in range(1, model.nbody):
        name = model.body(index).name
        if name in before:
            assert np.allclose(flight.origin(name), data.xpos[index], rtol=0, atol=1e-6), name
            moved = max(moved, float(np.linalg.norm(data.xpos[index] - before[name])))
    assert moved > 1.0
