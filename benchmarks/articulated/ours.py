"""This engine on a scene: `python -m benchmarks.articulated.ours SCENE OUT [K]`.

In joint coordinates; one step is as long as K of the scene's. Leaves what every driver leaves,
phases.json (microseconds per step of each phase), and for scenes without ground plain.json: what a
bare semi-implicit Euler step of the same tree costs, one articulated-body pass and no look at
energy, contacts or records.
"""

import json
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.articulated.scenes import Scene
from benchmarks.contacts.ours import in_longer_steps, leave, timed
from cardan import engine
from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.coordinates import advance_coordinates
from cardan.schemas import load_scene

# between the hinges of a joint with several: this share of the child's mass and inertia
LIGHT = 1e-9


def shapes_of(body: Scene) -> list[dict[str, Any]]:
    """The shapes of a body; they touch the ground only."""
    found = []
    for one in body["shapes"]:
        shape: dict[str, Any] = {"type": one["kind"], "material": "all", "collision_mask": 2}
        shape |= {"position": one["pos"], "orientation": one["quat"]}
        if one["kind"] == "box":
            shape["size"] = [2.0 * x for x in one["size"]]
        else:
            shape["radius"] = one["size"][0]
        if one["kind"] == "capsule":
            shape["length"] = 2.0 * one["size"][1]
        found.append(shape)
    return found


def write_joint(scene: Scene, j: Scene, bodies: list[Any], joints: list[Any]) -> None:
    """Joint j, with light bodies between its hinges."""
    child = scene["bodies"][j["child"]]
    parent = "world" if j["parent"] < 0 else f"b{j['parent']}"
    name = f"j{j['child']}"
    common = {"anchor": j["anchor"]}
    if not j["axes"]:
        joints.append(
            common | {"type": "ball", "name": name, "parent": parent, "child": f"b{j['child']}"}
        )
    for k, (axis, limit) in enumerate(zip(j["axes"], j["limits"], strict=True)):
        last = k == len(j["axes"]) - 1
        end = f"b{j['child']}" if last else f"{name}_{k}"
        if not last:
            light = {"mass": LIGHT * child["mass"]}
            light["inertia"] = [LIGHT * x for x in child["inertia"]]
            bodies.append({"name": end, "position": j["anchor"], **light})
        one = common | {"type": "hinge", "name": f"{name}_{k}", "axis": axis}
        one |= {"parent": parent, "child": end}
        if limit is not None:
            one["limits"] = {"lower": limit[0], "upper": limit[1]}
        if "kp" in j:
            drive = {"type": "position", "target": 0.0}
            one["motor"] = drive | {"stiffness": j["kp"], "damping": j["kd"]}
        joints.append(one)
        parent = end


def document(scene: Scene) -> dict[str, Any]:
    """The scene as this project writes it."""
    bodies: list[dict[str, Any]] = []
    for i, b in enumerate(scene["bodies"]):
        one = {"name": f"b{i}", "position": b["pos"], "orientation": b["quat"]}
        one |= {"mass": b["mass"], "inertia": b["inertia"]}
        one |= {"linear_velocity": b["vel"], "angular_velocity": b["angvel"]}
        if scene["plane"]:
            one["shapes"] = shapes_of(b)
        bodies.append(one)
    joints: list[dict[str, Any]] = []
    for j in scene["joints"]:
        write_joint(scene, j, bodies, joints)
    if scene["plane"]:
        ground = {"type": "plane", "normal": [0, 0, 1], "offset": 0.0, "material": "all"}
        ground |= {"collision_group": 2}
        bodies.append({"name": "ground", "type": "static", "shapes": [ground]})
    duration = scene["dt"] * scene["steps"]
    return {
        "gravity": scene["gravity"],
        "materials": {"all": {"friction": scene["mu"], "restitution": 0.0}},
        "simulation": {"dt": scene["dt"], "duration": duration, "formulation": "reduced"},
        "bodies": bodies,
        "joints": joints,
    }


def run(scene: Scene) -> dict[str, Any]:
    """Times, states and contacts as in `timed`; phases with what is left of a step's time."""
    simulation = engine.Simulation(load_scene(document(scene)))
    moving = len(scene["bodies"])

    def states() -> Any:
        both = np.concatenate([simulation.poses(), simulation.velocities()], axis=1)
        return both[:moving]

    found = timed(simulation, scene, states)
    begin, end = (edge // scene["every"] for edge in scene["window"])
    spent = sum(found["phases"].values())
    found["phases"]["rest"] = max(0.0, median(found["times"][begin:end]) - spent)
    return found


@kernel
def many_plain(n, tree, start, forces, h, work, qdd):  # type: ignore[no-untyped-def]
    """n bare steps from start = (q, qd) under forces = (tau, wrenches, gravity)."""
    q, qd = start
    for _ in range(n):
        forward_dynamics(tree, q, qd, forces[0], forces[1], forces[2], work, qdd)
        for k in range(qd.shape[0]):
            qd[k] += h * qdd[k]
        advance_coordinates(tree, q, qd, h)


def plain_step(scene: Scene) -> float:
    """Microseconds of a bare semi-implicit Euler step, least of a few hundred at a time."""
    simulation = engine.Simulation(load_scene(document(scene)))
    simulation.advance(1)
    tree, state = simulation.model.tree, simulation.state
    start = (state.tree_q.copy(), state.tree_qd.copy())
    v = len(start[1])
    forces = (np.zeros(v), np.zeros((len(tree.kind), 6)), tuple(scene["gravity"]))
    work, qdd, least = tree_work(tree), np.zeros(v), np.inf
    for _ in range(30):
        began = time.thread_time()
        many_plain(200, tree, start, forces, scene["dt"], work, qdd)
        least = min(least, 1e6 * (time.thread_time() - began) / 200)
    return float(least)


def main() -> None:
    """Run one scene and write."""
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out, k = Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    scene = in_longer_steps(given, Fraction(k))
    # compiles what is not yet
    engine.Simulation(load_scene(document(scene))).advance(1)
    found = run(scene)
    leave(found | {"times": found["times"] / k}, out, "Cardan, float64, reduced coordinates")
    if k == 1 and not scene["plane"]:
        plain = {"plain_us": plain_step(scene)}
        (out / "plain.json").write_text(json.dumps(plain), encoding="utf-8")


if __name__ == "__main__":
    main()
