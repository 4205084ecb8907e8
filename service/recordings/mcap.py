"""A recording as MCAP with the JSON schemas of Foxglove: what it shows opens without a plugin.

/tf          foxglove.FrameTransforms, every frame: world -> body
/scene       foxglove.SceneUpdate, once: the triangles of all shapes, each in the frame of its body
/scene/NAME  the same of a body that is absent at times: there when it appears, deleted when it goes
/energy, /momentum   the columns of these tables, to plot

After a jump in time Foxglove takes the last message of each topic alone: hence one for each body
that is absent at times.

Source: mcap.dev/spec; docs.foxglove.dev/docs/visualization/message-schemas
"""

import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from mcap.writer import CompressionType, Writer
from numpy.typing import NDArray

from cardan.service.recordings.columns import meaning_of, unit_of
from cardan.service.recordings.encoders import dump_json
from cardan.service.recordings.motion import Motion, motion_of, pictures_of
from cardan.service.recordings.sources import Recording, Source
from cardan.service.recordings.tables import to_numpy
from cardan.service.recordings.triangles import triangles

WORLD = "world"
PLOTTED = ("energy", "momentum")
# of what a deletion says: one entity, not all
MATCHING_ID = 0
NUMBER, TEXT = {"type": "number"}, {"type": "string"}


def _object(title: str, **properties: Any) -> dict[str, Any]:
    return {"title": title, "type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


MOMENT = _object("time", sec={"type": "integer"}, nsec={"type": "integer"})
VECTOR = _object("foxglove.Vector3", x=NUMBER, y=NUMBER, z=NUMBER)
TURN = _object("foxglove.Quaternion", x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
COLOR = _object("foxglove.Color", r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
TRANSFORMS = _object(
    "foxglove.FrameTransforms",
    transforms=_list(
        _object(
            "foxglove.FrameTransform",
            timestamp=MOMENT,
            parent_frame_id=TEXT,
            child_frame_id=TEXT,
            translation=VECTOR,
            rotation=TURN,
        )
    ),
)
SCENE = _object(
    "foxglove.SceneUpdate",
    deletions=_list(
        _object("foxglove.SceneEntityDeletion", timestamp=MOMENT, type={"type": "integer"}, id=TEXT)
    ),
    entities=_list(
        _object(
            "foxglove.SceneEntity",
            timestamp=MOMENT,
            frame_id=TEXT,
            id=TEXT,
            lifetime=MOMENT,
            frame_locked={"type": "boolean"},
            triangles=_list(
                _object(
                    "foxglove.TriangleListPrimitive",
                    pose=_object("foxglove.Pose", position=VECTOR, orientation=TURN),
                    points=_list(VECTOR),
                    color=COLOR,
                    colors=_list(COLOR),
                    indices=_list({"type": "integer"}),
                )
            ),
        )
    ),
)


def write_mcap(recording: Recording, sink: IO[bytes]) -> None:
    """Write the file, messages in the order of time. Raises NoMotionError."""
    motion = motion_of(recording)
    writer = Writer(sink, compression=CompressionType.ZSTD)
    writer.start(profile="", library="cardan")
    about = {"recording": dump_json(dict(recording.metadata)).decode()}
    writer.add_metadata("cardan", about)
    transforms = _channel(writer, "/tf", _register(writer, TRANSFORMS))
    entities, scene = _entities(recording, motion), _register(writer, SCENE)
    start = float(motion.times[0])
    lasting = np.all(motion.present, axis=0).tolist()
    shown = [entity for body, entity in entities.items() if lasting[body]]
    _add(writer, _channel(writer, "/scene", scene), 0, start, _update(start, shown))
    changing = {
        body: _channel(writer, f"/scene/{motion.names[body]}", scene)
        for body in entities
        if not lasting[body]
    }
    changes = _changes(motion)
    plots = {
        _channel(writer, f"/{name}", _register(writer, _schema(name, source))): _rows(source)
        for name in PLOTTED
        if (source := recording.sources.get(name)) is not None
    }
    for number, time in enumerate(motion.times.tolist()):
        _add(writer, transforms, number, time, _frame(motion, number))
        for body in np.nonzero(changes[number])[0].tolist():
            if body in changing:
                shown = [entities[body]] if motion.present[number, body] else []
                gone = [] if shown else [motion.names[body]]
                _add(writer, changing[body], number, time, _update(time, shown, gone))
        for channel, rows in plots.items():
            row = next(rows, None)
            if row is not None:
                _add(writer, channel, number, row["time"], row)
    writer.finish()  # type: ignore[no-untyped-call]


def _register(writer: Any, schema: dict[str, Any]) -> int:
    data = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **schema}).encode()
    return int(writer.register_schema(name=schema["title"], encoding="jsonschema", data=data))


def _channel(writer: Any, topic: str, schema: int) -> int:
    return int(writer.register_channel(topic=topic, message_encoding="json", schema_id=schema))


def _changes(motion: Motion) -> NDArray[np.bool_]:
    """(n, bodies): which bodies have just come or gone; at the first moment, which are there."""
    changed = motion.present.copy()
    changed[1:] = motion.present[1:] != motion.present[:-1]
    return changed


def _add(writer: Any, channel: int, sequence: int, time: float, message: Any) -> None:
    at = round(1e9 * time)
    writer.add_message(
        channel_id=channel, log_time=at, publish_time=at, sequence=sequence, data=dump_json(message)
    )


def _schema(name: str, source: Source) -> dict[str, Any]:
    columns = {
        column: {**NUMBER, "description": f"{meaning_of(name, column)} [{unit_of(name, column)}]"}
        for column in source.schema.names
    }
    return _object(f"cardan.{name}", **columns)


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    names = source.schema.names
    for chunk in source.chunks():
        columns = [to_numpy(chunk[name]).tolist() for name in names]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def _moment(time: float) -> dict[str, int]:
    seconds, rest = divmod(round(1e9 * time), 1_000_000_000)
    return {"sec": seconds, "nsec": rest}


def _vector(values: Any) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))


