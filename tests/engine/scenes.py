"""Small scenes as documents, shared by the tests of the engine."""

from __future__ import annotations

from typing import Any

from cardan.engine import Simulation
from cardan.schemas import load_scene

Document = dict[str, Any]


def document(bodies: list[Document], joints: list[Document] | None = None, **more: Any) -> Document:
    """A scene document; `simulation` and `contact` are merged into the simulation part."""
    simulation = dict(more.pop("simulation", {}))
    if "contact" in more:
        simulation["contact"] = more.pop("contact")
    if "solver" in more:
        simulation["solver"] = more.pop("solver")
    return {"simulation": simulation, "bodies": bodies, "joints": joints or [], **more}


def simulate(scene: Document) -> Simulation:
    """The engine of a document."""
    return Simulation(load_scene(scene))


def ground(**more: Any) -> Document:
    """The plane z = 0."""
    plane = {"type": "plane", "normal": [0, 0, 1], **more}
    return {"name": "ground", "type": "static", "shapes": [plane]}


def brick(name: str, **more: Any) -> Document:
    """A body with three different moments of inertia and a tilted tensor."""
    return {
        "name": name,
        "mass": 2.0,
        "inertia": [0.3, 0.5, 0.7, 0.02, -0.03, 0.04],
        **more,
    }


def cube(name: str, position: list[float], **more: Any) -> Document:
    """A cube of 0.2 m and 1 kg."""
    shape = {"type": "box", "size": [0.2, 0.2, 0.2]}
    return {"name": name, "position": position, "mass": 1.0, "shapes": [shape], **more}


def rod(name: str, start: list[float], length: float, **more: Any) -> Document:
    """A capsule along x from `start`."""
    half = 0.5 * length
    return {
        "name": name,
        "position": [start[0] + half, start[1], start[2]],
        "orientation": [0.7071067811865476, 0.0, 0.7071067811865475, 0.0],
        "mass": 1.0,
        "shapes": [{"type": "capsule", "radius": 0.01, "length": length}],
        **more,
    }
