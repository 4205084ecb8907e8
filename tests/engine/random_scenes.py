"""Random scenes over shapes, joints, formulations and methods, a few steps of each.

    CARDAN_COMPILER=boundscheck python -m tests.engine.random_scenes [N [FIRST]]

runs N of them, then every example, and tells of each scene that raises IndexError.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

from cardan.engine import SceneError, Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_names, example_text
from tests.engine.scenes import Document, document
from tests.laws.machines import SCENES, adrift

TETRAHEDRON = [[0.15, 0, 0], [-0.1, 0.12, 0], [-0.1, -0.12, 0], [0, 0, 0.2]]
BOUNDED: list[Document] = [
    {"type": "sphere", "radius": 0.12},
    {"type": "box", "size": [0.3, 0.2, 0.25]},
    {"type": "capsule", "radius": 0.08, "length": 0.2},
    {"type": "cylinder", "radius": 0.1, "length": 0.2},
    {"type": "cone", "radius": 0.1, "length": 0.2},
    {"type": "ellipsoid", "radii": [0.1, 0.15, 0.08]},
    {"type": "convex", "points": TETRAHEDRON},
    {
        "type": "mesh",
        "vertices": TETRAHEDRON,
        "faces": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    },
]
HILLS = [[0.05 * ((3 * i + 5 * k) % 4) for i in range(6)] for k in range(5)]
FLOORS: list[Document] = [
    {"type": "plane", "normal": [0, 0, 1]},
    {"type": "box", "size": [6, 6, 0.4], "position": [0, 0, -0.2]},
    {"type": "heightfield", "heights": HILLS, "size": [4, 4]},
]
STOPS = {"lower": -0.1, "upper": 0.2, "restitution": 0.3}
SWAY = {"times": [0, 0.01, 0.02], "values": [0, 0.05, 0.0]}
DRIVES: list[Document] = [
    {},
    {"limits": STOPS},
    {"limits": STOPS | {"stiffness": 300.0, "damping": 5.0}},
    {"limits": {"lower": 0.0, "upper": 0.0}},
    {"motor": {"type": "velocity", "target": 2.0, "max_force": 5.0}},
    {"motor": {"type": "position", "target": SWAY}},
    {"motor": {"type": "position", "target": SWAY, "stiffness": 50.0, "damping": 3.0}},
    {"motor": {"type": "force", "target": SWAY | {"interpolation": "step"}}},
    {"friction": 0.5, "damping": 0.1},
    {"armature": 0.1},
    {"cfm": 1e-4},
    {"breaking_force": 20.0},
]
BALL_DRIVES: list[Document] = [
    {},
    {"limits": {"swing": 0.2, "twist": 0.3}, "axis": [0, 0, 1]},
    {"motor": {"type": "position", "target": [0.1, 0.2, 0.0]}},
    {"motor": {"type": "velocity", "target": [0.1, 0.2, 0.0]}, "friction": 0.2},
]
JOINTS: list[Document] = [
    {"type": "fixed"},
    {"type": "ball"},
    {"type": "hinge", "axis": [0.1, 1, 0]},
    {"type": "slider", "axis": [0, 0.2, 1]},
    {"type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0]},
    {"type": "hinge2", "axis": [0, 0, 1], "axis2": [0, 1, 0], "spring": {"stiffness": 300.0}},
    {"type": "cylindrical", "axis": [0, 1, 0]},
    {"type": "planar", "axis": [0, 1, 0.4]},
    {"type": "screw", "axis": [0, 0, 1], "pitch": 0.1},
    {"type": "distance"},
]
COUPLINGS: list[Document] = [
    {"type": "gear", "axis": [0, 1, 0], "ratio": -2.0},
    {"type": "rack", "axis": [0, 1, 0], "axis2": [0, 0, 1], "ratio": 0.2},
]
METHODS = [
    "auto",
    "pgs",
    "sor",
    "pivoting",
    "gauss_seidel",
    "jacobi",
    "lemke",
    "pgs_sm",
    "nncg",
    "apgd",
    "proximal",
    "small_steps",
]
# drawn twice as often as the others
METHODS += ("pgs_sm", "nncg", "apgd", "proximal", "small_steps")
REDUCED_METHODS = ("auto", "pgs", "pivoting", "gauss_seidel", "lemke")
NEEDS = {"pivoting": "box", "lemke": "polyhedral", "apgd": "cone"}


def pick(dice: np.random.Generator, choices: Any) -> Any:
    """One of them."""
    return choices[int(dice.integers(len(choices)))]


def random_body(dice: np.random.Generator, k: int) -> Document:
    """A body near the others, with one or two shapes."""
    q = dice.normal(size=4)
    body: Document = {"name": f"b{k}", "mass": float(10.0 ** dice.uniform(-1, 1))}
    body["inertia"] = [0.05 * body["mass"]] * 3
    body["position"] = [*(0.25 * dice.normal(size=2)).tolist(), 0.2 + 0.2 * k]
    body["orientation"] = (q / np.linalg.norm(q)).tolist()
    body["linear_velocity"] = dice.normal(size=3).tolist()
    body["shapes"] = [dict(pick(dice, BOUNDED)) for _ in range(int(dice.integers(1, 3)))]
    if dice.uniform() < 0.08:
        kinematic = {"type": "kinematic", "angular_velocity": [0.0, 0.0, 0.5]}
        body = {k: v for k, v in body.items() if k not in ("mass", "inertia")} | kinematic
    return body


def random_joint(dice: np.random.Generator, k: int, bodies: list[Document]) -> Document:
    """A joint of a body with one before it, or with the world."""
    before = pick(dice, ["world", *(body["name"] for body in bodies[:k])])
    joint: Document = {"name": f"j{k}", "parent": before, "child": bodies[k]["name"]}
    joint |= pick(dice, JOINTS)
    at = bodies[k]["position"]
    joint["anchor"] = at
    if joint["type"] == "distance":
        joint |= {"anchor2": at, "anchor": [at[0], at[1], at[2] + 0.3]}
    if joint["type"] == "fixed":
        return joint
    return joint | pick(dice, BALL_DRIVES if joint["type"] == "ball" else DRIVES)


def random_simulation(dice: np.random.Generator) -> Document:
    """Formulation, method and what else can be chosen."""
    found: Document = {"dt": float(pick(dice, [1e-3, 2e-3, 5e-3]))}
    contact: Document = {"friction_cone": pick(dice, ["cone", "box", "polyhedral"])}
    if dice.uniform() < 0.5:
        method = pick(dice, REDUCED_METHODS)
        found["formulation"] = "reduced"
    else:
        method = pick(dice, METHODS)
        found["stabilisation"] = pick(dice, ["projection", "split_impulse", "baumgarte"])
        if method == "small_steps":
            found["stabilisation"] = "split_impulse"
        if method in ("auto", "pgs"):
            contact["restitution_law"] = pick(dice, ["newton", "newton", "poisson", "propagating"])
            contact["impact_time"] = pick(dice, ["step", "step", "exact"])
            found["sleeping"] = {"enabled": bool(dice.uniform() < 0.3), "time": 0.01}
    contact["friction_cone"] = NEEDS.get(method, contact["friction_cone"])
    return found | {"contact": contact, "solver": {"method": method}}


def random_scene(seed: int) -> Document:
    """Up to seven bodies, some joined, on a floor or none."""
    dice = np.random.default_rng(seed)
    bodies = [random_body(dice, k) for k in range(int(dice.integers(1, 8)))]
    linked = dice.uniform()
    joints = [random_joint(dice, k, bodies) for k in range(len(bodies)) if dice.uniform() < linked]
    if len(bodies) > 2 and dice.uniform() < 0.3:
        joints.append({"name": "loop", "type": "ball", "parent": "b0", "child": "b2"})
        joints[-1]["anchor"] = bodies[2]["position"]
    if len(bodies) > 1 and dice.uniform() < 0.2:
        ends = {"name": "coupling", "parent": "b0", "child": "b1"}
        joints.append(ends | pick(dice, COUPLINGS))
    floor = {"name": "floor", "type": "static", "shapes": [pick(dice, FLOORS)]}
    rough = {"default": {"friction": float(pick(dice, [0.0, 0.5])), "restitution": 0.4}}
    for body in bodies:
        for shape in body["shapes"]:
            shape["material"] = "default"
    bodies = [*([floor] if dice.uniform() < 0.8 else []), *bodies]
    return document(bodies, joints, materials=rough, simulation=random_simulation(dice))


def use(scene: Any, steps: int = 30) -> bool:
    """Advance a scene and ask for what can be asked; False when the engine refuses the scene."""
    try:
        simulation = Simulation(load_scene(scene))
    except (SceneError, ValueError):
        return False
    simulation.watch_events()
    simulation.advance(steps)
    simulation.joint_table()
    simulation.contact_table()
    simulation.energy()
    simulation.events()
    simulation.raycast([0.1, 0.05, 3.0], [0.0, 0.0, -1.0])
    simulation.restore(simulation.snapshot())
    simulation.advance(2)
    return True


def all_scenes(number: int, first: int) -> Iterator[tuple[str, Any]]:
    """Random ones, those of the laws, and the examples, in both formulations."""
    for seed in range(first, first + number):
        yield f"random {seed}", random_scene(seed)
    for seed in range(first, first + number // 10):
        yield f"adrift {seed}", adrift(seed)
    documents = {name: json.loads(example_text(name)) for name in example_names()}
    documents |= {name: make() for name, make in SCENES.items()}
    for name, scene in documents.items():
        yield name, scene
        simulation = dict(scene["simulation"], formulation="reduced")
        simulation.pop("stabilisation", None)
        yield f"{name}, reduced", scene | {"simulation": simulation}


def main(number: int = 100, first: int = 0) -> int:
    """Run them; returns the number of scenes that index outside an array."""
    ran, failed = 0, []
    for name, scene in all_scenes(number, first):
        try:
            ran += use(scene)
        except IndexError:
            failed.append(name)
            traceback.print_exc()
            print(f"^ {name}", flush=True)  # noqa: T201
    print(f"{ran} scenes ran, {len(failed)} of them out of bounds: {failed}")  # noqa: T201
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) != 0)
