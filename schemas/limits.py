"""How large a scene may be: counted on the raw document, before anything is computed."""

import math
from collections.abc import Iterator
from typing import Any

from cardan.schemas.base import Base
from cardan.schemas.error import Fault, shown
from cardan.schemas.pointer import to_pointer
from cardan.schemas.scene import Scene

# values in a row of each table, without times and the names of bodies, joints and sensors
POSE_VALUES = 7
VELOCITY_VALUES = 6
JOINT_VALUES = 10
JOINT_COORDINATES = {
    "ball": 3, "planar": 3, "universal": 2, "hinge2": 2, "cylindrical": 2, "gear": 2, "rack": 2,
}  # fmt: skip
"""Rows of the joint table by type; one for all others."""
CONTACT_VALUES = 13
ENERGY_VALUES = 8
MOMENTUM_VALUES = 6
SOLVER_VALUES = 15
EVENT_VALUES = 9
SENSOR_VALUES = 13
ROW_VALUES = 18


class Limits(Base):
    """The largest scene that is accepted. Every figure is configurable."""

    max_bodies: int = 20_000
    """Bodies of a scene."""
    max_shapes: int = 50_000
    """Shapes of all bodies together, and likewise visuals."""
    max_joints: int = 50_000
    """Joints of a scene."""
    max_forces: int = 50_000
    """Forces of a scene."""
    max_steps: int = 20_000_000
    """Steps of a run: duration / dt."""
    max_recorded_values: int = 200_000_000
    """Numbers a recording holds."""
    max_hull_points: int = 1_024
    """Points of one convex shape."""
    max_mesh_vertices: int = 100_000
    """Vertices, and also faces, of one mesh; heights of one heightfield."""
    max_visual_vertices: int = 300_000
    """Vertices of all `meshes` together; they have at most twice as many faces."""
    max_series_points: int = 100_000
    """Samples of one target over time."""


class SceneCounts(Base):
    """How large a scene is."""

    bodies: int
    """Bodies, static ones too."""
    shapes: int
    """Shapes of all bodies."""
    joints: int
    """Joints."""
    forces: int
    """External forces."""
    steps: int
    """Steps of a run."""
    frames: int
    """Recorded steps."""
    recorded_values: int
    """Numbers a recording holds, without times and names. Contacts, rows and events are unknown
    before the run: a frame is counted with two contacts, one event and twelve rows per body, and
    six rows per joint."""


def count_scene(scene: Scene) -> SceneCounts:
    """Count the parts of a scene and the numbers its recording will hold."""
    simulation, record = scene.simulation, scene.record
    steps = round(simulation.duration / simulation.dt)
    interval = record.interval(simulation.dt)
    last = math.floor(steps / interval)
    frames = last + (1 if round(last * interval) == steps else 2)
    bodies = len(scene.bodies) if record.bodies is None else len(record.bodies)
    per_channel = {
        "pose": POSE_VALUES * bodies,
        "velocity": VELOCITY_VALUES * bodies,
        "joints": JOINT_VALUES * sum(JOINT_COORDINATES.get(j.type, 1) for j in scene.joints),
        "contacts": 2 * CONTACT_VALUES * bodies,
        "energy": ENERGY_VALUES,
        "momentum": MOMENTUM_VALUES,
        "solver": SOLVER_VALUES,
        "sensors": SENSOR_VALUES * len(scene.sensors),
        "constraints": ROW_VALUES * (6 * len(scene.joints) + 12 * bodies),
        "events": EVENT_VALUES * bodies,
    }
    return SceneCounts(
        bodies=len(scene.bodies),
        shapes=sum(len(body.shapes) for body in scene.bodies),
        joints=len(scene.joints),
        forces=len(scene.forces),
        steps=steps,
        frames=frames,
        recorded_values=frames * sum(per_channel[name] for name in set(record.channels)),
    )


