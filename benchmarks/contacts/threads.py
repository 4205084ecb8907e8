"""What threads gain in heaps: `python -m benchmarks.contacts.threads [THREADS]`.

Balls and boxes in a bin, with one thread and with as many as there are cores, in turn: wall time of
a step, least of several blocks. Results have the same bits, which is checked. What threads gain
depends on how fast one core sees what another one wrote, so the time of such a round trip is
printed too.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np

from benchmarks.contacts.ours import document
from benchmarks.contacts.scaling import grid, heap
from benchmarks.contacts.scenes import Scene, body, scene, walls
from cardan import engine
from cardan.engine.compiler.atomic import load_atomically, store_atomically
from cardan.engine.compiler.kernel import unlocked_kernel
from cardan.engine.interaction.threads import usable_cores
from cardan.schemas import load_scene

SETTLING, BLOCKS, BLOCK, ROUND_TRIPS = 200, 12, 8, 100_000
SIZE, SPACING = [0.06, 0.08, 0.1], 0.3


@unlocked_kernel
def answer(asked: Any, answered: Any, n: int) -> int:
    """Answer n words of another thread."""
    for i in range(n):
        while load_atomically(asked) <= i:
            pass
        store_atomically(answered, i + 1)
    return n


@unlocked_kernel
def ask(asked: Any, answered: Any, n: int) -> int:
    """Send n words to another thread, and wait for each answer."""
    for i in range(n):
        store_atomically(asked, i + 1)
        while load_atomically(answered) <= i:
            pass
    return n


def round_trip() -> float:
    """Time from one core to another one and back [ns]."""
    one, two = (np.zeros(24, np.int64)[8:16] for _ in range(2))
    ask(one, two, 0)
    answer(one, two, 0)
    other = threading.Thread(target=answer, args=(one, two, ROUND_TRIPS))
    other.start()
    began = time.perf_counter()
    ask(one, two, ROUND_TRIPS)
    seconds = time.perf_counter() - began
    other.join()
    return 1e9 * seconds / ROUND_TRIPS


def boxes(n: int) -> Scene:
    """Boxes in all orientations on a grid as wide as high, in a bin."""
    rng = np.random.default_rng(4)
    inner, places = grid(n, SPACING)
    found = []
    for at in places:
        q = rng.normal(size=4)
        found.append(body("box", SIZE, at, quat=list(q / np.linalg.norm(q))))
    return scene(f"boxes{n}", walls(inner, 2.0 * inner) + found, SETTLING, (0, 0))


def start(given: Scene, threads: int) -> engine.Simulation:
    """A heap that has settled, which so many threads share where that is faster."""
    whole = document(given)
    whole["simulation"]["threads"] = threads
    simulation = engine.Simulation(load_scene(whole))
    simulation.advance(SETTLING)
    return simulation


def compare(given: Scene, threads: int) -> tuple[float, float]:
    """Microseconds per step with one thread and with several."""
    both = [start(given, 1), start(given, threads)]
    least = [np.inf, np.inf]
    for _ in range(BLOCKS):
        for k, simulation in enumerate(both):
            began = time.perf_counter()
            simulation.advance(BLOCK)
            least[k] = min(least[k], 1e6 * (time.perf_counter() - began) / BLOCK)
    if both[0].state_hash() != both[1].state_hash():
        raise SystemExit("threads change the result")
    return least[0], least[1]


def main() -> None:
    """Print a table."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else usable_cores()
    engine.warmup()
    print(f"{threads} threads; from core to core and back: {round_trip():.0f} ns")
    for given in (heap(2000), heap(5000), boxes(1000), boxes(2000), boxes(4000)):
        one, several = compare(given, threads)
        print(f"{given['name']:>10}: {one:8.0f} us {several:8.0f} us   {one / several:.2f} times")


if __name__ == "__main__":
    main()
