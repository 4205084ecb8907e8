"""Worlds side by side: from arrays of states, as variants, one by one, and MuJoCo's own rollouts.

`python -m benchmarks.rollout [worlds] [steps] [scene ...]`; one thread each. It prints microseconds
of processor time per step of a world and asserts nothing. In the first scenes nothing touches
anything: robots fall or hang, and an arm with shapes moves over a floor. In the last ones robots
fall on a floor, which lanes cannot do; one has a target for every motor and step. Of ours all is
counted: validation and building, once for arrays of states, and validation, building and summary of
every variant. `states` and MuJoCo (semi-implicit Euler, float64) return the state after every step;
MuJoCo nothing else, `states` the energies and their largest drift, too.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.articulated.ours import document
from benchmarks.articulated.scenes import SCENES, Scene, Y, Z, body, chain, joint, scene, shape
from benchmarks.contacts.peers import has_module, python
from benchmarks.machine import describe
from cardan.engine import Simulation, rollout, rollout_states
from cardan.schemas import load_scene

DRIVER = Path(__file__).parent / "articulated" / "drivers" / "mujoco_rollout.py"
REPEATS = 3
# of targets about the pose of the scene [rad]
NOISE = 0.05

Array = NDArray[np.float64]


def arm(height: float) -> Scene:
    """Seven driven hinges, every second one about the vertical."""
    bodies, joints = [], []
    for i in range(7):
        link = shape("capsule", [0.04, 0.06], quat=[0.5**0.5, 0.0, 0.5**0.5, 0.0])
        bodies.append(body([link], [(i + 0.5) * 0.2, 0.0, height]))
        turn = joint(i - 1, i, [0.2 * i, 0.0, height], [Z if i % 2 == 0 else Y], [None])
        joints.append(turn | {"kp": 100.0, "kd": 2.0})
    return scene("arm7", bodies, joints, 1000)


def worlds() -> dict[str, Scene]:
    """The scenes; one has shapes and a floor."""
    found = {"double pendulum": chain("hinge", 2), "hinge10": SCENES["hinge10"](), "arm7": arm(0.0)}
    found |= {name: SCENES[name]() for name in ("humanoid", "quadruped")}
    found = {name: one | {"plane": False} for name, one in found.items()}
    found |= {"arm7 over floor": arm(2.0) | {"plane": True}}
    on_floor = {name: SCENES[name]() | {"plane": True} for name in ("humanoid", "quadruped")}
    found |= {f"{name} on floor": one for name, one in on_floor.items()}
    return found | {"quadruped driven": on_floor["quadruped"] | {"noise": NOISE}}


def controls_of(one: Scene, runs: int, steps: int) -> Array | None:
    """Targets of all motors for every step of a scene that has noise."""
    if "noise" not in one:
        return None
    motors = sum("kp" in k for k in one["joints"])
    return one["noise"] * np.random.default_rng(0).standard_normal((runs, steps, motors))


def plain(one: Scene, steps: int) -> dict[str, Any]:
    """Our document of a scene, for so many steps."""
    found: dict[str, Any] = document(one)
    found["simulation"]["duration"] = steps * one["dt"]
    return found


def from_states(one: Scene, runs: int, steps: int) -> tuple[float, int]:
    """Seconds of all worlds from arrays of states, and how many were in lanes."""
    scene = plain(one, steps)
    start = Simulation(load_scene(scene)).joint_state()
    q, qd = np.tile(start.q, (runs, 1)), np.tile(start.qd, (runs, 1))
    qd[:, -1] += 0.01 * np.arange(runs)
    controls = controls_of(one, runs, steps)
    began = time.thread_time()
    found = rollout_states(scene, q, qd, controls, every=1)
    return time.thread_time() - began, found.in_lanes


def as_variants(one: Scene, runs: int, steps: int, together: bool) -> tuple[float, int]:
    """Seconds of all runs as variants of a scene, and how many were in lanes."""
    scene = plain(one, steps)
    last = len(one["bodies"]) - 1
    i = next(k for k, b in enumerate(scene["bodies"]) if b["name"] == f"b{last}")
    x, y, z = one["bodies"][last]["angvel"]
    variations = [{f"/bodies/{i}/angular_velocity": [x, y, z + 0.01 * k]} for k in range(runs)]
    parts = [variations] if together else [[single] for single in variations]
    began = time.thread_time()
    found = [rollout(scene, part, ("energy.final",)) for part in parts]
    spent = time.thread_time() - began
    return spent, sum(part.in_lanes for part in found)


def mujoco(one: Scene, runs: int, steps: int) -> str | None:
    """What the driver prints; None without MuJoCo."""
    if not has_module("mujoco"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps(one), encoding="utf-8")
        command = [python(), str(DRIVER), str(path), str(runs), str(steps), str(REPEATS)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def least(run: Callable[[], tuple[float, int]], steps: int) -> tuple[float, int]:
    """Microseconds per step of a world, least of some repeats, and how many were in lanes."""
    found = [run() for _ in range(REPEATS)]
    return min(1e6 * spent / steps for spent, _ in found), found[0][1]


def main() -> None:
    """Print one line per scene."""
    given = [int(text) for text in sys.argv[1:3]]
    runs, steps = given + [256, 1000][len(given) :]
    print(describe())
    print(f"{runs} worlds of {steps} steps; microseconds per step of a world, one thread")
    print(f"{'':18}{'states':>10}{'variants':>10}{'one by one':>12}{'MuJoCo':>10}")
    for name, one in worlds().items():
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        from_states(one, 1, 10)
        few = max(runs // 8, 2)
        states, count = least(partial(from_states, one, runs, steps), runs * steps)
        text = f"{name:18}{states:10.2f}"
        if "noise" in one:
            # variants follow the scene
            text += f"{'-':>10}{'-':>12}"
        else:
            variants, _ = least(partial(as_variants, one, few, steps, True), few * steps)
            single, _ = least(partial(as_variants, one, 2, steps, False), 2 * steps)
            text += f"{variants:10.2f}{single:12.2f}"
        peer = mujoco(one, runs, steps)
        if peer is not None:
            theirs = float(peer.split()[0])
            text += f"{theirs:10.2f}   MuJoCo/states {theirs / states:.2f}"
        print(f"{text}   {count} of {runs} in lanes", flush=True)


if __name__ == "__main__":
    main()
