"""A snapshot holds everything the future depends on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.outputs.snapshot import named_arrays
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground, rod
from tests.laws.test_determinism import poison

pytestmark = pytest.mark.law

STEPS = 300


def everything() -> dict[str, Any]:
    """Towers that sleep and are struck, mechanisms that are driven, springs, a moving table."""
    cube = {"type": "box", "size": [0.2, 0.2, 0.2]}
    bodies: list[Any] = [ground()]
    for x, n in ((0.0, 3), (3.0, 2)):
        for k in range(n):
            place = [x, 0.0, 0.1 + 0.2 * k]
            bodies.append(
                {"name": f"box-{x:g}-{k}", "position": place, "mass": 1, "shapes": [cube]}
            )
    thrown = {"name": "thrown", "position": [-1.0, 0.03, 0.5], "linear_velocity": [3.0, 0, 1.0]}
    bodies.append(thrown | {"mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]})
    table = {"name": "table", "type": "kinematic", "position": [0, 5, 0.1]}
    table["shapes"] = [{"type": "box", "size": [2, 2, 0.2]}]
    bodies.append(table | {"linear_velocity": [0.3, 0, 0], "angular_velocity": [0, 0, 0.2]})
    soft = [cube | {"material": "rubber"}]
    bodies.append({"name": "rider", "position": [0.3, 5, 0.3], "mass": 1.0, "shapes": soft})
    late = {"name": "late", "position": [20, 20, 5], "appears": 0.2, "vanishes": 0.4}
    bodies.append(late | {"mass": 1.0, "shapes": [cube]})
    # a bob that swings down: at 15 N its thread to the hook breaks
    bodies += [rod("hook", [0, 8, 2], 0.2), rod("bob", [0.2, 8, 2], 0.4)]
    arms = [rod(f"arm-{k}", [0.4 * k, -3.0, 1.5], 0.4) for k in range(3)]
    joints: list[Any] = [
        {
            "name": f"pin-{k}",
            "type": ("hinge", "universal", "ball")[k],
            "parent": "world" if k == 0 else f"arm-{k - 1}",
            "child": f"arm-{k}",
            "anchor": [0.4 * k, -3.0, 1.5],
        }
        for k in range(3)
    ]
    pinned = {"type": "fixed", "name": "wall", "parent": "world", "child": "hook"}
    thread = {"type": "ball", "name": "thread", "parent": "hook", "child": "bob"}
    joints.append(pinned | {"anchor": [0, 8, 2]})
    joints.append(thread | {"anchor": [0.2, 8, 2], "breaking_force": 15.0})
    joints[0] |= {"axis": [0, 1, 0], "friction": 0.02, "limits": {"lower": -1.0, "upper": 0.5}}
    target = {"times": [0.0, 0.2, 0.6], "values": [0.0, 0.5, -0.5], "interpolation": "linear"}
    joints[0]["motor"] = {"type": "velocity", "target": target, "max_force": 4.0}
    joints[1] |= {"axis": [0, 1, 0], "axis2": [0, 0, 1], "damping": 0.01}
    spring = {"type": "spring", "parent": "world", "child": "arm-2", "stiffness": 30.0}
    spring |= {"anchor": [1.2, -3.0, 2.0], "anchor2": [1.2, -3.0, 1.5], "damping": 0.2}
    twist = {"type": "torsion", "parent": "arm-1", "child": "arm-2", "axis": [1, 0, 0]}
    forces = [spring, twist | {"stiffness": 0.3}, {"type": "drag", "body": "thrown", "linear": 0.1}]
    options = {"dt": 0.002, "sleeping": {"enabled": True, "time": 0.05}}
    materials = {"rubber": {"compliance": 1e-4, "damping": 10.0}}
    scene = document([*bodies, *arms], joints, forces=forces, simulation=options)
    kick = {"op": "apply_impulse", "body": "rider", "impulse": [0, 0, 0.2]}
    when = {"type": "coordinate", "joint": "pin-0", "value": 0.1, "crossing": "either"}
    triggers = [{"name": "kick", "when": when, "do": [kick], "repeat": True}]
    return scene | {"materials": materials, "triggers": triggers}


def command(sim: Simulation) -> None:
    """What a person does at this step."""
    if sim.step_count == 90:
        sim.grab("arm-2", [1.0, -3.0, 1.5])
        sim.apply_wrench("rider", [0.5, 0, 0], [0, 0, 0.1], duration=0.3)
    elif sim.step_count == 120:
        sim.grab_move([1.0, -2.5, 1.8])
        sim.set_motor("pin-0", 1.0, max_force=2.0)
    elif sim.step_count == 150:
        sim.apply_impulse("box-3-1", [0.2, 0, 0])
        sim.set_gravity([0, 0, -5.0])
    elif sim.step_count == 210:
        sim.release()
        sim.set_velocity("table", [0, 0.4, 0], [0, 0, 0])


def go(sim: Simulation, until: int) -> Simulation:
    """Step by step with all commands of the way."""
    while sim.step_count < until:
        command(sim)
        sim.advance(1)
    return sim


@pytest.fixture(scope="module")
def saved() -> list[bytes]:
    """A snapshot before every step of an uninterrupted run, and one at its end."""
    sim = Simulation(load_scene(everything()))
    sim.watch_events()
    snapshots = []
    slept = False
    for step in range(STEPS):
        snapshots.append(go(sim, step).snapshot())
        slept = slept or bool(sim.asleep().any())
    snapshots.append(go(sim, STEPS).snapshot())
    assert slept, "the scene is meant to have sleepers"
    assert len(sim.events()) > 10
    return snapshots


def test_the_scene_uses_every_part_of_the_state(saved: list[bytes]) -> None:
    scene = load_scene(everything())
    first = Simulation(scene)
    changed = set()
    start = {name: array.copy() for name, array in named_arrays(first.state)}
    for k in range(0, STEPS + 1, 5):
        first.restore(saved[k])
        for name, array in named_arrays(first.state):
            before = start[name]
            if before.shape != array.shape or before.tobytes() != array.tobytes():
                changed.add(name)
    # `woken` is only up between a command and the step after it; trees are in test_reduced.py,
    # links in test_ropes.py
    unused = {name for name, _ in named_arrays(first.state)} - changed
    assert unused <= {"woken", "tree_q", "tree_qd", "tree_bias_acceleration", "link_inertia"}


def test_whatever_is_disturbed_comes_back(saved: list[bytes]) -> None:
    scene = load_scene(everything())
    sim = Simulation(scene)
    for k in (60, 140, 230):
        sim.restore(saved[k])
        names = [name for name, _ in named_arrays(sim.state)]
        assert len(names) > 25
        for name in names:
            array: Any = dict(named_arrays(sim.state))[name]
            if name.endswith(".count"):
                array[0] = max(0, array[0] - 1)
            elif array.dtype.kind == "f":
                array += 1.0
                array[...] = np.where(np.isnan(array), 0.0, array)
            else:
                array ^= 1
            if array.size:
                assert sim.snapshot() != saved[k], name
            sim.restore(saved[k])
            assert sim.snapshot() == saved[k], name


@pytest.mark.parametrize("start", range(0, STEPS, 23))
def test_a_run_from_any_step_ends_with_the_same_bits(saved: list[bytes], start: int) -> None:
    sim = Simulation(load_scene(everything()))
    sim.restore(saved[start])
    poison(sim)
    assert go(sim, STEPS).snapshot() == saved[STEPS]


def test_garbage_between_all_steps_changes_nothing(saved: list[bytes]) -> None:
    sim = Simulation(load_scene(everything()))
    for step in range(STEPS + 1):
        go(sim, step)
        poison(sim)
    assert sim.snapshot() == saved[STEPS]


RESUME = """
import json, sys
from pathlib import Path
from cardan.engine import Simulation
from cardan.schemas import load_scene
sim = Simulation(load_scene(json.loads(Path(sys.argv[1]).read_text())))
sim.restore(Path(sys.argv[2]).read_bytes())
sim.advance(int(sys.argv[3]))
print(sim.state_hash())
"""


def test_another_process_goes_on_with_the_same_bits(saved: list[bytes], tmp_path: Path) -> None:
    scene, snapshot = tmp_path / "scene.json", tmp_path / "snapshot"
    scene.write_text(json.dumps(everything()))
    snapshot.write_bytes(saved[211])
    words = [sys.executable, "-c", RESUME, str(scene), str(snapshot), str(STEPS - 211)]
    root = Path(__file__).parents[2]
    there = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    here = Simulation(load_scene(everything()))
    here.restore(saved[STEPS])
    assert there.stdout.strip() == here.state_hash()
