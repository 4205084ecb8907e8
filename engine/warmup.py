"""Compile or load every kernel a simulation may call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from schemas import load_scene

Progress = Callable[[int, int, str], None]

# parts of the step in the order they are compiled; `step` then finds them in the cache
STAGES = ("bodies", "collision", "constraints", "solvers", "step", "diagnostics")


def tiny_scene() -> dict[str, Any]:
    """One body on one hinge, above a plane."""
    return {
        "simulation": {"dt": 0.001, "duration": 0.01},
        "bodies": [
            {
                "name": "ground",
                "type": "static",
                "shapes": [{"type": "plane", "normal": [0, 0, 1]}],
            },
            {
                "name": "rod",
                "position": [0, 0, 1],
                "mass": 1,
                "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}],
            },
        ],
        "joints": [
            {
                "name": "pin",
                "type": "hinge",
                "parent": "world",
                "child": "rod",
                "anchor": [0.5, 0, 1],
                "axis": [0, 1, 0],
            }
        ],
    }


def warmup(progress: Progress | None = None) -> float:
    """Compile (or load from the cache) everything; returns the seconds it took.

    progress(done, total, what) is called before each part.
    """
    began = time.perf_counter()
    tell = progress or (lambda done, total, what: None)
    from engine import warmup_stages

    stages = warmup_stages.stages(load_scene(tiny_scene()))
    for k, (name, compile_stage) in enumerate(stages):
        tell(k, len(stages), name)
        compile_stage()
    tell(len(stages), len(stages), "ready")
    return time.perf_counter() - began
