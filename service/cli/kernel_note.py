"""A note that these kernels are compiled, so that a start need not load them twice to find out.

The engine alone knows whether its cache is complete, and asking it costs a second; the note says
which cache folder belonged to the engine's files as they are now.
"""

import hashlib
import os
import sys
from importlib import metadata
from importlib.resources import files
from pathlib import Path


def is_current() -> bool:
    """Whether the kernels of the engine's present files were compiled and are still there."""
    try:
        folder = Path(_path().read_text(encoding="utf-8"))
    except OSError:
        return False
    return (folder / "complete").is_file()


def write(cache_folder: str) -> None:
    """Note where the kernels are; a cache folder that cannot be written is left alone."""
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(cache_folder, encoding="utf-8")
    except OSError:
        return


def _path() -> Path:
    """The note of what the kernels depend on: files, compiler, interpreter, chosen folder."""
    digest = hashlib.sha256()
    root = Path(str(files("engine")))
    for path in sorted(root.rglob("*.py")):
        state = path.stat()
        digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    digest.update(f"{metadata.version('numba')} {sys.version}".encode())
    chosen = os.environ.get("CARDAN_KERNEL_CACHE")
    user = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    base = Path(chosen) if chosen else Path(user) / "cardan" / "kernels"
    return base / "notes" / digest.hexdigest()[:16]
