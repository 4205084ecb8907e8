"""The same scene in another engine, where one is installed (extra `bench`): MuJoCo.

The model is written from the example's own document: same masses, inertias, shapes, step; one
thread, sleeping off. It compares the price of a step, not its truth: the methods differ.
"""

import time
from importlib import import_module, util
from statistics import median
from typing import Any

from benchmarks.mjcf import to_mjcf
from cardan.schemas import load_scene
from cardan.schemas.examples import example_text
from cardan.schemas.scene import Scene

REPEATS = 5
LIMIT_S = 10.0
SCENES = ("pile", "box-tower", "double-pendulum")


def measure() -> list[dict[str, Any]]:
    """One entry per scene; empty when no peer is installed."""
    if util.find_spec("mujoco") is None:
        print("peers: none installed (pip install '.[bench]' brings MuJoCo)", flush=True)
        return []
    mujoco = import_module("mujoco")
    found = []
    for name in SCENES:
        scene = load_scene(example_text(name))
        model = mujoco.MjModel.from_xml_string(to_mjcf(scene))
        times = sorted(_run(mujoco, model, scene) for _ in range(REPEATS))
        found.append(
            {
                "scene": name,
                "peer": f"MuJoCo {mujoco.__version__}",
                "per_step_us": round(median(times), 2),
            }
        )
    return found


def _run(mujoco: Any, model: Any, scene: Scene) -> float:
    data = mujoco.MjData(model)
    total = round(scene.simulation.duration / scene.simulation.dt)
    seconds, steps = 0.0, 0
    while steps < total and seconds < LIMIT_S:
        n = min(50, total - steps)
        began = time.thread_time()
        mujoco.mj_step(model, data, n)
        seconds += time.thread_time() - began
        steps += n
    return 1e6 * seconds / steps
