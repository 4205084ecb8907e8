"""Mesh files: those that MuJoCo reads are passed on, others converted by trimesh if installed."""

import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np

from cardan.service.importing.thinning import thinned

COMPILED = (".stl", ".obj", ".msh", ".png", ".bin")
"""Endings MuJoCo reads itself (the last two are height maps)."""
STL_HEADER, STL_FACE = 80, 50
"""Bytes before the number of faces of a binary STL, and of each face."""
STL_ROW = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("color", "<u2")])
"""A face of a binary STL."""
FLAT = 1e-6
"""Least thickness of a mesh as a share of its length: a flatter one has no hull."""
CONVERTED = (".dae", ".ply", ".glb", ".off")
MESH_ENDINGS = (".stl", ".obj", *CONVERTED)
"""Endings of triangle meshes that trimesh reads."""
MAX_STL_FACES = 200_000
"""Faces of an STL beyond which MuJoCo refuses it."""
MAX_PICTURE_VERTICES = 40_000
"""Vertices beyond which a mesh that is only drawn is thinned before it is read."""
WHITE = (1.0, 1.0, 1.0)
"""What readers of formats with colours report for a file without any."""
Color = tuple[float, float, float]


def why_not_read(path: Path) -> str:
    """What is wrong with a mesh file that is refused."""
    flaw = stl_flaw(path.read_bytes()) if path.suffix.lower() == ".stl" else None
    return flaw or "has a format that is not read (STL, OBJ are)"


def stl_flaw(data: bytes) -> str | None:
    """Why an STL can neither collide nor be drawn; None: it can."""
    if _is_text(data):
        return None if b"vertex" in data else "has no triangles"
    faces = int.from_bytes(data[STL_HEADER : STL_HEADER + 4], "little")
    if len(data) != STL_HEADER + 4 + STL_FACE * faces:
        return "has another size than its number of triangles says"
    if faces == 0:
        return "has no triangles"
    rows = np.frombuffer(data, STL_ROW, faces, STL_HEADER + 4)
    corners = rows["corners"].reshape(-1, 3).astype(np.float64)
    if not np.isfinite(corners).all():
        return "has coordinates that are not finite"
    spread = np.linalg.eigvalsh(np.cov(corners.T))
    return "is flat" if spread[0] <= FLAT**2 * spread[2] else None


def as_compiled_format(path: Path) -> tuple[bytes, str] | None:
    """Bytes and ending of a file MuJoCo can read; None where there is no way to make one."""
    ending = path.suffix.lower()
    if ending in COMPILED:
        data = path.read_bytes()
        if ending == ".stl" and stl_flaw(data) is not None:
            return None
        if ending == ".stl" and _is_text(data):
            return _through_trimesh(path) if importlib.util.find_spec("trimesh") else None
        return data, ending
    if ending in CONVERTED and importlib.util.find_spec("trimesh") is not None:
        return _through_trimesh(path)
    return None


def as_pictures(path: Path) -> list[tuple[bytes, str, Color | None]]:
    """Bytes, ending and colour of a file that is only drawn, a part for each of its colours.

    A file without colours, and one that MuJoCo reads as it is, has one part and no colour.
    """
    ending = path.suffix.lower()
    large = ending == ".stl" and path.stat().st_size > STL_FACE * MAX_STL_FACES
    if (ending in CONVERTED or large) and importlib.util.find_spec("trimesh") is not None:
        return _parts(path)
    converted = as_compiled_format(path)
    return [] if converted is None else [(*converted, None)]


def _parts(path: Path) -> list[tuple[bytes, str, Color | None]]:
    import trimesh

    by_color: dict[Color | None, list[Any]] = {}
    for mesh in meshes_of(path):
        by_color.setdefault(_color_of(mesh), []).append(mesh)
    if set(by_color) == {WHITE}:
        by_color = {None: by_color[WHITE]}
    found = []
    for color, meshes in by_color.items():
        joined: Any = trimesh.util.concatenate(meshes)
        if len(joined.vertices) > MAX_PICTURE_VERTICES:
            vertices, faces, _ = thinned(
                np.asarray(joined.vertices, np.float64),
                np.asarray(joined.faces, np.int64),
                MAX_PICTURE_VERTICES,
            )
            joined = trimesh.Trimesh(vertices, faces, process=False)
        found.append((bytes(joined.export(file_type="stl")), ".stl", color))
    return found


def meshes_of(path: Path) -> list[Any]:
    """The meshes of a file, each in the frame of the file."""
    import trimesh

    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        return []
    try:
        # from bytes: a file that names others (pictures, buffers) gets none of them
        loaded: Any = trimesh.load(io.BytesIO(data), file_type=path.suffix[1:].lower())
        meshes = loaded.dump() if isinstance(loaded, trimesh.Scene) else [loaded]
        found = [mesh for mesh in meshes if len(getattr(mesh, "faces", ()))]
        return found if all(_is_whole(mesh) for mesh in found) else []
    except Exception:
        # each reader raises errors of its own: a broken file counts as one without meshes
        return []


def _is_whole(mesh: Any) -> bool:
    """Whether vertices have three coordinates, and faces only corners that exist."""
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    return bool(vertices.shape[1:] == (3,) and faces.min() >= 0 and faces.max() < len(vertices))


def _color_of(mesh: Any) -> Color | None:
    """Red, green and blue of a mesh, 0 to 1."""
    material = getattr(mesh.visual, "material", None)
    value = getattr(material, "main_color", None)
    if value is None:
        value = getattr(mesh.visual, "main_color", None)
    if value is None or not mesh.visual.defined:
        return None
    red, green, blue = (round(float(part) / 255.0, 4) for part in value[:3])
    return (red, green, blue)


def _is_text(stl: bytes) -> bool:
    """Whether an STL is the text form, which MuJoCo does not read: binary ones may begin alike."""
    faces = int.from_bytes(stl[STL_HEADER : STL_HEADER + 4], "little")
    binary = len(stl) == STL_HEADER + 4 + STL_FACE * faces
    return not binary and stl.lstrip()[:5].lower() == b"solid"


def _through_trimesh(path: Path) -> tuple[bytes, str] | None:
    import trimesh

    meshes = meshes_of(path)
    if not meshes:
        return None
    joined: Any = trimesh.util.concatenate(meshes)
    return bytes(joined.export(file_type="stl")), ".stl"
