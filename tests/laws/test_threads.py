"""The same bits with any number of threads, in one process and in several."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES
from cardan.schemas import load_scene

pytestmark = [
    pytest.mark.law,
    pytest.mark.skipif(STRUCTS_ARE_TUPLES, reason="one thread where structs are tuples"),
]

WALL = [0.2, 3.0, 3.0]


def bin_of(shapes: list[dict[str, Any]], side: int, layers: int) -> list[dict[str, Any]]:
    """Bodies on a grid that fall into a bin."""
    walls = [[1.4, 0, 1.5], [-1.4, 0, 1.5]]
    bodies: list[dict[str, Any]] = [
        {"name": "ground", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    ]
    for k, place in enumerate([*walls, *([y, x, z] for x, y, z in walls)]):
        size = WALL if k < 2 else [WALL[1], WALL[0], WALL[2]]
        box = {"type": "box", "size": size}
        bodies.append({"name": f"wall{k}", "type": "static", "position": place, "shapes": [box]})
    rng = np.random.default_rng(5)
    for i in range(side * side * layers):
        k, ij = divmod(i, side * side)
        a, b = divmod(ij, side)
        at = 0.3 * np.array([a - (side - 1) / 2, b - (side - 1) / 2, k + 0.6])
        at += rng.uniform(-5e-3, 5e-3, 3)
        bodies.append(
            {
                "name": f"b{i}",
                "position": at.tolist(),
                "mass": 1.0,
                "shapes": [shapes[i % len(shapes)]],
            }
        )
    return bodies


SHAPES: dict[str, list[dict[str, Any]]] = {
    "spheres": [{"type": "sphere", "radius": 0.16}],
    "boxes": [{"type": "box", "size": [0.3, 0.28, 0.25]}],
    "mixed": [
        {"type": "box", "size": [0.3, 0.28, 0.25]},
        {"type": "capsule", "radius": 0.12, "length": 0.15},
        {"type": "cylinder", "radius": 0.13, "length": 0.25},
    ],
    "hulls": [
        {"type": "convex", "points": [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]},
        {"type": "sphere", "radius": 0.15},
    ],
}


def document(name: str, threads: int | str, **simulation: Any) -> dict[str, Any]:
    """A bin of some hundred bodies, which a step may share."""
    return {
        "simulation": {"dt": 0.004, "duration": 1.0, "threads": threads, **simulation},
        "bodies": bin_of(SHAPES[name], 8, 4),
    }


def with_joints(scene: dict[str, Any]) -> dict[str, Any]:
    """Pairs of neighbours hang together: boxes are swept with contacts."""
    for i in range(0, 60, 2):
        at = np.mean([scene["bodies"][5 + i + k]["position"] for k in range(2)], axis=0)
        scene.setdefault("joints", []).append(
            {
                "name": f"j{i}",
                "type": "ball",
                "parent": f"b{i}",
                "child": f"b{i + 1}",
                "anchor": at.tolist(),
            }
        )
    return scene


def run(scene: dict[str, Any], steps: int = 60) -> tuple[str, int]:
    """State hash after so many steps that threads share whether it pays or not; contacts."""
    simulation = Simulation(load_scene(scene))
    simulation.helpers.always = True
    simulation.advance(steps)
    return simulation.state_hash(), int(simulation.solver_report()["contacts"])


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_bits_with_any_number_of_threads(name: str) -> None:
    alone, contacts = run(document(name, 1))
    assert contacts > 400
    for threads in (2, 4):
        assert run(document(name, threads))[0] == alone


def test_the_same_bits_with_joints_in_the_heap() -> None:
    alone, _ = run(with_joints(document("spheres", 1)))
    assert run(with_joints(document("spheres", 3)))[0] == alone


@pytest.mark.parametrize("method", ["pgs", "small_steps"])
def test_the_same_bits_with_other_sweeps(method: str) -> None:
    found = {run(document("boxes", n, solver={"method": method}))[0] for n in (1, 2)}
    assert len(found) == 1


def test_the_same_bits_in_another_process_and_in_pieces() -> None:
    alone, _ = run(document("mixed", 1))
    program = (
        "import json, sys; from tests.laws.test_threads import run; "
        "print(run(json.load(sys.stdin))[0])"
    )
    given = json.dumps(document("mixed", 2))
    found = subprocess.run(
        [sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == alone
    simulation = Simulation(load_scene(document("mixed", "auto")))
    assert len(simulation.work.dense.lanes.crew.ticket) == 1, "too few bodies for `auto`"
    pieces = Simulation(load_scene(document("mixed", 2)))
    for n in (1, 7, 20, 32):
        pieces.advance(n)
    assert pieces.state_hash() == alone


def test_a_thread_that_comes_late_or_never_changes_nothing() -> None:
    """The thread that steps does all shares itself where no other takes any."""
    alone, _ = run(document("boxes", 1))
    simulation = Simulation(load_scene(document("boxes", 3)))
    for _ in range(60):
        simulation.helpers.pace.way = 0
        simulation.advance(1)
    assert len(simulation.work.dense.lanes.crew.ticket) == 3
    assert simulation.state_hash() == alone
