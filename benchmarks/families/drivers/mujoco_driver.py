"""MuJoCo on a scene of the families: mujoco_driver.py SCENE.json OUT SOLVER."""

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

# a velocity motor is a damper towards its speed, as stiff as to reach its bound at this much less
SLIP = 0.1


def text(values: Any) -> str:
    """Numbers as MJCF wants them."""
    return " ".join(repr(float(x)) for x in values)


def across(axis: Any) -> list[Any]:
    """Two axes at right angles to one."""
    n = np.array(axis)
    u = np.cross(n, np.eye(3)[np.argmin(abs(n))])
    u /= np.linalg.norm(u)
    return [u, np.cross(n, u)]


class Writer:
    """A scene as MJCF: joints make trees, those that close loops become connections."""

    def __init__(self, scene: Any) -> None:
        """Sort joints into those of trees and the others."""
        self.s, self.bodies = scene, scene["bodies"]
        self.kept: dict[int, int] = {}
        self.loops: list[int] = []
        self.parts: list[str] = []
        self.assets: list[str] = []
        self.equal: list[str] = []
        self.motors: list[tuple[str, float]] = []
        self.excluded: list[tuple[int, int]] = []
        root = list(range(len(self.bodies) + 1))
        for k, j in enumerate(scene["joints"]):
            a, b = self.find(root, j["parent"]), self.find(root, j["child"])
            if a == b or j["child"] in self.kept:
                self.loops.append(k)
            else:
                self.kept[j["child"]] = k
                root[a] = b
        self.children: dict[int, list[int]] = {}
        for child, k in self.kept.items():
            self.children.setdefault(scene["joints"][k]["parent"], []).append(child)

    @staticmethod
    def find(root: list[int], i: int) -> int:
        """The representative; the world is the last."""
        i = len(root) - 1 if i < 0 else i
        while root[i] != i:
            i = root[i]
        return i

    def geom(self, h: Any) -> str:
        """A shape; hulls and meshes are assets."""
        kind, friction = h["kind"], f'friction="{self.s["mu"]!r} 0 0" condim="3" mass="0"'
        pose = f'pos="{text(h["pos"])}" quat="{text(h["quat"])}"'
        if kind == "hull":
            name = f"hull{len(self.assets)}"
            points = np.array(h["points"])
            self.assets.append(f'<mesh name="{name}" vertex="{text(points.ravel())}"/>')
            return f'<geom type="mesh" mesh="{name}" {friction}/>'
        return f'<geom type="{kind}" size="{text(h["size"])}" {pose} {friction}/>'

    def joint(self, k: int, at: Any, turn: Any) -> None:
        """The elements of joint k in its child, posed at `at`, `turn`."""
        j = self.s["joints"][k]
        anchor = turn.T @ (np.array(j["anchor"]) - at)
        kind, axis = j["kind"], np.array(j["axis"])
        stops = "" if j["limits"] is None else f'range="{text(j["limits"])}" limited="true"'

        def add(type_: str, along: Any, more: str = "", name: str = "") -> None:
            self.parts.append(
                f'<joint {name} type="{type_}" pos="{text(anchor)}" '
                f'axis="{text(turn.T @ np.array(along))}" {more}/>'
            )

        name = f'name="j{k}"'
        if kind == "ball":
            self.parts.append(f'<joint type="ball" pos="{text(anchor)}"/>')
        elif kind in ("hinge", "slider"):
            add("hinge" if kind == "hinge" else "slide", axis, stops, name)
        elif kind == "universal":
            add("hinge", axis)
            add("hinge", j["axis2"])
        elif kind == "cylindrical":
            add("slide", axis)
            add("hinge", axis)
        elif kind == "planar":
            for side in across(axis):
                add("slide", side)
            add("hinge", axis)
        motor = j["motor"]
        if motor is None:
            return
        if motor["kind"] == "spring":
            gains = f'kp="{motor["kp"]!r}" kv="{motor["kd"]!r}"'
            self.motors.append((f'<position joint="j{k}" {gains}/>', motor["target"]))
        else:
            most = motor["max"]
            gain = most / SLIP
            limit = f'forcerange="{-most!r} {most!r}"'
            self.motors.append((f'<velocity joint="j{k}" kv="{gain!r}" {limit}/>', motor["target"]))

    def body(self, i: int, parent_at: Any, parent_turn: Any) -> None:
        """Body i and those that hang from it."""
        b = self.bodies[i]
        at, turn = np.array(b["pos"]), matrix(b["quat"])
        q = np.zeros(4)
        mujoco.mju_mat2Quat(q, (parent_turn.T @ turn).ravel())
        where = parent_turn.T @ (at - parent_at)
        self.parts.append(f'<body name="b{i}" pos="{text(where)}" quat="{text(q)}">')
        if i in self.kept:
            self.joint(self.kept[i], at, turn)
        else:
            self.parts.append("<freejoint/>")
        inertia = f'mass="{b["mass"]!r}" diaginertia="{text(b["inertia"])}"'
        self.parts.append(f'<inertial pos="0 0 0" {inertia}/>')
        self.parts += [self.geom(h) for h in b["shapes"]]
        for child in self.children.get(i, []):
            self.body(child, at, turn)
        self.parts.append("</body>")

    def loop(self, k: int) -> None:
        """A joint that closes a loop: one or two points held together."""
        j = self.s["joints"][k]
        child = j["child"]
        at, turn = np.array(self.bodies[child]["pos"]), matrix(self.bodies[child]["quat"])
        points = [np.array(j["anchor"])]
        if j["kind"] == "hinge":
            axis = np.array(j["axis"])
            points = [points[0] - 0.1 * axis, points[0] + 0.1 * axis]
        other = "" if j["parent"] < 0 else f'body2="b{j["parent"]}"'
        for p in points:
            anchor = text(turn.T @ (p - at))
            self.equal.append(f'<connect body1="b{child}" {other} anchor="{anchor}"/>')
        if j["parent"] >= 0:
            self.excluded.append((j["parent"], child))

    def document(self, solver: str) -> str:
        """All of it."""
        s = self.s
        friction = f'friction="{s["mu"]!r} 0 0" condim="3"'
        if s["plane"]:
            self.parts.append(f'<geom type="plane" size="0 0 1" {friction}/>')
        for b in self.bodies:
            if b["fixed"]:
                self.parts.append(f'<body pos="{text(b["pos"])}" quat="{text(b["quat"])}">')
                self.parts += [self.geom(h) for h in b["shapes"]]
                self.parts.append("</body>")
        moving = [i for i, b in enumerate(self.bodies) if not b["fixed"]]
        for i in moving:
            if i not in self.kept or s["joints"][self.kept[i]]["parent"] < 0:
                self.body(i, np.zeros(3), np.eye(3))
        for k in self.loops:
            self.loop(k)
        pairs = [(s["joints"][k]["parent"], c) for c, k in self.kept.items()]
        pairs = [p for p in pairs if p[0] >= 0] + self.excluded
        excluded = "".join(f'<exclude body1="b{a}" body2="b{b}"/>' for a, b in sorted(set(pairs)))
        integrator = 'integrator="implicitfast"' if self.motors else ""
        option = f'timestep="{s["dt"]!r}" gravity="{text(s["gravity"])}" solver="{solver}"'
        return (
            f'<mujoco><compiler angle="radian"/><option {option} {integrator}/><size memory="1G"/>'
            f"<asset>{''.join(self.assets)}</asset><worldbody>{''.join(self.parts)}</worldbody>"
            f"<contact>{excluded}</contact><equality>{''.join(self.equal)}</equality>"
            f"<actuator>{''.join(one for one, _ in self.motors)}</actuator></mujoco>"
        )


