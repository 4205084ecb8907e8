"""Mesh files: those MuJoCo reads go as they are, others through trimesh where it is installed."""

import importlib.util
import io
from pathlib import Path
from typing import Any

COMPILED = (".stl", ".obj", ".msh", ".png", ".bin")
"""Endings MuJoCo reads itself (the last two are height maps)."""
CONVERTED = (".dae", ".ply", ".glb", ".off")


def as_compiled_format(path: Path) -> tuple[bytes, str] | None:
    """Bytes and ending of a file MuJoCo can read; None where there is no way to make one."""
    ending = path.suffix.lower()
    if ending in COMPILED:
        return path.read_bytes(), ending
    if ending in CONVERTED and importlib.util.find_spec("trimesh") is not None:
        return _through_trimesh(path)
    return None


def _through_trimesh(path: Path) -> tuple[bytes, str] | None:
    import trimesh

    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        return None
    try:
        # from bytes: a file that names others (pictures, buffers) gets none of them
        kind = path.suffix[1:].lower()
        mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh")
        return bytes(mesh.export(file_type="stl")), ".stl"
    except Exception:
        # readers of many formats, each with errors of its own: a broken file is one without a mesh
        return None
