"""Compile or load every kernel a simulation may call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from engine.assembly.assemble import assemble
from engine.bodies.predict import predict_velocity
from engine.collision.find_contacts import find_contacts
from engine.constraints.write_rows import write_rows
from engine.diagnostics.extremes import record_extremes
from engine.kernel import is_complete, mark_complete
from engine.simulation import Simulation
from engine.solvers.solve import solve
from schemas import load_scene

Progress = Callable[[int, int, str], None]


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


def stages(simulation: Simulation) -> list[tuple[str, Callable[[], object]]]:
    """Name and call of every part; a later part finds the earlier ones compiled."""
    model, state, options = simulation.model, simulation.state, simulation.options
    work, collision = simulation.work, simulation.collision
    report = simulation.report
    bodies, motion = model.bodies, work.motion
    scratch = motion.scratch
    return [
        ("forces", lambda: predict_velocity(model, state, motion, options)),
        (
            "collision",
            lambda: find_contacts(model, state, collision, work.contacts, options, report),
        ),
        (
            "constraints",
            lambda: write_rows(model, state, work.contacts, work.rows, options, motion.turning),
        ),
        ("assembly", lambda: assemble(bodies, work.rows, motion, work.problem)),
        ("solvers", lambda: solve(work.problem, work.dense, scratch, options.solver, report)),
        ("accounts", lambda: record_extremes(model, state, work.contacts, report)),
        ("the step", lambda: simulation.advance(2)),
        ("tables", lambda: (simulation.joint_table(), simulation.energy())),
    ]


def warmup(progress: Progress | None = None) -> float:
    """Compile (or load from the cache) everything; returns the seconds it took.

    progress(done, total, what) is called before each part, and once at the end. When a complete
    cache is there, only the last parts are loaded: they contain the others.
    """
    began = time.perf_counter()
    parts = stages(Simulation(load_scene(tiny_scene())))
    if is_complete():
        parts = parts[-2:]
    for k, (name, call) in enumerate(parts):
        if progress is not None:
            progress(k, len(parts), name)
        call()
    mark_complete()
    if progress is not None:
        progress(len(parts), len(parts), "ready")
    return time.perf_counter() - began
