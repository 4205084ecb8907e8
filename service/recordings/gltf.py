"""A recording as binary glTF: every body a node with the triangles one sees of it, moved in time.

glTF has y up: a node above the bodies turns W, which has z up. Single precision. Quaternions are
[x, y, z, w]; of the two that mean one rotation the nearer one follows, since players interpolate.
Colours are in linear light. While a body is absent its scale is zero.

Source: Khronos Group 2021, glTF 2.0 Specification, sections 3.6, 3.11 and 4.4
"""

import json
import math
import struct
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cardan.service.recordings.motion import Motion, linear, motion_of, near, pictures_of
from cardan.service.recordings.sources import Recording
from cardan.service.recordings.triangles import triangles

FLOAT, UNSIGNED_INT = 5126, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
HALF = math.sqrt(0.5)
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
# what tells two shapes with the same triangles apart
LOOK = {"color", "opacity", "material", "collision_group", "collision_mask"}


class _Buffer:
    """The binary part, as it grows."""

    def __init__(self) -> None:
        self.parts: list[NDArray[Any]] = []
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.size = 0

    def add(self, values: NDArray[Any], target: int | None = None, *, bounds: bool = False) -> int:
        """Append an array (n,) or (n, k) of 4-byte numbers; the number of its accessor."""
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        width = 1 if values.ndim == 1 else values.shape[1]
        accessor: dict[str, Any] = {
            "bufferView": len(self.views),
            "componentType": UNSIGNED_INT if values.dtype == np.uint32 else FLOAT,
            "count": len(values),
            "type": KINDS[width],
        }
        if bounds:
            table = values.reshape(len(values), width)
            accessor["min"], accessor["max"] = table.min(0).tolist(), table.max(0).tolist()
        self.parts.append(np.ascontiguousarray(values))
        self.views.append(view)
        self.accessors.append(accessor)
        self.size += values.nbytes
        return len(self.accessors) - 1


def write_gltf(recording: Recording, sink: IO[bytes]) -> None:
    """Write the file. Raises NoMotionError."""
    motion = motion_of(recording)
    buffer = _Buffer()
    document: dict[str, Any] = {
        "asset": {
            "version": "2.0",
            "generator": "Cardan",
            "extras": {"cardan": dict(recording.metadata)},
        },
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [_root(len(motion.names))],
        "meshes": [],
        "materials": [],
    }
    pictures = pictures_of(recording, motion)
    document["nodes"] += [_node(*each) for each in zip(motion.names, motion.poses[0], strict=True)]
    for body in np.nonzero(~motion.present[0])[0]:
        document["nodes"][body + 1]["scale"] = [0.0, 0.0, 0.0]
    meshes = _Meshes(buffer, document)
    for number, name in enumerate(motion.names):
        node = document["nodes"][number + 1]
        # what shows a mesh of the scene is a node of its own, so that all who do share it
        sharing = [part for part in pictures.get(name, []) if "mesh" in part]
        parts = [part for part in pictures.get(name, []) if "mesh" not in part]
        if parts:
            node["mesh"] = meshes.of_body(name, parts)
        if sharing:
            first = len(document["nodes"])
            node["children"] = [*range(first, first + len(sharing))]
            document["nodes"] += [meshes.shared(part) for part in sharing]
    document["animations"] = [_animation(buffer, motion)]
    document["accessors"], document["bufferViews"] = buffer.accessors, buffer.views
    document["buffers"] = [{"byteLength": buffer.size}]
    kept = {key: value for key, value in document.items() if value != []}
    _write_chunks(json.dumps(kept, separators=(",", ":")).encode(), buffer, sink)


def _root(bodies: int) -> dict[str, Any]:
    return {"name": "W", "rotation": [-HALF, 0.0, 0.0, HALF], "children": [*range(1, bodies + 1)]}


def _node(name: str, pose: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "name": name,
        "translation": pose[:3].tolist(),
        "rotation": np.roll(pose[3:], -1).tolist(),
    }


