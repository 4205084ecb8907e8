"""This engine on a scene of the families: `python -m benchmarks.families.ours SCENE.json OUT [K]`.

All settings are the defaults; one step is as long as K (a fraction) of the scene's.
"""

from fractions import Fraction
from typing import Any

from benchmarks.contacts.ours import drive, in_longer_steps, states_of, timed
from benchmarks.families.solids import Scene
from cardan import engine
from cardan.schemas import load_scene

WITH_AXIS = ("hinge", "slider", "universal", "cylindrical", "planar")


def _shape(one: Scene) -> dict[str, Any]:
    kind, size = one["kind"], one["size"]
    found: dict[str, Any] = {"type": kind, "material": "all"}
    found |= {"position": one["pos"], "orientation": one["quat"]}
    if kind == "hull":
        return found | {"type": "convex", "points": one["points"]}
    if kind == "mesh":
        return found | {"vertices": one["vertices"], "faces": one["faces"]}
    if kind == "box":
        return found | {"size": [2.0 * x for x in size]}
    if kind == "sphere":
        return found | {"radius": size[0]}
    return found | {"radius": size[0], "length": 2.0 * size[1]}


def _body(one: Scene, name: str) -> dict[str, Any]:
    found = {"name": name, "position": one["pos"], "orientation": one["quat"]}
    found["shapes"] = [_shape(s) for s in one["shapes"]]
    if one["fixed"]:
        return found | {"type": "static"}
    found |= {"mass": one["mass"], "inertia": one["inertia"], "center_of_mass": [0, 0, 0]}
    return found | {"linear_velocity": one["vel"], "angular_velocity": one["angvel"]}


def _motor(one: Scene) -> dict[str, Any]:
    if one["kind"] == "velocity":
        return {"type": "velocity", "target": one["target"], "max_force": one["max"]}
    found = {"type": "position", "target": one["target"]}
    return found | {"stiffness": one["kp"], "damping": one["kd"]}


def _joint(one: Scene, k: int) -> dict[str, Any]:
    name = ["world" if i < 0 else f"b{i}" for i in (one["parent"], one["child"])]
    found = {"name": f"j{k}", "type": one["kind"], "parent": name[0], "child": name[1]}
    found["anchor"] = one["anchor"]
    if one["kind"] in WITH_AXIS:
        found["axis"] = one["axis"]
    if one["kind"] == "universal":
        found["axis2"] = one["axis2"]
    if one["kind"] == "distance":
        found["anchor2"] = one["anchor2"]
    if one["limits"] is not None:
        found["limits"] = {"lower": one["limits"][0], "upper": one["limits"][1]}
    if one["motor"] is not None:
        found["motor"] = _motor(one["motor"])
    return found


def document(scene: Scene) -> dict[str, Any]:
    """The scene as a document of this engine."""
    bodies: list[dict[str, Any]] = []
    if scene["plane"]:
        ground = {"type": "plane", "normal": [0, 0, 1], "offset": 0.0, "material": "all"}
        bodies.append({"name": "ground", "type": "static", "shapes": [ground]})
    bodies += [_body(one, f"b{i}") for i, one in enumerate(scene["bodies"])]
    return {
        "gravity": scene["gravity"],
        "materials": {"all": {"friction": scene["mu"], "restitution": 0.0}},
        "simulation": {
            "dt": scene["dt"],
            "duration": scene["dt"] * scene["steps"],
            "formulation": "auto",
        },
        "bodies": bodies,
        "joints": [_joint(one, k) for k, one in enumerate(scene["joints"])],
    }


def run(scene: Scene, k: str = "1") -> dict[str, Any]:
    """Time a scene as benchmarks.contacts.ours.timed does, per step of the scene, with states."""
    longer = in_longer_steps(scene, Fraction(k))
    simulation = engine.Simulation(load_scene(document(longer)))
    found = timed(simulation, longer, lambda: states_of(simulation, longer))
    return found | {"times": found["times"] / float(Fraction(k))}


if __name__ == "__main__":
    drive(run)
