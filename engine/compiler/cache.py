"""Storage of compiled kernels: files with checksums in folders that only their owner may write.

A process runs what it finds here. So the user's folder is used only while nobody else can write to
it, and a file only after its checksum is checked. Kernels that were installed with the package are
read from there and never written.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from cardan.engine.compiler import processor
from cardan.engine.compiler.mode import COMPILER, ORDINARY
from cardan.engine.compiler.source_hash import ENGINE, source_hash

CHECKSUM = 32  # bytes before the content of a file
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def checksum(content: bytes) -> bytes:
    """SHA-256: a machine may stop before a file is on its disk."""
    return hashlib.sha256(content).digest()


def is_private(status: os.stat_result) -> bool:
    """Whether only this user, or root, can write."""
    owners = {0, os.geteuid()}
    return status.st_uid in owners and not status.st_mode & OTHERS


def is_replaceable(status: os.stat_result) -> bool:
    """Whether everybody may replace what lies in a folder."""
    return bool(status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX


@cache
def may_be_used(folder: Path) -> bool:
    """Whether nobody else can write to the cache; warns, once, when somebody can.

    The folder itself must be private. Those above it may be a group's, but not everybody's, unless
    their sticky bit is set.
    """
    found = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    try:
        private = found != folder or is_private(found.stat())
        private = private and not any(is_replaceable(path.stat()) for path in found.parents)
    except OSError:
        return False
    if not private:
        warnings.warn(
            f"kernels are not cached: others can write to {folder}; make it private "
            "(chmod go-w) or choose another folder by CARDAN_KERNEL_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )
    return private


class Folder:
    """Files by name; `shipped` with the package ones are as trusted as its code, and only read."""

    def __init__(self, base: Path, *, shipped: bool = False) -> None:
        """Store the path; nothing is created."""
        self.base = base
        self.shipped = shipped

    def read(self, name: str) -> bytes | None:
        """Content of a file; None where it is missing, damaged or not private."""
        if not self.shipped and not may_be_used(self.base):
            return None
        try:
            with (self.base / name).open("rb") as file:
                if not self.shipped and not self._is_private(file.fileno(), name):
                    return None
                content = file.read()
        except OSError:
            return None
        found = content[CHECKSUM:]
        return found if checksum(found) == content[:CHECKSUM] else None

    def _is_private(self, file: int, name: str) -> bool:
        between = [self.base / part for part in PurePosixPath(name).parents]
        return is_private(os.fstat(file)) and all(is_private(path.stat()) for path in between)

    def write(self, name: str, content: bytes) -> None:
        """Store a file, if there is room; readers never see it half written."""
        if not self.is_writable():
            return
        path = self.base / name
        unfinished = None
        try:
            make_private(path.parent)
            handle, unfinished = tempfile.mkstemp(prefix=f"{path.name}-", dir=path.parent)
            with open(handle, "wb") as file:
                file.write(checksum(content) + content)
            Path(unfinished).chmod(0o644)
            Path(unfinished).replace(path)
        except OSError:
            if unfinished is not None:
                with suppress(OSError):
                    Path(unfinished).unlink()

    def has(self, name: str) -> bool:
        """Whether there is a file of this name that may be used."""
        return self.read(name) is not None

    def is_writable(self) -> bool:
        """Whether files can be stored."""
        if self.shipped or not may_be_used(self.base):
            return False
        try:
            make_private(self.base)
        except OSError:
            return False
        return os.access(self.base, os.W_OK)


def make_private(folder: Path) -> None:
    """Create a folder, and those above it that are missing, writable by nobody else.

    Raises OSError.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o755, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(folder)


def user_folder() -> Path:
    """`$CARDAN_KERNEL_CACHE`, or a folder in the user's cache; each other compiler has its own."""
    base = os.environ.get("CARDAN_KERNEL_CACHE")
    if base is None:
        user = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(user) / "cardan" / "kernels")
    return Path(base).absolute() / ("" if COMPILER == ORDINARY else COMPILER)


SOURCE_HASH = source_hash()
# below the folders of both: machine code of these sources, for this processor
PLACE = f"{SOURCE_HASH}/{processor.target().key}"
COMPLETE = f"{PLACE}/complete"
USER_CACHE = Folder(user_folder())
SHIPPED = Folder(ENGINE.folder.parent / "kernels", shipped=True)


def folders() -> list[Folder]:
    """Folders to search, in order."""
    return [SHIPPED, USER_CACHE] if COMPILER == ORDINARY else [USER_CACHE]


def complete_folder() -> Path | None:
    """The folder that holds every kernel of these sources, for this processor, if there is one."""
    return next((one.base / PLACE for one in folders() if one.has(COMPLETE)), None)


def is_complete() -> bool:
    """Whether every kernel of these sources is compiled, for this processor."""
    return complete_folder() is not None


def mark_complete() -> None:
    """Note that every kernel is compiled; a cache that cannot be written is left alone."""
    if not is_complete():
        USER_CACHE.write(COMPLETE, b"")
