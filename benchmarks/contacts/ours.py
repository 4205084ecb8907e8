"""This engine on a scene: `python -m benchmarks.contacts.ours SCENE.json OUT [SOLVER]`.

All settings are as they come. Leaves what every driver leaves, and phases.json: microseconds per
step of each phase, median over the window.
"""

import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.contacts.scenes import Floats, Scene
from cardan import engine
from cardan.schemas import load_scene


def document(scene: Scene, solver: str = "auto") -> dict[str, Any]:
    """The scene as this project writes it, with one of its solvers."""
    bodies: list[dict[str, Any]] = []
    if scene["plane"]:
        ground = {"type": "plane", "normal": [0, 0, 1], "offset": 0.0, "material": "all"}
        bodies.append({"name": "ground", "type": "static", "shapes": [ground]})
    for i, b in enumerate(scene["bodies"]):
        shape: dict[str, Any] = {"type": b["kind"], "material": "all"}
        if b["kind"] == "box":
            shape["size"] = [2.0 * x for x in b["size"]]
        else:
            shape["radius"] = b["size"][0]
        if b["kind"] == "capsule":
            shape["length"] = 2.0 * b["size"][1]
        one = {"name": f"b{i}", "position": b["pos"], "orientation": b["quat"], "shapes": [shape]}
        if b["fixed"]:
            one["type"] = "static"
        else:
            one |= {"mass": b["mass"], "inertia": b["inertia"]}
            one |= {"linear_velocity": b["vel"], "angular_velocity": b["angvel"]}
        bodies.append(one)
    simulation: dict[str, Any] = {"dt": scene["dt"]}
    simulation["duration"] = scene["dt"] * scene["steps"]
    simulation["solver"] = {"method": solver}
    return {
        "gravity": scene["gravity"],
        "materials": {"all": {"friction": scene["mu"], "restitution": 0.0}},
        "simulation": simulation,
        "bodies": bodies,
    }


def states_of(simulation: engine.Simulation, scene: Scene) -> Floats:
    """(moving bodies, 13): p, q, v, w."""
    first = 1 if scene["plane"] else 0
    moving = [first + i for i, b in enumerate(scene["bodies"]) if not b["fixed"]]
    both = np.concatenate([simulation.poses(), simulation.velocities()], axis=1)
    return both[moving]


def in_longer_steps(scene: Scene, k: Fraction) -> Scene:
    """The scene with one step for k of its steps; k divides how often states are looked at."""
    fewer = {name: int(scene[name] / k) for name in ("steps", "every")}
    begin, end = scene["window"]
    return scene | fewer | {"dt": float(k) * scene["dt"], "window": (int(begin / k), int(end / k))}


def timed(
    simulation: engine.Simulation, scene: Scene, states: Callable[[], Floats]
) -> dict[str, Any]:
    """Times [us per step], states and contacts every scene["every"] steps, phases in the window."""
    times, found, contacts, phases = [], [], [], []
    for _ in range(0, scene["steps"], scene["every"]):
        began = time.thread_time()
        simulation.advance(scene["every"])
        times.append(1e6 * (time.thread_time() - began) / scene["every"])
        report = simulation.solver_report()
        contacts.append(float(report["contacts"]))
        phases.append(report["phases"])
        found.append(states())
    begin, end = (edge // scene["every"] for edge in scene["window"])
    inside = phases[begin:end] or phases
    return {
        "times": np.array(times),
        "states": np.array(found),
        "contacts": np.array(contacts),
        "phases": {name: median(one[name] for one in inside) for name in inside[0]},
    }


def run(scene: Scene, solver: str = "auto") -> dict[str, Any]:
    """Time a scene as `timed` does, with the states of all bodies that move."""
    simulation = engine.Simulation(load_scene(document(scene, solver)))
    return timed(simulation, scene, lambda: states_of(simulation, scene))


def pour(scene: Scene) -> Floats:
    """The last state of a run."""
    print(f"pouring {scene['name']} once", flush=True)
    found: Floats = run(scene)["states"][-1]
    return found


def leave(found: dict[str, Any], out: Path, about: str) -> None:
    """Write what `timed` returned, as every driver does."""
    for name in ("times", "states", "contacts"):
        found[name].tofile(out / f"{name}.f64")
    (out / "phases.json").write_text(json.dumps(found["phases"]), encoding="utf-8")
    (out / "about.txt").write_text(f"{about}\n", encoding="utf-8")


def drive(run: Callable[..., dict[str, Any]]) -> None:
    """Run the scene of the command line and leave the results in its folder.

    run: from a scene, and further arguments as strings, to what `timed` returns.
    """
    scene = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    engine.warmup()
    leave(run(scene, *sys.argv[3:]), Path(sys.argv[2]), "Cardan, float64")


if __name__ == "__main__":
    drive(run)
