"""Time per step and memory against the number of bodies: `python -m benchmarks.contacts.scaling`.

Spheres poured into a bin that is about as wide as the heap is high, from ten to twenty thousand,
each number in a process of its own, all settings as they come. Prints a table and keeps it in
results/scaling.json and scaling.md. With a number: that heap alone, as one JSON object.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.contacts.ours import document
from benchmarks.contacts.scenes import Floats, Scene, body, scene, walls
from benchmarks.pages import row
from cardan import engine
from cardan.schemas import load_scene

# walls and ground among them a scene may have 20 000 bodies
NUMBERS = (10, 30, 100, 300, 1000, 2000, 5000, 10_000, 19_995)
# heaps from this size on are to cost time ~ bodies
LARGE = 1000
RADIUS, SPACING = 0.1, 0.205
# until then the spheres fall and settle; then what is timed, the least of several runs
SETTLING, TIMED, RUNS = 60, 10, 3
FOLDER = Path(__file__).parents[1] / "results"


def grid(n: int, spacing: float) -> tuple[float, list[Floats]]:
    """Places of n bodies on a grid as wide as high, and the width of its bin."""
    side = max(2, round(n ** (1.0 / 3.0)))
    places = []
    for i in range(n):
        k, ij = divmod(i, side * side)
        a, b = divmod(ij, side)
        places.append(np.array([a - (side - 1) / 2, b - (side - 1) / 2, k + 0.52]) * spacing)
    return side * spacing + 0.01, places


def heap(n: int) -> Scene:
    """Spheres on a grid as wide as high, in a bin."""
    rng = np.random.default_rng(4)
    inner, places = grid(n, SPACING)
    balls = [body("sphere", [RADIUS], at + rng.uniform(-2e-3, 2e-3, 3)) for at in places]
    return scene(f"heap{n}", walls(inner, 2.0 * inner) + balls, SETTLING + RUNS * TIMED, (0, 0))


def bytes_of(arrays: Any, seen: set[int]) -> int:
    """Bytes of all arrays in nested tuples, each counted once."""
    if isinstance(arrays, np.ndarray):
        new = id(arrays) not in seen
        seen.add(id(arrays))
        return arrays.nbytes if new else 0
    return sum(bytes_of(one, seen) for one in arrays) if isinstance(arrays, tuple) else 0


def measure(n: int) -> dict[str, Any]:
    """One heap: microseconds per step, contacts, bytes."""
    engine.warmup()
    loaded = load_scene(document(heap(n)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    simulation = engine.Simulation(loaded)
    simulation.advance(SETTLING)
    times = []
    for _ in range(RUNS):
        began = time.thread_time()
        simulation.advance(TIMED)
        times.append(1e6 * (time.thread_time() - began) / TIMED)
    seen: set[int] = set()
    held = (simulation.model, simulation.state, simulation.work, simulation.collision)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    report = simulation.solver_report()
    return {
        "bodies": n,
        "us": min(times),
        "contacts": int(report["contacts"]),
        "array_bytes": sum(bytes_of(one, seen) for one in held),
        "resident_bytes": 1024 * grown,
        "phases": report["phases"],
    }


def slope(found: list[dict[str, Any]]) -> float:
    """Slope of log time over log bodies, from LARGE bodies on, by least squares."""
    large = [one for one in found if one["bodies"] >= LARGE]
    x = np.log([one["bodies"] for one in large])
    y = np.log([one["us"] for one in large])
    return float(np.polyfit(x, y, 1)[0])


def markdown(found: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The table and what it says."""
    head = ("bodies", "contacts", "µs/step", "µs per body", "ns per contact", "kB per body")
    lines = [row(head), row(("---",) * len(head))]
    for one in found:
        n, contacts = one["bodies"], max(one["contacts"], 1)
        kilobytes = one["array_bytes"] / n / 1e3
        cells = (f"{n}", f"{one['contacts']}", f"{one['us']:.4g}", f"{one['us'] / n:.3g}")
        lines.append(row((*cells, f"{1e3 * one['us'] / contacts:.4g}", f"{kilobytes:.3g}")))
    return (
        f"One run of `python -m benchmarks.contacts.scaling` on {about['processor']}, "
        f"{about['cores']} cores (load before: {about['load_before']}), engine at "
        f"`{about['commit']}`: spheres in a bin, {SETTLING} steps after they were let go, single "
        "thread, time on the processor, all settings as they come.\n\n"
        + "\n".join(lines)
        + f"\n\nTime grows as bodies to the power {slope(found):.2f} from {LARGE} bodies on. "
        "Memory is that of all arrays of a simulation; room for contacts grows as they are found.\n"
    )


def main() -> None:
    """Measure all sizes, print, keep; or one."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    about, found = machine.describe(), []
    for n in NUMBERS:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.contacts.scaling", str(n)],
            env=machine.single_threaded(),
            check=True,
            capture_output=True,
            text=True,
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{n} bodies: {found[-1]['us']:.4g} µs per step", flush=True)
    kept = {"machine": about, "slope": slope(found), "heaps": found}
    (FOLDER / "scaling.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (FOLDER / "scaling.md").write_text(markdown(found, about), encoding="utf-8")
    print(markdown(found, about))


if __name__ == "__main__":
    main()
