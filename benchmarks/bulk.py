"""Bulk runs: what a short run costs beyond its physics, alone, in a rollout and in a batch.

`python -m benchmarks.bulk [runs]`; it prints one line per figure and asserts nothing. Times of one
run are processor times, which other work on the machine disturbs little; rates are by the clock.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np

from benchmarks.machine import describe, parent_and_time
from benchmarks.server import serving
from cardan import engine
from cardan.engine import Recording, Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document

STEPS = 1000
REPEATS = 30
POINTER = "/bodies/1/mass"


def scene_of(every: int) -> dict[str, Any]:
    """The double pendulum for one second."""
    document = example_document("double-pendulum")
    document["simulation"]["duration"] = STEPS * document["simulation"]["dt"]
    document["record"] = {"every": every}
    return document


def median_ms(action: Callable[[], object]) -> float:
    """Median time of a call [ms]."""
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        action()
        taken.append(1e3 * (time.process_time() - began))
    return statistics.median(taken)


def bare_ms() -> float:
    """Steps alone: one call of `advance` [ms]."""
    scene = load_scene(scene_of(STEPS))
    taken = []
    for _ in range(REPEATS):
        simulation = Simulation(scene)
        began = time.process_time()
        simulation.advance(STEPS)
        taken.append(1e3 * (time.process_time() - began))
    return statistics.median(taken)


def recorded_ms() -> float:
    """The same steps, each of them recorded [ms]."""
    scene = load_scene(scene_of(1))
    taken = []
    for _ in range(REPEATS):
        simulation = Simulation(scene)
        recording = Recording(simulation, np.arange(1, STEPS + 1))
        began = time.process_time()
        recording.observe()
        simulation.advance(STEPS)
        taken.append(1e3 * (time.process_time() - began))
    return statistics.median(taken)


def alone(bare: float) -> None:
    """One run in a process, step by step of what it consists of."""
    document = scene_of(1)
    scene = load_scene(document)
    show("steps alone", bare, "ms")
    show("validate the scene", median_ms(lambda: load_scene(document)), "ms")
    show("build the simulation", median_ms(lambda: Simulation(scene)), "ms")
    simulation = Simulation(scene)
    show("prepare the recording", median_ms(lambda: Recording(simulation)), "ms")
    show("summary", median_ms(simulation.summary), "ms")
    kept = recorded_ms()
    show("steps, each recorded", kept, "ms", kept / bare)
    whole = median_ms(lambda: engine.run(scene))
    show("run with every step recorded", whole, "ms", whole / bare)
    sparse = load_scene(scene_of(STEPS))
    show("run with two frames", median_ms(lambda: engine.run(sparse)), "ms")
    recording, _ = engine.run(scene)
    show("tables of every step", median_ms(recording.tables), "ms")


def rolled(runs: int, bare: float) -> None:
    """Variants in one process."""
    masses = [0.5 + k / runs for k in range(runs)]
    began = time.process_time()
    found = engine.rollout(scene_of(STEPS), {POINTER: masses})
    each = 1e3 * (time.process_time() - began) / runs
    show(f"rollout of {runs}, each run ({found.builds} built)", each, "ms", each / bare)
    show("beyond the steps", 1e3 * (each - bare), "us")


def processor_s(pid: int) -> float:
    """Processor time of a process and all its descendants [s]."""
    parents, used = {}, {}
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        try:
            parents[int(entry)], used[int(entry)] = parent_and_time(int(entry))
        except OSError:
            continue

    def belongs(one: int) -> bool:
        return one == pid or (one in parents and belongs(parents[one]))

    return sum(seconds for one, seconds in used.items() if belongs(one))


def wait_for_end(client: httpx.Client, where: str) -> dict[str, Any]:
    """Wait until a batch has ended; looking at it every moment would be measured as well."""
    while True:
        info: dict[str, Any] = client.get(where, headers={"Prefer": "wait=30"}).json()
        if info["finished_at"] is not None:
            return info


def post(client: httpx.Client, runs: int, name: str) -> tuple[dict[str, Any], float]:
    """Create a batch; its object and the time that took [s]."""
    body: dict[str, Any] = {
        "scene": scene_of(STEPS),
        "variations": {POINTER: [0.5 + k / runs for k in range(runs)]},
        "record": "metrics",
        "name": name,
    }
    began = time.perf_counter()
    answer = client.post("/v1/batches", json=body)
    answer.raise_for_status()
    return answer.json(), time.perf_counter() - began


def served(runs: int, bare: float) -> None:
    """A batch on a real server."""
    with serving() as server, httpx.Client(base_url=server.http, timeout=120.0) as client:
        first, _ = post(client, 4, "first")
        wait_for_end(client, first["links"]["self"])
        before = processor_s(server.pid)
        info, created = post(client, runs, "bulk")
        began = time.perf_counter()
        ended = wait_for_end(client, info["links"]["self"])
        taken = time.perf_counter() - began + created
        rate = runs / taken
        workers = client.get("/v1/limits").json()["parallel_runs"]
        cores = len(os.sched_getaffinity(0))
        show(f"batch of {runs}: create", created, "s")
        show(f"batch of {runs}: {ended['status']}, {workers} workers", rate, "runs/s")
        each = 1e3 * (processor_s(server.pid) - before) / runs
        show("processor time of a run, all processes", each, "ms", each / bare)
        show("beyond the steps", 1e3 * (each - bare), "us")
        show("share of what bare steps on all cores do", rate * 1e-3 * bare / cores, "-")
        began = time.perf_counter()
        client.get(info["links"]["results"], params={"format": "csv"}).raise_for_status()
        show("table of results as CSV", time.perf_counter() - began, "s")
        info, _ = post(client, runs, "cancelled")
        began = time.perf_counter()
        client.post(info["links"]["self"] + ":cancel").raise_for_status()
        show(f"cancel a batch of {runs}", time.perf_counter() - began, "s")


def show(what: str, value: float, unit: str, ratio: float | None = None) -> None:
    """Print one figure."""
    beside = "" if ratio is None else f"   {ratio:.2f} x the steps"
    print(f"{what:54s} {value:12.3f} {unit}{beside}", flush=True)


def main() -> None:
    """Print every figure."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    machine = describe()
    print(f"{machine['processor']}, {machine['cores']} cores, {machine['commit']}")
    engine.warmup()
    bare = bare_ms()
    alone(bare)
    rolled(min(runs, 1000), bare)
    served(runs, bare)


if __name__ == "__main__":
    main()
