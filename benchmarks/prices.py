"""What being exact costs: the same motion by the exact way and by the plain one, one thread.

`python -m benchmarks.prices` prints one JSON object.
"""

import json
import subprocess
import sys
import time
from typing import Any

from benchmarks.machine import single_threaded
from cardan import engine
from cardan.schemas import load_scene

REPEATS = 15


def measure() -> list[dict[str, Any]]:
    """One entry per comparison, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.prices"],
        env=single_threaded(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def free_body(gyroscopic: str) -> dict[str, Any]:
    """A body that turns slowly enough for both ways."""
    body = {"name": "box", "mass": 2.0, "inertia": [0.3, 0.5, 0.7]}
    body["angular_velocity"] = [0.002, 0.06, 0.001]
    simulation = {"dt": 1 / 240, "duration": 1e3, "gyroscopic": gyroscopic}
    return {"gravity": [0, 0, 0], "simulation": simulation, "bodies": [body]}


def hanging_chain(stabilisation: str) -> dict[str, Any]:
    """A hundred rods on ball joints, released from the horizontal."""
    rod = {"mass": 1.0, "inertia": [0.001, 0.01, 0.01]}
    names = [f"link-{k}" for k in range(100)]
    bodies = [{"name": name, "position": [k + 0.5, 0, 0], **rod} for k, name in enumerate(names)]
    joints = [
        {"name": f"j{k}", "type": "ball", "parent": a, "child": b, "anchor": [k, 0, 0]}
        for k, (a, b) in enumerate(zip(["world", *names], names, strict=False))
    ]
    simulation = {"dt": 1e-3, "duration": 10, "stabilisation": stabilisation}
    return {"simulation": simulation, "bodies": bodies, "joints": joints}


def compared(what: str, asked: float, ways: tuple[dict[str, Any], dict[str, Any]], n: int) -> Any:
    """Least microseconds per step of both ways, in turns, and their ratio."""
    pair = [engine.Simulation(load_scene(scene)) for scene in ways]
    least = [1e9, 1e9]
    for _ in range(REPEATS):
        for k, simulation in enumerate(pair):
            began = time.thread_time()
            simulation.advance(n)
            least[k] = min(least[k], 1e6 * (time.thread_time() - began) / n)
    plain, exact = least
    return {
        "what": what,
        "asked": asked,
        "plain_us": round(plain, 3),
        "exact_us": round(exact, 3),
        "ratio": round(exact / plain, 2),
    }


def main() -> None:
    """Compare and print."""
    engine.warmup()
    flights = free_body("explicit"), free_body("implicit")
    chains = hanging_chain("baumgarte"), hanging_chain("projection")
    found = [
        compared(
            "a free body that keeps energy and momentum, against Euler's step", 2, flights, 2000
        ),
        compared("100 links on balls, projection against none", 1.3, chains, 100),
    ]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