def _frame(motion: Motion, number: int) -> dict[str, Any]:
    at = _moment(float(motion.times[number]))
    return {
        "transforms": [
            {
                "timestamp": at,
                "parent_frame_id": WORLD,
                "child_frame_id": name,
                "translation": _vector(pose[:3]),
                "rotation": dict(zip("wxyz", map(float, pose[3:]), strict=True)),
            }
            for name, pose in zip(motion.names, motion.poses[number], strict=True)
        ]
    }


def _entities(recording: Recording, motion: Motion) -> dict[int, dict[str, Any]]:
    """What each body that has shapes looks like, by its number; a message adds when."""
    shapes = pictures_of(recording, motion)
    return {
        number: {
            "frame_id": name,
            "id": name,
            "lifetime": _moment(0.0),
            "frame_locked": True,
            "triangles": [_triangles(shape) for shape in shapes[name]],
        }
        for number, name in enumerate(motion.names)
        if shapes.get(name)
    }


def _update(
    time: float, shown: Sequence[dict[str, Any]], gone: Sequence[str] = ()
) -> dict[str, Any]:
    at = _moment(time)
    return {
        "deletions": [{"timestamp": at, "type": MATCHING_ID, "id": name} for name in gone],
        "entities": [{"timestamp": at, **entity} for entity in shown],
    }


def _triangles(shape: dict[str, Any]) -> dict[str, Any]:
    vertices, faces = triangles(shape)
    color = dict(zip("rgba", (*shape["color"], shape.get("opacity", 1.0)), strict=True))
    return {
        "pose": {"position": _vector((0, 0, 0)), "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
        "points": [_vector(vertex) for vertex in vertices],
        "color": color,
        "colors": [],
        "indices": faces.reshape(-1).astype(np.int64).tolist(),
    }
