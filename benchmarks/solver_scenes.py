"""Solvers of real time on what stands: sweeps of one kick beside substeps, at rest after 2.5 s.

Time on the processor, how far the worst box moved, the kinetic energy left, and the depth.
"""

import time
from typing import Any

import numpy as np

from benchmarks.pages import row
from cardan.engine import Simulation
from cardan.schemas import load_scene

EDGE, GAP, STEPS = 0.5, 0.05, 600
PLANE = {"type": "plane", "normal": [0, 0, 1]}
# name of a line -> solver options, and what else the scene says
LINES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pgs": ({"method": "pgs"}, {"stabilisation": "baumgarte"}),
    **{
        f"small_steps, {n} substeps": ({"method": "small_steps", "substeps": n}, {})
        for n in (2, 4, 8)
    },
}


def tower(n: int) -> list[dict[str, Any]]:
    """Boxes on each other."""
    return [{"name": f"b{k}", "position": [0, 0, EDGE * (k + 0.5)], **box()} for k in range(n)]


def wall(base: int) -> list[dict[str, Any]]:
    """Rows of boxes, one fewer in each, standing exactly upon each other."""
    return [
        {
            "name": f"b{level}-{i}",
            "position": [(i - (base - level - 1) / 2) * (EDGE + GAP), 0, EDGE * (level + 0.5)],
            **box(),
        }
        for level in range(base)
        for i in range(base - level)
    ]


def box() -> dict[str, Any]:
    """A cube of a tonne per cubic metre."""
    return {"density": 1000.0, "shapes": [{"type": "box", "size": [EDGE] * 3}]}


SCENES = {"tower of 10": tower(10), "tower of 20": tower(20), "wall of 55": wall(10)}


def measure(bodies: list[dict[str, Any]], line: str) -> dict[str, Any]:
    """One run."""
    solver, more = LINES[line]
    ground = {"name": "ground", "type": "static", "shapes": [PLANE]}
    simulation = {"dt": 1 / 240, "duration": STEPS / 240, "solver": solver, **more}
    run = Simulation(load_scene({"simulation": simulation, "bodies": [ground, *bodies]}))
    start = run.poses()[:, :3]
    run.advance(STEPS // 2)
    began = time.process_time()
    run.advance(STEPS - STEPS // 2)
    spent = time.process_time() - began
    energy = run.summary()["energy"]
    return {
        "us": 1e6 * spent / (STEPS - STEPS // 2),
        "moved": float(np.linalg.norm(run.poses()[:, :3] - start, axis=1).max()),
        "kinetic": run.energy()["kinetic"],
        "depth": run.solver_report()["max_penetration"],
        # of the energy there is, not of the little that moves
        "balance": energy["balance_error"] * energy["max_kinetic"] / abs(energy["initial"]),
    }


def study() -> dict[str, dict[str, dict[str, Any]]]:
    """Every line on every scene."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, bodies in SCENES.items():
        found[name] = {line: measure(bodies, line) for line in LINES}
        print(f"{name}: done", flush=True)
    return found


def table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Markdown."""
    head = ("scene", "solver", "us a step", "moved", "energy left", "depth", "books")
    lines = [row(head), row(("---",) * len(head))]
    for name, one in found.items():
        for line, figures in one.items():
            cells = (
                f"{figures['us']:.0f}",
                f"{1e3 * figures['moved']:.2g} mm",
                f"{figures['kinetic']:.1e} J",
                f"{1e3 * figures['depth']:.2g} mm",
                f"{figures['balance']:.0e}",
            )
            lines.append(row((name, line, *cells)))
    return "\n".join(lines)
