"""Files that another process or thread reads: they appear at once and whole."""

import ctypes
import errno
import os
import platform
import re
import secrets
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

# Linux before it forgot errors of files that were closed
TELLS_ERRORS = (5, 8)
# what a system without the call answers, and one that forbids it
REFUSED = (errno.ENOSYS, errno.EPERM)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that is never seen half written, also by several writers. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def force_all(folder: int, files: Iterable[int]) -> None:
    """Return when an open folder and its open files are on the disk. Raises OSError.

    Where the system can force everything it is asked once: file by file each would wait for a turn
    of its own. `folder` was opened before the files were written, as errors since then are told.
    """
    if SYNCFS is not None:
        if SYNCFS(folder) == 0:
            return
        code = ctypes.get_errno()
        if code not in REFUSED:
            raise OSError(code, os.strerror(code))
    for file in files:
        os.fsync(file)
    os.fsync(folder)


def _syncfs() -> Callable[[int], int] | None:
    """`syncfs(2)`; None where there is none, or where it says nothing of what failed."""
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if sys.platform != "linux" or release is None:
        return None
    told = (int(release[1]), int(release[2])) >= TELLS_ERRORS
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    return found if told else None


SYNCFS = _syncfs()
