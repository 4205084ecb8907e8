"""Microseconds per step of every example: warm, one thread, whole scenes, the middle of some runs.

`python -m benchmarks.scenes` prints one JSON object; the benchmark calls it with all libraries
held to one thread. Both clocks are kept: on a busy machine the wall clock counts the neighbours'
work too, the thread's own time on the processor does not.
"""

import json
import subprocess
import sys
import time
from statistics import median
from typing import Any

from benchmarks.machine import single_threaded
from cardan import engine
from cardan.schemas import Scene, load_scene
from cardan.schemas.examples import example_names, example_text

REPEATS = 5
CHUNK = 50
LIMIT_S = 20.0


def measure() -> dict[str, Any]:
    """Name -> figures, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scenes"],
        env=single_threaded(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def time_scene(scene: Scene) -> dict[str, Any]:
    """One scene: its size, the times of its repetitions, and where the time goes."""
    runs = [_run(scene) for _ in range(REPEATS)]
    wall = median(run["wall_us"] for run in runs)
    own = sorted(run["own_us"] for run in runs)
    first = runs[0]
    return {
        "bodies": first["bodies"],
        "joints": first["joints"],
        "dt": scene.simulation.dt,
        "steps": first["steps"],
        "contacts_mean": round(first["contacts_mean"], 1),
        "per_step_us": round(median(own), 2),
        "fastest_us": round(own[0], 2),
        "slowest_us": round(own[-1], 2),
        "wall_us": round(wall, 2),
        "real_time_factor": round(1e6 * scene.simulation.dt / wall, 1),
        "phases_us": first["phases_us"],
    }


def _run(scene: Scene) -> dict[str, Any]:
    simulation = engine.Simulation(scene)
    phases: dict[str, float] = {}
    seconds, own, steps, contacts, chunks = 0.0, 0.0, 0, 0, 0
    while steps < simulation.total_steps and seconds < LIMIT_S:
        began, began_own = time.perf_counter(), time.thread_time()
        done = simulation.advance(min(CHUNK, simulation.total_steps - steps))
        own += time.thread_time() - began_own
        seconds += time.perf_counter() - began
        steps += done
        if simulation.failure is not None:
            raise RuntimeError(f"{scene.name}: {simulation.failure}")
        report = simulation.solver_report()
        contacts, chunks = contacts + report["contacts"], chunks + 1
        for name, microseconds in report["phases"].items():
            phases[name] = phases.get(name, 0.0) + microseconds * done
    return {
        "bodies": len(simulation.body_names),
        "joints": len(simulation.joint_names),
        "steps": steps,
        "wall_us": 1e6 * seconds / steps,
        "own_us": 1e6 * own / steps,
        "contacts_mean": contacts / chunks,
        "phases_us": {name: round(total / steps, 2) for name, total in phases.items()},
    }


def main() -> None:
    """Time every example and print the result."""
    engine.warmup()
    found = {}
    for name in example_names():
        scene = load_scene(example_text(name))
        engine.Simulation(scene).advance(2 * CHUNK)
        found[name] = time_scene(scene)
        print(f"  {name}: {found[name]['per_step_us']} us per step", file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
