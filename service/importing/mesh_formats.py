"""Mesh files: those MuJoCo reads go as they are, others through trimesh where it is installed."""

import importlib.util
from pathlib import Path
from typing import Any

COMPILED = (".stl", ".obj", ".msh", ".png", ".bin")
"""Endings MuJoCo reads itself (the last two are height maps)."""
CONVERTED = (".dae", ".ply", ".glb", ".gltf", ".off")


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

    try:
        mesh: Any = trimesh.load(path, force="mesh")
        return bytes(mesh.export(file_type="stl")), ".stl"
    except (ValueError, ImportError, OSError, KeyError, AttributeError):
        # COLLADA needs a further package, and broken files are many
        return None
