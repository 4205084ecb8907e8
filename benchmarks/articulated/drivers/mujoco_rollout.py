"""MuJoCo's own rollouts: mujoco_rollout.py SCENE.json RUNS STEPS REPEATS; one thread.

Prints the least time of the repeats [us per step of a world], and MuJoCo's version.
"""

import json
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout
from mujoco_driver import mjcf, start


def main() -> None:
    """Roll out worlds that differ in the last initial velocity, with random controls if any."""
    s = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    runs, steps, repeats = map(int, sys.argv[2:])
    model = mujoco.MjModel.from_xml_string(mjcf(s, "Euler"))
    data = mujoco.MjData(model)
    start(model, data, s)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((runs, mujoco.mj_stateSize(model, full)))
    for k in range(runs):
        data.qvel[-1] = 0.01 * k
        mujoco.mj_getState(model, data, states[k], full)
    control = None
    if "noise" in s:
        control = s["noise"] * np.random.default_rng(0).standard_normal((runs, steps, model.nu))
    best = np.inf
    for _ in range(repeats):
        began = time.thread_time()
        rollout.rollout(model, data, states, control, nstep=steps)
        best = min(best, time.thread_time() - began)
    print(1e6 * best / (runs * steps), mujoco.__version__)


if __name__ == "__main__":
    main()
