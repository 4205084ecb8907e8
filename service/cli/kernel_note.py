"""A note that these kernels are compiled, so that a start need not load them twice to find out.

The engine alone knows whether its cache is complete, and asking it costs seconds; the note keeps
which file the engine leaves when it is, for the engine's sources and the processor as they are now.
"""

import hashlib
import os
import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from cardan.service.files import replace_file

PROCESSOR = Path("/proc/cpuinfo")
# what differs between processors, and stays the same on one
TRAITS = ("vendor_id", "model name", "flags", "CPU implementer", "CPU part", "Features")


def is_current() -> bool:
    """Whether the kernels of the engine's present files were compiled and are still there."""
    try:
        mark = _path().read_text(encoding="utf-8")
    except OSError:
        return False
    return Path(mark).is_file()


def write(mark: str) -> None:
    """Note the file that the engine leaves; a folder that cannot be written is left alone."""
    path = _path()
    try:
        # the folder of the kernels is used only while nobody else can write to it
        for folder in reversed([path.parent, *path.parent.parents]):
            folder.mkdir(mode=0o755, exist_ok=True)
        replace_file(path, mark.encode())
    except OSError:
        return


def _path() -> Path:
    """The note of what kernels depend on: files, compiler, interpreter, processor, folder."""
    digest = hashlib.sha256()
    # importing the engine is what this file spares
    found = find_spec("cardan.engine")
    root = Path(str(found and found.origin)).parent
    for path in sorted(root.rglob("*.py")):
        state = path.stat()
        digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    digest.update(f"{metadata.version('numba')} {sys.version} {_processor()}".encode())
    for name in ("CARDAN_COMPILER", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
        digest.update(f"{name}={os.environ.get(name)}\n".encode())
    chosen = os.environ.get("CARDAN_KERNEL_CACHE")
    user = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    base = Path(chosen) if chosen else Path(user) / "cardan" / "kernels"
    return base / "notes" / digest.hexdigest()[:16]


def _processor() -> str:
    try:
        lines = PROCESSOR.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    traits = {line for line in lines if line.partition("\t")[0].rstrip() in TRAITS}
    return "\n".join(sorted(traits)) or platform.machine()
