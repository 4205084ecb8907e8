"""Scenes that name mesh files: what the files hold is written into the scene.

    {"type": "mesh", "file": "part.stl", "scale": 0.001}
        becomes {"type": "mesh", "vertices": [...], "faces": [...]}

So do shapes of the type `convex`, which take the points of a file, and the entries of `meshes`.
Whether the scene is valid is said by the schemas.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cardan.schemas import Fault, SceneInvalid
from cardan.schemas.pointer import to_pointer
from cardan.service.importing.files import Folder
from cardan.service.importing.mesh_formats import MESH_ENDINGS, meshes_of

MAX_MESH_BYTES = 64 * 1024**2
GIVEN = ("vertices", "faces", "points")
"""What a file stands for."""

Reference = tuple[list[str | int], dict[str, Any]]
"""Place of an object with a `file` in a document, and the object."""


def with_meshes(document: dict[str, Any], folder: Folder, base: Path) -> dict[str, Any]:
    """The document with the vertices of all files that it names; itself, if it names none.

    `base`: the folder that relative paths start from. Raises SceneInvalid with a fault for each
    file that is missing, outside of `folder`, too large, or no mesh.
    """
    if next(_references(document), None) is None:
        return document
    document = copy.deepcopy(document)
    faults: list[Fault] = []
    for place, part in _references(document):
        try:
            _read_into(part, folder, base)
        except _FileError as error:
            pointer = to_pointer([*place, error.field])
            got = part.get(error.field)
            shown = got if isinstance(got, (str, int, float, bool)) else None
            faults.append(Fault(pointer=pointer, code=error.code, message=str(error), got=shown))
    if faults:
        raise SceneInvalid(faults)
    return document


class _FileError(Exception):
    """A file that cannot be written into the scene."""

    def __init__(self, field: str, code: str, message: str) -> None:
        super().__init__(message)
        self.field, self.code = field, code


def _references(document: Any) -> Iterator[Reference]:
    if not isinstance(document, dict):
        return
    bodies, meshes = document.get("bodies"), document.get("meshes")
    for i, body in enumerate(bodies if isinstance(bodies, list) else ()):
        shapes = body.get("shapes") if isinstance(body, dict) else None
        for j, shape in enumerate(shapes if isinstance(shapes, list) else ()):
            if (
                isinstance(shape, dict)
                and "file" in shape
                and shape.get("type") in ("mesh", "convex")
            ):
                yield ["bodies", i, "shapes", j], shape
    for name, mesh in meshes.items() if isinstance(meshes, dict) else ():
        if isinstance(mesh, dict) and "file" in mesh:
            yield ["meshes", name], mesh


def _read_into(part: dict[str, Any], folder: Folder, base: Path) -> None:
    """Replace `file` and `scale` of a shape or mesh by what the file holds."""
    double = next((field for field in GIVEN if field in part), None)
    if double is not None:
        raise _FileError("file", "both", f"`file` stands for `{double}`: give one of the two.")
    scale = _scale_of(part.get("scale", 1.0))
    vertices, faces = _read(part["file"], folder, base)
    vertices = vertices * scale
    # a mirrored mesh keeps its outside
    faces = faces[:, ::-1] if np.prod(scale) < 0.0 else faces
    del part["file"]
    part.pop("scale", None)
    if part.get("type") == "convex":
        part["points"] = np.unique(vertices, axis=0).tolist()
    else:
        part["vertices"], part["faces"] = vertices.tolist(), faces.tolist()


def _scale_of(scale: Any) -> np.ndarray:
    values = scale if isinstance(scale, list) and len(scale) == 3 else [scale] * 3
    finite = all(type(one) in (int, float) and np.isfinite(one) and one != 0 for one in values)
    if not finite:
        raise _FileError(
            "scale", "out_of_range", "`scale` must be a number other than 0, or three of them."
        )
    return np.array(values, np.float64)


def _read(name: Any, folder: Folder, base: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in the unit of the file and faces (m, 3)."""
    if not isinstance(name, str):
        raise _FileError("file", "not_a_text", "`file` must be the path of a mesh file.")
    path = folder.find(name, base)
    if path is None:
        raise _FileError("file", "file_missing", f"There is no file '{name}' where the scene is.")
    if path.suffix.lower() not in MESH_ENDINGS:
        allowed = ", ".join(MESH_ENDINGS)
        raise _FileError("file", "unknown_format", f"'{name}' is no mesh file: {allowed} are read.")
    if path.stat().st_size > MAX_MESH_BYTES:
        raise _FileError(
            "file", "too_large", f"'{name}' has more than {MAX_MESH_BYTES // 1024**2} MiB."
        )
    try:
        meshes = meshes_of(path)
    except ImportError:
        raise _FileError(
            "file", "not_installed", "Mesh files need trimesh: pip install 'cardan[import]'."
        ) from None
    if not meshes:
        raise _FileError("file", "unreadable", f"'{name}' holds no triangles that can be read.")
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [
        np.asarray(m.faces, np.int64) + start for m, start in zip(meshes, starts, strict=False)
    ]
    vertices = [np.asarray(mesh.vertices, np.float64) for mesh in meshes]
    return np.concatenate(vertices), np.concatenate(faces)
