"""Poses of a recording as arrays, and what its bodies look like: for the formats of motion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.schemas.colors import rgb
from cardan.schemas.record import POSE
from cardan.service.recordings.sources import Recording
from cardan.service.recordings.tables import to_numpy
from cardan.service.recordings.triangles import reach, rotation

Color = tuple[float, float, float]


class NoMotionError(ValueError):
    """The recording, or the part of it, has no poses."""


class EmptyPartError(NoMotionError):
    """The part of the recording has no moment."""


@dataclass(frozen=True)
class Motion:
    """Poses in W: `times` (n,) [s], `poses` (n, bodies, 7) px py pz [m] qw qx qy qz.

    `present` (n, bodies): whether a body is there; at the first moment at which it is not, its pose
    is still the last one, so that nothing between two moments flies to where it will appear.
    """

    names: tuple[str, ...]
    times: NDArray[np.float64]
    poses: NDArray[np.float64]
    present: NDArray[np.bool_]


def motion_of(recording: Recording) -> Motion:
    """The motion of all recorded bodies. Raises NoMotionError."""
    source = recording.sources.get("bodies")
    if source is None or not set(POSE) <= set(source.schema.names):
        raise NoMotionError("this recording has no poses: record.channels needs `pose`")
    if not source.num_rows:
        raise EmptyPartError("no recorded time lies between `from` and `to`, so there is no motion")
    asked = [name for name in ("time", "body", *POSE, "present") if name in source.schema.names]
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in asked}
    for chunk in source.chunks(list(columns)):
        for name, parts in columns.items():
            parts.append(to_numpy(chunk[name]))
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    # every frame has the same bodies in the same order
    names = tuple(dict.fromkeys(joined["body"].tolist()))
    poses = np.stack([joined[name] for name in POSE], axis=-1).reshape(-1, len(names), 7)
    present = np.ones(poses.shape[:2], dtype=bool)
    if "present" in joined:
        present = joined["present"].astype(bool).reshape(present.shape)
        frames, bodies = np.nonzero(present[:-1] & ~present[1:])
        poses[frames + 1, bodies] = poses[frames, bodies]
    return Motion(names, joined["time"][:: len(names)], poses, present)


def near(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same rotations (n, 4), each with the sign that is nearer to the one before."""
    turned = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(turned) % 2 == 1, -1.0, 1.0)])
    return np.asarray(q * signs[:, None])


ENDLESS = ("plane", "heightfield")
"""Shapes that no visual stands for: they are shown beside the visuals of their body."""


# without a colour of their own: as the page draws them
STATIC_COLOR = "#8d979f"
PALETTE = ("#e2883a", "#4f93c4", "#d9c36a", "#5aa78c", "#c46a6a", "#8f86c9", "#b9c4cc")


# half the edge of the square that stands for a plane, by the size of what starts above it
PLANE_REACH = 7.0


def pictures_of(recording: Recording, motion: Motion) -> dict[str, list[dict[str, Any]]]:
    """What every body of the scene looks like, by name: its visuals, or its shapes without any.

    Each has its `color` as numbers of sRGB, a visual that shows a mesh of the scene its `vertices`
    and `faces`, and a plane what of it is shown: `middle` and `half`. Empty without the scene.
    """
    scene = recording.scene or {}
    meshes = scene.get("meshes", {})
    found = {}
    moving = 0
    for body in scene.get("bodies", []):
        shapes, visuals = list(body.get("shapes", [])), body.get("visuals", [])
        if visuals:
            shapes = [shape for shape in shapes if shape["type"] in ENDLESS]
            shapes += [{**meshes.get(visual.get("mesh"), {}), **visual} for visual in visuals]
        static = body.get("type") == "static"
        usual = STATIC_COLOR if static else PALETTE[moving % len(PALETTE)]
        moving += not static
        found[body["name"]] = [{**shape, "color": _color(shape, usual)} for shape in shapes]
    _fit_planes(found, motion)
    return found


def _fit_planes(pictures: dict[str, list[dict[str, Any]]], motion: Motion) -> None:
    """Planes are as large as what starts above them asks for, and below it."""
    starts = dict(zip(motion.names, motion.poses[0], strict=True))
    reaches = {name: max(map(reach, pictures.get(name, [])), default=0.0) for name in starts}
    seen = [(starts[name][:3], size) for name, size in reaches.items() if size > 0.0]
    if not seen:
        return
    low = np.min([p - size for p, size in seen], axis=0)
    high = np.max([p + size for p, size in seen], axis=0)
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    for name, pose in starts.items():
        for shape in pictures.get(name, []):
            if shape["type"] != "plane":
                continue
            turn = rotation(shape.get("orientation", (1.0, 0.0, 0.0, 0.0)))
            at = rotation(pose[3:]).T @ (middle - pose[:3]) - shape.get("position", (0.0, 0.0, 0.0))
            shape["middle"] = (turn.T @ at).tolist()
            n = np.asarray(shape["normal"]) / np.linalg.norm(shape["normal"])
            away = abs(float(n @ shape["middle"]) - shape.get("offset", 0.0))
            shape["half"] = PLANE_REACH * (size + away)


def _color(shape: dict[str, Any], usual: str) -> Color:
    """The colour of a shape, or the usual one where it has none that is known."""
    return rgb(shape.get("color") or usual) or rgb(usual) or (1.0, 1.0, 1.0)


def linear(color: Color) -> Color:
    """A colour of sRGB in linear light.

    c <= 0.04045: c / 12.92, else ((c + 0.055) / 1.055)^2.4     (IEC 61966-2-1)
    """
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return (red, green, blue)