def size_faults(document: dict[str, Any], limits: Limits) -> list[Fault]:
    """Return the lists of a raw document that are too long. Looks inside only if these are few."""
    faults = [
        exceeded([field], field, len(document[field]), limit)
        for field, limit in (
            ("bodies", limits.max_bodies),
            ("joints", limits.max_joints),
            ("forces", limits.max_forces),
        )
        if isinstance(document.get(field), list) and len(document[field]) > limit
    ]
    if faults:
        return faults
    shapes = list(_raw_parts(document, "shapes"))
    visuals = sum(1 for _ in _raw_parts(document, "visuals"))
    for what, number in (("shapes", len(shapes)), ("visuals", visuals)):
        if number > limits.max_shapes:
            return [exceeded(["bodies"], what, number, limits.max_shapes)]
    meshes = list(_raw_meshes(document))
    faults = [fault for path, part in shapes + meshes for fault in _shape_size(path, part, limits)]
    return faults or list(_visual_size([mesh for _, mesh in meshes], limits))


def run_faults(counts: SceneCounts, limits: Limits) -> list[Fault]:
    """Return the faults of a run that would be too long or record too much."""
    faults = []
    if counts.steps > limits.max_steps:
        faults.append(exceeded(["simulation", "duration"], "steps", counts.steps, limits.max_steps))
    elif counts.recorded_values > limits.max_recorded_values:
        faults.append(
            exceeded(
                ["record"], "recorded values", counts.recorded_values, limits.max_recorded_values
            )
        )
    return faults


def exceeded(path: list[str | int], what: str, figure: int, limit: int) -> Fault:
    """Return the fault of a figure above its limit."""
    number = shown(figure)
    return Fault(
        pointer=to_pointer(path),
        code="limit_exceeded",
        message=f"The scene asks for {number} {what}; the limit is {limit}.",
        got=number,
        hint=REMEDIES.get(what, "Make it smaller, or raise the limit in the configuration."),
    )


REMEDIES = {
    "steps": "Shorten `duration`, enlarge `dt`, or raise the limit in the configuration.",
    "recorded values": "Record less often, fewer channels or fewer `bodies`, or raise the limit.",
}


RawPart = tuple[list[str | int], dict[str, Any]]


def _raw_parts(document: dict[str, Any], field: str) -> Iterator[RawPart]:
    """Shapes or visuals of all bodies, with their places."""
    bodies = document.get("bodies")
    for i, body in enumerate(bodies if isinstance(bodies, list) else []):
        parts = body.get(field) if isinstance(body, dict) else None
        for j, part in enumerate(parts if isinstance(parts, list) else []):
            if isinstance(part, dict):
                yield ["bodies", i, field, j], part


def _raw_meshes(document: dict[str, Any]) -> Iterator[RawPart]:
    meshes = document.get("meshes")
    for name, mesh in meshes.items() if isinstance(meshes, dict) else ():
        if isinstance(mesh, dict):
            yield ["meshes", name], mesh


def _visual_size(meshes: list[dict[str, Any]], limits: Limits) -> Iterator[Fault]:
    """Faults of all meshes together, which every viewer of the scene receives."""
    for field, limit in (
        ("vertices", limits.max_visual_vertices),
        ("faces", 2 * limits.max_visual_vertices),
    ):
        number = sum(len(mesh[field]) for mesh in meshes if isinstance(mesh.get(field), list))
        if number > limit:
            yield exceeded(["meshes"], f"{field} of all meshes", number, limit)


def _shape_size(path: list[str | int], shape: dict[str, Any], limits: Limits) -> Iterator[Fault]:
    for field, what, limit in (
        ("points", "hull points", limits.max_hull_points),
        ("vertices", "mesh vertices", limits.max_mesh_vertices),
        ("faces", "mesh faces", limits.max_mesh_vertices),
        ("heights", "rows of heights", limits.max_mesh_vertices),
    ):
        items = shape.get(field)
        if isinstance(items, list) and len(items) > limit:
            yield exceeded([*path, field], what, len(items), limit)
    rows = shape.get("heights")
    if isinstance(rows, list) and len(rows) <= limits.max_mesh_vertices:
        heights = sum(len(row) for row in rows if isinstance(row, list))
        if heights > limits.max_mesh_vertices:
            yield exceeded([*path, "heights"], "heights", heights, limits.max_mesh_vertices)
