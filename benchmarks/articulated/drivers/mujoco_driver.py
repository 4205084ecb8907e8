"""MuJoCo on a scene: mujoco_driver.py SCENE.json OUT INTEGRATOR."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np


def text(values: Any) -> str:
    """Numbers as MJCF wants them."""
    return " ".join(repr(float(x)) for x in values)


def turned_back(q: Any, v: Any) -> Any:
    """A vector in the axes that q turns into the world's."""
    inverse, found = np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, np.array(q, float))
    mujoco.mju_rotVecQuat(found, np.array(v, float), inverse)
    return found


def joints_of(j: Any, b: Any) -> str:
    """The joint of a body, one element for each of its axes."""
    at = turned_back(b["quat"], np.array(j["anchor"]) - b["pos"])
    if not j["axes"]:
        return f'<joint type="ball" pos="{text(at)}"/>'
    parts = []
    for k, (axis, limit) in enumerate(zip(j["axes"], j["limits"], strict=True)):
        along = text(turned_back(b["quat"], axis))
        stops = f'range="{text(limit)}"' if limit else ""
        parts.append(f'<joint name="j{j["child"]}_{k}" pos="{text(at)}" axis="{along}" {stops}/>')
    return "".join(parts)


def element(s: Any, i: int, up: int) -> str:
    """A body and all that hangs on it."""
    b, ends = s["bodies"][i], {j["child"]: j for j in s["joints"]}
    at, q = np.array(b["pos"]), np.array(b["quat"])
    if up >= 0:
        parent = s["bodies"][up]
        back, turn = np.zeros(4), np.zeros(4)
        mujoco.mju_negQuat(back, np.array(parent["quat"]))
        mujoco.mju_mulQuat(turn, back, q)
        at, q = turned_back(parent["quat"], at - parent["pos"]), turn
    moves = joints_of(ends[i], b) if i in ends else "<freejoint/>"
    inertia = f'<inertial pos="0 0 0" mass="{b["mass"]!r}" diaginertia="{text(b["inertia"])}"/>'
    geoms = "".join(
        f'<geom type="{h["kind"]}" size="{text(h["size"])}" pos="{text(h["pos"])}" '
        f'quat="{text(h["quat"])}" contype="{int(s["plane"])}" conaffinity="0" mass="0" '
        f'friction="{s["mu"]!r} 0 0" condim="3"/>'
        for h in b["shapes"]
    )
    inner = "".join(element(s, j["child"], i) for j in s["joints"] if j["parent"] == i)
    pose = f'pos="{text(at)}" quat="{text(q)}"'
    return f'<body name="b{i}" {pose}>{moves}{inertia}{geoms}{inner}</body>'


def mjcf(s: Any, integrator: str) -> str:
    """The scene as a document."""
    ends = {j["child"]: j["parent"] for j in s["joints"]}
    roots = [i for i in range(len(s["bodies"])) if ends.get(i, -1) < 0]
    friction = f'friction="{s["mu"]!r} 0 0" condim="3"'
    plane = f'<geom type="plane" size="0 0 1" contype="0" conaffinity="1" {friction}/>'
    drives = "".join(
        f'<position joint="j{j["child"]}_0" kp="{j["kp"]!r}" kv="{j["kd"]!r}"/>'
        for j in s["joints"]
        if "kp" in j
    )
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false" autolimits="true"/>'
        f'<option timestep="{s["dt"]!r}" gravity="{text(s["gravity"])}" integrator="{integrator}"/>'
        f"<worldbody>{plane if s['plane'] else ''}"
        f"{''.join(element(s, i, -1) for i in roots)}</worldbody>"
        f"<actuator>{drives}</actuator></mujoco>"
    )


def start(model: Any, data: Any, s: Any) -> None:
    """Rates at the start: chains on balls turn, all else rests."""
    for j in s["joints"]:
        before = s["bodies"][j["parent"]]["angvel"] if j["parent"] >= 0 else np.zeros(3)
        b = s["bodies"][j["child"]]
        if not j["axes"]:
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"b{j['child']}")
            at = model.body_dofadr[body]
            data.qvel[at : at + 3] = turned_back(b["quat"], np.array(b["angvel"]) - before)
    mujoco.mj_forward(model, data)


def states_of(model: Any, data: Any, ids: list[int]) -> Any:
    """Poses and velocities of all bodies where the step has led."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    found, v = np.empty((len(ids), 13)), np.zeros(6)
    for r, b in enumerate(ids):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, b, v, 0)
        found[r] = [*data.xipos[b], *data.xquat[b], *v[3:], *v[:3]]
    return found


def main() -> None:
    """Run and write."""
    s = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out, integrator = Path(sys.argv[2]), sys.argv[3]
    model = mujoco.MjModel.from_xml_string(mjcf(s, integrator))
    data = mujoco.MjData(model)
    start(model, data, s)
    names = [f"b{i}" for i in range(len(s["bodies"]))]
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in names]
    times, states, contacts = [], [], []
    for _ in range(0, s["steps"], s["every"]):
        began = time.thread_time()
        mujoco.mj_step(model, data, s["every"])
        times.append(1e6 * (time.thread_time() - began) / s["every"])
        contacts.append(data.ncon)
        states.append(states_of(model, data, ids))
    np.array(times).tofile(out / "times.f64")
    np.array(states).tofile(out / "states.f64")
    np.array(contacts, float).tofile(out / "contacts.f64")
    (out / "about.txt").write_text(f"MuJoCo {mujoco.__version__}, float64, {integrator}\n")


if __name__ == "__main__":
    main()
