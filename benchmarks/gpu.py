"""Worlds on a GPU, one in each thread, beside the lanes of one core of the processor.

`python -m benchmarks.gpu [steps] [scene ...]`; the scenes are those of benchmarks.rollout. It
prints nanoseconds per step of a world, and whether worlds have the same bits on both. Times of the
card are those of the kernel, from start to end of all worlds, and of the whole call (validation,
copies and metrics, without the first compilation); of the lanes, of the whole call.
"""

import sys
import time
from typing import Any

import numpy as np

from benchmarks.articulated.scenes import Scene
from benchmarks.machine import describe
from benchmarks.rollout import plain, worlds
from cardan.engine import Simulation, StateRollout, rollout_states
from cardan.engine.compiler.cuda import Card
from cardan.schemas import load_scene

COUNTS = (1_000, 10_000, 100_000)
FEW = 256  # worlds of the processor
REPEATS = 3

kernel_seconds = [0.0]


class Timed(Card):
    """A card that notes how long a kernel takes."""

    def run(self, kernel: Any, threads: int, arguments: tuple[Any, ...]) -> None:
        """Launch as a card does, and add up the time."""
        began = time.perf_counter()
        super().run(kernel, threads, arguments)
        kernel_seconds[0] += time.perf_counter() - began


def states_of(one: Scene, steps: int, count: int) -> tuple[dict[str, Any], Any, Any]:
    """The scene, and as many states near its start."""
    scene = plain(one, steps)
    start = Simulation(load_scene(scene)).joint_state()
    qd = np.tile(start.qd, (count, 1))
    return scene, start.q, qd + 0.01 * np.random.default_rng(1).standard_normal(qd.shape)


def timed(scene: dict[str, Any], q: Any, qd: Any, device: Any) -> tuple[StateRollout, float, float]:
    """What is found; seconds of the call and of the kernel on the card, least of some repeats."""
    found, whole, inner = None, np.inf, np.inf
    for _ in range(REPEATS):
        kernel_seconds[0] = 0.0
        began = time.perf_counter()
        found = rollout_states(scene, q, qd, device=device)
        whole = min(whole, time.perf_counter() - began)
        inner = min(inner, kernel_seconds[0])
    assert found is not None
    return found, whole, inner


def same_bits(one: StateRollout, other: StateRollout) -> bool:
    """Whether the first worlds of both have the same states and metrics at their ends."""
    return all(
        np.array_equal(a[:FEW], b[:FEW])
        for a, b in (
            (one.q, other.q),
            (one.qd, other.qd),
            *((one.metrics[name], other.metrics[name]) for name in one.metrics),
        )
    )


def main() -> None:
    """Print one line for each scene and number of worlds. Raises NoDeviceError."""
    from cardan.engine.runs import states

    states.Card = Timed  # type: ignore[misc]
    steps = int(sys.argv[1]) if sys.argv[1:] else 200
    print(f"{describe()}; {Card().name}")
    print(f"{steps} steps; nanoseconds per step of a world")
    print(f"{'':16}{'worlds':>8}{'kernel':>10}{'call':>10}{'lanes':>10}{'kernel: times':>15}")
    for name, one in worlds().items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        scene, q, qd = states_of(one, steps, max(COUNTS))
        rollout_states(scene, q, qd[:1])
        began = time.perf_counter()
        rollout_states(scene, q, qd[:1], device="gpu")
        print(f"{name:16}{'first':>8}{time.perf_counter() - began:20.2f} s", flush=True)
        lanes, spent, _ = timed(scene, q, qd[:FEW], "cpu")
        on_one_core = 1e9 * spent / FEW / steps
        for count in COUNTS:
            found, whole, inner = timed(scene, q, qd[:count], "gpu")
            call, kernel = 1e9 * whole / count / steps, 1e9 * inner / count / steps
            same = "same bits" if same_bits(found, lanes) else "OTHER BITS"
            print(
                f"{name:16}{count:8}{kernel:10.2f}{call:10.2f}{on_one_core:10.1f}"
                f"{on_one_core / kernel:15.0f}   {same}, {found.in_lanes} on the card",
                flush=True,
            )


if __name__ == "__main__":
    main()