class _Meshes:
    """Meshes of the document, and their materials."""

    def __init__(self, buffer: _Buffer, document: dict[str, Any]) -> None:
        self._buffer = buffer
        self._meshes: list[dict[str, Any]] = document["meshes"]
        self._materials: list[dict[str, Any]] = document["materials"]
        self._looks: dict[str, int] = {}
        self._surfaces: dict[str, dict[str, Any]] = {}
        self._meshes_of_scene: dict[str, dict[str, Any]] = {}
        self._known: dict[tuple[str, int], int] = {}

    def of_body(self, name: str, parts: list[dict[str, Any]]) -> int:
        """The mesh of a body, in its frame."""
        return self._add(name, [self._primitive(part) for part in parts])

    def _primitive(self, part: dict[str, Any]) -> dict[str, Any]:
        """The triangles of a shape, which all shapes that are alike share, in its colour."""
        key = json.dumps({k: v for k, v in part.items() if k not in LOOK}, sort_keys=True)
        if key not in self._surfaces:
            self._surfaces[key] = self._surface(*triangles(part))
        return {**self._surfaces[key], "material": self._material(part)}

    def shared(self, part: dict[str, Any]) -> dict[str, Any]:
        """A node that shows a mesh of the scene; visuals of one mesh and colour show the same."""
        name, material = part["mesh"], self._material(part)
        if name not in self._meshes_of_scene:
            vertices, faces = np.asarray(part["vertices"], float), np.asarray(part["faces"])
            self._meshes_of_scene[name] = self._surface(vertices, faces)
        if (name, material) not in self._known:
            primitive = {**self._meshes_of_scene[name], "material": material}
            self._known[name, material] = self._add(name, [primitive])
        pose = [*part.get("position", (0, 0, 0)), *part.get("orientation", (1, 0, 0, 0))]
        return {**_node(name, np.asarray(pose, float)), "mesh": self._known[name, material]}

    def _add(self, name: str, primitives: list[dict[str, Any]]) -> int:
        self._meshes.append({"name": name, "primitives": primitives})
        return len(self._meshes) - 1

    def _surface(self, vertices: NDArray[Any], faces: NDArray[Any]) -> dict[str, Any]:
        points = self._buffer.add(vertices.astype(np.float32), ARRAY_BUFFER, bounds=True)
        corners = self._buffer.add(faces.reshape(-1).astype(np.uint32), ELEMENT_ARRAY_BUFFER)
        return {"attributes": {"POSITION": points}, "indices": corners}

    def _material(self, part: dict[str, Any]) -> int:
        """The number of a material of this colour."""
        opacity = float(part.get("opacity", 1.0))
        look: dict[str, Any] = {
            "pbrMetallicRoughness": {
                "baseColorFactor": [*linear(part["color"]), opacity],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.8,
            }
        }
        if opacity < 1.0:
            look["alphaMode"] = "BLEND"
        number = self._looks.setdefault(json.dumps(look), len(self._materials))
        if number == len(self._materials):
            self._materials.append(look)
        return number


def _animation(buffer: _Buffer, motion: Motion) -> dict[str, Any]:
    times = buffer.add(motion.times.astype(np.float32), bounds=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    for number in range(len(motion.names)):
        poses, present = motion.poses[:, number], motion.present[:, number]
        outputs = {
            "translation": (poses[:, :3], "LINEAR"),
            "rotation": (near(np.roll(poses[:, 3:], -1, 1)), "LINEAR"),
        }
        if not present.all():
            outputs["scale"] = (np.repeat(present[:, None], 3, axis=1), "STEP")
        for path, (values, interpolation) in outputs.items():
            output = buffer.add(values.astype(np.float32))
            channels.append(
                {"sampler": len(samplers), "target": {"node": number + 1, "path": path}}
            )
            samplers.append({"input": times, "output": output, "interpolation": interpolation})
    return {"name": "motion", "samplers": samplers, "channels": channels}


def _write_chunks(text: bytes, buffer: _Buffer, sink: IO[bytes]) -> None:
    text += b" " * (-len(text) % 4)
    sink.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + buffer.size))
    sink.write(struct.pack("<I4s", len(text), b"JSON") + text)
    sink.write(struct.pack("<I4s", buffer.size, b"BIN\0"))
    for part in buffer.parts:
        sink.write(part.tobytes())
