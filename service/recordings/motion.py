"""Poses of a recording as arrays, body by body, for the formats that show motion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.service.recordings.columns import POSE
from cardan.service.recordings.sources import Recording
from cardan.service.recordings.tables import to_numpy


class NoMotionError(ValueError):
    """The recording, or the part of it, has no poses."""


@dataclass(frozen=True)
class Motion:
    """Poses in W: `times` (n,) [s], `poses` (n, bodies, 7) px py pz [m] qw qx qy qz."""

    names: tuple[str, ...]
    times: NDArray[np.float64]
    poses: NDArray[np.float64]


def motion_of(recording: Recording) -> Motion:
    """The motion of all recorded bodies. Raises NoMotionError."""
    source = recording.sources.get("bodies")
    if source is None or not set(POSE) <= set(source.schema.names):
        raise NoMotionError("this recording has no poses: record.channels needs `pose`")
    if not source.num_rows:
        raise NoMotionError("no recorded time lies between `from` and `to`, so there is no motion")
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in ("time", "body", *POSE)}
    for chunk in source.chunks(list(columns)):
        for name, parts in columns.items():
            parts.append(to_numpy(chunk[name]))
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    # every frame has the same bodies in the same order
    names = tuple(dict.fromkeys(joined["body"].tolist()))
    poses = np.stack([joined[name] for name in POSE], axis=-1).reshape(-1, len(names), 7)
    return Motion(names, joined["time"][:: len(names)], poses)


def near(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same rotations (n, 4), each with the sign that is nearer to the one before."""
    turned = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(turned) % 2 == 1, -1.0, 1.0)])
    return np.asarray(q * signs[:, None])


ENDLESS = ("plane", "heightfield")
"""Shapes that no visual stands for: they are shown beside the visuals of their body."""


def pictures_of(recording: Recording) -> dict[str, list[dict[str, Any]]]:
    """What every body of the scene looks like, by name: its visuals, or its shapes without any.

    A visual that shows a mesh of the scene has its `vertices` and `faces`. Empty without the scene.
    """
    scene = recording.scene or {}
    meshes = scene.get("meshes", {})
    found = {}
    for body in scene.get("bodies", []):
        shapes, visuals = list(body.get("shapes", [])), body.get("visuals", [])
        if visuals:
            shapes = [shape for shape in shapes if shape["type"] in ENDLESS]
            shapes += [{**meshes.get(visual.get("mesh"), {}), **visual} for visual in visuals]
        found[body["name"]] = shapes
    return found


def color_of(shape: dict[str, Any], number: int) -> tuple[float, float, float]:
    """Red, green and blue of a shape: its own, if it is given in numbers, or one of a few."""
    color = shape.get("color")
    if isinstance(color, list | tuple):
        return (float(color[0]), float(color[1]), float(color[2]))
    if isinstance(color, str) and len(color) == 7 and color.startswith("#"):
        red, green, blue = (int(color[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
        return (red, green, blue)
    return COLORS[number % len(COLORS)]


# Okabe and Ito 2008: told apart by everybody
COLORS = (
    (0.60, 0.60, 0.60),
    (0.00, 0.45, 0.70),
    (0.90, 0.62, 0.00),
    (0.00, 0.62, 0.45),
    (0.80, 0.47, 0.65),
    (0.34, 0.71, 0.91),
    (0.84, 0.37, 0.00),
    (0.94, 0.89, 0.26),
)
