"""MuJoCo on a scene: mujoco_driver.py SCENE.json OUT SOLVER."""

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


def mjcf(s: Any, solver: str) -> str:
    """The scene as a document: moving bodies are free, others are shapes of the world."""
    friction = f'friction="{s["mu"]!r} 0 0" condim="3"'
    parts = [f'<geom type="plane" size="0 0 1" {friction}/>'] if s["plane"] else []
    for b in s["bodies"]:
        pose = f'pos="{text(b["pos"])}" quat="{text(b["quat"])}"'
        geom = f'type="{b["kind"]}" size="{text(b["size"])}" {friction}'
        if b["fixed"]:
            parts.append(f"<geom {geom} {pose}/>")
        else:
            inertia = f'mass="{b["mass"]!r}" diaginertia="{text(b["inertia"])}"'
            parts.append(
                f'<body {pose}><freejoint/><inertial pos="0 0 0" {inertia}/><geom {geom}/></body>'
            )
    return (
        f'<mujoco><option timestep="{s["dt"]!r}" gravity="{text(s["gravity"])}" solver="{solver}"/>'
        f'<size memory="2G"/><worldbody>{"".join(parts)}</worldbody></mujoco>'
    )


def main() -> None:
    """Run and write."""
    s = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out, solver = Path(sys.argv[2]), sys.argv[3]
    model = mujoco.MjModel.from_xml_string(mjcf(s, solver))
    data = mujoco.MjData(model)
    moving = [b for b in s["bodies"] if not b["fixed"]]
    for i, b in enumerate(moving):
        w = np.zeros(3)
        inverse = np.zeros(4)
        mujoco.mju_negQuat(inverse, np.array(b["quat"]))
        mujoco.mju_rotVecQuat(w, np.array(b["angvel"]), inverse)
        data.qvel[6 * i : 6 * i + 3], data.qvel[6 * i + 3 : 6 * i + 6] = b["vel"], w
    times, states, contacts = [], [], []
    for _ in range(0, s["steps"], s["every"]):
        began = time.thread_time()
        mujoco.mj_step(model, data, s["every"])
        times.append(1e6 * (time.thread_time() - began) / s["every"])
        contacts.append(data.ncon)
        for i in range(len(moving)):
            q, v = data.qpos[7 * i : 7 * i + 7], data.qvel[6 * i : 6 * i + 6]
            w = np.zeros(3)
            mujoco.mju_rotVecQuat(w, v[3:], q[3:])
            states.append(np.concatenate([q, v[:3], w]))
    np.array(times).tofile(out / "times.f64")
    np.array(states).tofile(out / "states.f64")
    np.array(contacts, float).tofile(out / "contacts.f64")
    (out / "about.txt").write_text(f"MuJoCo {mujoco.__version__}, float64, {solver}\n")


main()