def matrix(q: Any) -> Any:
    """(3, 3) of a quaternion w, x, y, z."""
    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, np.array(q))
    return found.reshape(3, 3)


def main() -> None:
    """Run and write."""
    s = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out, solver = Path(sys.argv[2]), sys.argv[3]
    writer = Writer(s)
    model = mujoco.MjModel.from_xml_string(writer.document(solver))
    data = mujoco.MjData(model)
    data.ctrl[:] = [target for _, target in writer.motors]
    ids = []
    for i, b in enumerate(s["bodies"]):
        if b["fixed"]:
            continue
        ids.append(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"b{i}"))
        if i not in writer.kept:
            at = model.body_dofadr[ids[-1]]
            data.qvel[at : at + 3] = b["vel"]
            data.qvel[at + 3 : at + 6] = matrix(b["quat"]).T @ np.array(b["angvel"])
    times, states, contacts = [], [], []
    velocity = np.zeros(6)
    for _ in range(math.ceil(s["steps"] / s["every"])):
        began = time.thread_time()
        mujoco.mj_step(model, data, s["every"])
        times.append(1e6 * (time.thread_time() - began) / s["every"])
        contacts.append(data.ncon)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        for i in ids:
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, i, velocity, 0)
            states.append([*data.xpos[i], *data.xquat[i], *velocity[3:], *velocity[:3]])
    np.array(times).tofile(out / "times.f64")
    np.array(states).tofile(out / "states.f64")
    np.array(contacts, float).tofile(out / "contacts.f64")
    (out / "about.txt").write_text(f"MuJoCo {mujoco.__version__}, float64, {solver}\n")


main()
