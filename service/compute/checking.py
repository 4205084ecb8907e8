"""In a worker process: what only the engine finds wrong with a scene, and what a step costs."""

import json
import time
from typing import Any

from cardan.schemas import Limits, SceneInvalid, apply_overrides, load_scene
from cardan.service.compute import messages as m


def check(order: m.CheckOrder, limits: Limits) -> m.Checked:
    """Build the engine of a scene and report what it refuses."""
    from cardan import engine

    try:
        scene = load_scene(apply_overrides(json.loads(order.document), order.overrides), limits)
        simulation = engine.Simulation(scene)
    except SceneInvalid as error:
        return m.Checked([fault.model_dump() for fault in error.errors])
    except engine.SceneError as error:
        return m.Checked([fault.model_dump() for fault in error.errors])
    except MemoryError:
        fault = {
            "pointer": "",
            "code": "too_large",
            "message": "The scene needs more memory than a worker may use.",
            "got": None,
            "hint": "Use fewer bodies or coarser shapes.",
        }
        return m.Checked([fault])
    return m.Checked(
        seconds_per_step=_seconds_per_step(simulation, order.probe_s),
        total_steps=simulation.total_steps,
    )


def _seconds_per_step(simulation: Any, probe_s: float) -> float | None:
    """Cost of the first steps, measured for about `probe_s`; a pile costs more when it touches."""
    if probe_s <= 0.0:
        return None
    begin = time.perf_counter()
    steps, chunk = 0, 1
    while True:
        done = simulation.advance(min(chunk, simulation.total_steps - steps))
        steps += done
        elapsed = time.perf_counter() - begin
        if done == 0 or elapsed > probe_s or steps >= simulation.total_steps:
            return float(elapsed / max(steps, 1))
        chunk *= 2
