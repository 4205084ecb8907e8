"""A recording as the text of a USD layer: every body a transform in time with the shapes of it.

SI units (metersPerUnit 1), z up as in W. Time codes count recorded frames, so that usdview shows
one after the other; timeCodesPerSecond is their rate. Spheres, boxes, capsules, cylinders, cones
and ellipsoids are primitives of UsdGeom, all other shapes are meshes. Colours are in linear light.
While a body is absent it is invisible.

Source: Pixar 2021, USD Specification: USDA file format, UsdGeom
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cardan.service.recordings.motion import Motion, linear, motion_of, near, pictures_of
from cardan.service.recordings.sources import Recording
from cardan.service.recordings.triangles import triangles

Array = NDArray[np.float64]
FORBIDDEN = re.compile(r"[^A-Za-z0-9_]")
# of a motion that has one frame [1/s]
LONE_RATE = 24.0
TAB = "    "
OPS = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"{scale}]'
# half the box about shapes of radius 1 and length 2
UNIT_BOX = np.ones(3)


def write_usda(recording: Recording, sink: IO[bytes]) -> None:
    """Write the layer. Raises NoMotionError."""
    motion = motion_of(recording)
    pictures, codes = pictures_of(recording, motion), time_codes(motion.times)
    title = str((recording.scene or {}).get("name", "")) or "Cardan"
    for line in _header(motion.times, codes, title):
        sink.write(f"{line}\n".encode())
    sink.write(b'\ndef Xform "World" (\n    kind = "group"\n)\n{\n')
    names = prim_names(motion.names)
    for number, name in enumerate(motion.names):
        lines = _body(motion, number, names[number], codes)
        sink.write("".join(f"{TAB}{line}\n" for line in lines).encode())
        for count, shape in enumerate(pictures.get(name, [])):
            lines = _shape(shape, f"shape_{count}")
            sink.write("".join(f"{2 * TAB}{line}\n" for line in lines).encode())
        sink.write(f"{TAB}}}\n\n".encode())
    sink.write(b"}\n")


def rate_of(times: Array) -> float:
    """Frames per second, by the median interval of their times [s]."""
    intervals = np.diff(times)
    intervals = intervals[intervals > 0.0]
    return float(round(1.0 / np.median(intervals), 6)) if len(intervals) else LONE_RATE


def time_codes(times: Array) -> list[str]:
    """The time code of each time [s], as text."""
    rate = rate_of(times)
    return [_number(round(time * rate, 6)) for time in times.tolist()]


def prim_names(names: Sequence[str]) -> list[str]:
    """Identifiers of USD for names of bodies, all different."""
    found: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for name in names:
        plain = FORBIDDEN.sub("_", name) or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        unique = plain
        while unique in taken:
            counts[plain] = counts.get(plain, 1) + 1
            unique = f"{plain}_{counts[plain]}"
        taken.add(unique)
        found.append(unique)
    return found


def _header(times: Array, codes: Sequence[str], title: str) -> list[str]:
    rate = _number(rate_of(times))
    return [
        "#usda 1.0",
        "(",
        f"{TAB}doc = {_text(title)}",
        f'{TAB}defaultPrim = "World"',
        f"{TAB}startTimeCode = {codes[0]}",
        f"{TAB}endTimeCode = {codes[-1]}",
        f"{TAB}timeCodesPerSecond = {rate}",
        f"{TAB}framesPerSecond = {rate}",
        f"{TAB}metersPerUnit = 1",
        f'{TAB}upAxis = "Z"',
        ")",
    ]


def _body(motion: Motion, number: int, prim: str, codes: Sequence[str]) -> Iterator[str]:
    """The beginning of the prim of a body; the caller adds its shapes, and closes it."""
    poses = motion.poses[:, number]
    yield f'def Xform "{prim}" ('
    yield f"{TAB}displayName = {_text(motion.names[number])}"
    yield ")"
    yield "{"
    columns = {
        "double3 xformOp:translate": poses[:, :3],
        "quatd xformOp:orient": near(poses[:, 3:]),
    }
    for name, values in columns.items():
        yield f"{TAB}{name}.timeSamples = {{"
        for code, value in zip(codes, values.tolist(), strict=True):
            yield f"{2 * TAB}{code}: {_tuple(value)},"
        yield f"{TAB}}}"
    yield TAB + OPS.format(scale="")
    present = motion.present[:, number].tolist()
    if not all(present):
        yield f"{TAB}token visibility.timeSamples = {{"
        for code, here in zip(codes, present, strict=True):
            yield f'{2 * TAB}{code}: "{"inherited" if here else "invisible"}",'
        yield f"{TAB}}}"
    yield ""


def _shape(shape: Mapping[str, Any], prim: str) -> Iterator[str]:
    """The prim of a shape, in the frame of its body."""
    found = _primitive(shape)
    if found is None:
        yield from _prim("Mesh", prim, _mesh(shape), shape)
        return
    kind, lines, scale = found
    q = np.asarray(shape.get("orientation", (1.0, 0.0, 0.0, 0.0)), float)
    placed = [
        *lines,
        f"double3 xformOp:translate = {_tuple(shape.get('position', (0.0, 0.0, 0.0)))}",
        f"quatd xformOp:orient = {_tuple((q / np.linalg.norm(q)).tolist())}",
    ]
    if scale is not None:
        placed.append(f"double3 xformOp:scale = {_tuple(scale)}")
    placed.append(OPS.format(scale="" if scale is None else ', "xformOp:scale"'))
    yield from _prim(kind, prim, placed, shape)


def _prim(kind: str, prim: str, lines: Sequence[str], shape: Mapping[str, Any]) -> Iterator[str]:
    yield f'def {kind} "{prim}"'
    yield "{"
    yield from (f"{TAB}{line}" for line in lines)
    yield f"{TAB}color3f[] primvars:displayColor = [{_tuple(linear(shape['color']))}]"
    opacity = float(shape.get("opacity", 1.0))
    if opacity < 1.0:
        yield f"{TAB}float[] primvars:displayOpacity = [{_number(opacity)}]"
    yield "}"


def _primitive(shape: Mapping[str, Any]) -> tuple[str, list[str], Sequence[float] | None] | None:
    """Kind, attributes and scale of the primitive that a shape is; None: it is a mesh."""
    match shape["type"]:
        case "box":
            return "Cube", ["double size = 1", _extent(0.5 * UNIT_BOX)], shape["size"]
        case "sphere":
            r = float(shape["radius"])
            return "Sphere", [f"double radius = {_number(r)}", _extent(r * UNIT_BOX)], None
        case "ellipsoid":
            return "Sphere", ["double radius = 1", _extent(UNIT_BOX)], shape["radii"]
        case "capsule" | "cylinder" | "cone" as name:
            r, length = float(shape["radius"]), float(shape["length"])
            half = 0.5 * length + (r if name == "capsule" else 0.0)
            lines = [
                'uniform token axis = "Z"',
                f"double radius = {_number(r)}",
                f"double height = {_number(length)}",
                _extent(np.array([r, r, half])),
            ]
            return name.capitalize(), lines, None
    return None


def _mesh(shape: Mapping[str, Any]) -> list[str]:
    """Attributes of a mesh, in the frame of the body."""
    vertices, faces = triangles(shape)
    counts, corners = ", ".join(["3"] * len(faces)), ", ".join(map(str, faces.reshape(-1).tolist()))
    return [
        f"float3[] extent = [{_tuple(vertices.min(0))}, {_tuple(vertices.max(0))}]",
        f"point3f[] points = [{', '.join(map(_tuple, vertices.tolist()))}]",
        f"int[] faceVertexCounts = [{counts}]",
        f"int[] faceVertexIndices = [{corners}]",
        'uniform token subdivisionScheme = "none"',
    ]


def _extent(half: Array) -> str:
    return f"float3[] extent = [{_tuple(-half)}, {_tuple(half)}]"


def _tuple(values: Sequence[float] | Array) -> str:
    return f"({', '.join(_number(float(value)) for value in values)})"


def _number(value: float) -> str:
    """The shortest text that is read as the same double."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _text(value: str) -> str:
    """A quoted text."""
    return json.dumps(value, ensure_ascii=False)
