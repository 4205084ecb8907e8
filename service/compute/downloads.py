"""Files of recordings for downloads: as stored, or encoded once by the pool and kept for a while.

A download is a file on the disk with a name that its content determines, so ranges of it that are
asked for later are ranges of the same bytes, and the service process only copies.
"""

import hashlib
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from cardan import __version__
from cardan.service.compute.encoding import damaged, gone
from cardan.service.compute.messages import EncodeOrder, VerifyOrder
from cardan.service.compute.pool import ComputePool
from cardan.service.recordings.checksums import SUMS, DamagedError, read_sums
from cardan.service.recordings.formats import Format
from cardan.service.recordings.slices import Slice

# increase it when the encoding of a recording changes
WRITER = 3
WRITERS = ("pyarrow", "numpy", "orjson", "h5py", "mcap")


class Downloads:
    """Keeps encoded files in a folder of its own, at most some bytes of them."""

    def __init__(self, folder: Path, pool: ComputePool, most_bytes: int, kept_bytes: int) -> None:
        """`most_bytes` limit one file, `kept_bytes` all that are kept."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._folder = folder
        self._pool = pool
        self._most_bytes = most_bytes
        self._kept_bytes = kept_bytes
        self._intact: dict[Path, tuple[int, int, int]] = {}
        self._lock = threading.Lock()

    def sums(self, result: Path) -> dict[str, str]:
        """SHA-256 of the files of a recording. Raises ServiceError."""
        if not result.is_dir():
            raise gone()
        try:
            return read_sums(result)
        except DamagedError as error:
            raise damaged(error) from error

    def tag(self, result: Path, form: Format, table: str, part: Slice) -> str:
        """Name of the content: what was recorded, the part, and what writes it.

        Raises ServiceError.
        """
        sums = sorted(self.sums(result).items())
        writers = [__version__, *(metadata.version(name) for name in WRITERS)]
        text = repr((WRITER, writers, result.name, sums, form.name, table, part))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def opened(self, result: Path, form: Format, table: str, part: Slice) -> BinaryIO:
        """A download, open: others may remove its file; waits while the pool writes it.

        Raises ServiceError.
        """
        if not result.is_dir():
            raise gone()
        stored = result / f"{table}.parquet"
        if form.name == "parquet" and part.whole and stored.exists():
            return self._verified(stored)
        name = self.tag(result, form, "" if form.whole else table, part)
        target = self._folder / f"{result.name}-{name}{form.ending}"
        try:
            file = target.open("rb")
        except (FileNotFoundError, NotADirectoryError):
            return self._made(result, form, table, part, target)
        with suppress(FileNotFoundError):
            os.utime(target)
        return file

    def _made(self, result: Path, form: Format, table: str, part: Slice, target: Path) -> BinaryIO:
        """A download that is written now, and kept as `target`."""
        # named here: a process that is ended while it writes removes nothing
        new = self._folder / f"tmp-{secrets.token_hex(8)}{form.ending}"
        order = EncodeOrder(str(result), form.name, table, part, str(new), self._most_bytes)
        try:
            self._pool.wait_for_answer(order)
            with ExitStack() as unless_kept:
                file = unless_kept.enter_context(new.open("rb"))
                new.replace(target)
                unless_kept.pop_all()
        finally:
            with suppress(OSError):
                new.unlink()
        self._trim(target)
        return file

    def forget(self, result: str) -> None:
        """Remove the files that were made of a recording."""
        for file in self._folder.glob(f"{result}-*"):
            file.unlink(missing_ok=True)

    def _verified(self, path: Path) -> BinaryIO:
        """A stored file, open; the pool compares it with its sum, again when it has changed."""
        try:
            found = path.stat()
            state = (found.st_size, found.st_mtime_ns, found.st_ino)
            if self._intact.get(path) != state and (path.parent / SUMS).exists():
                self._pool.wait_for_answer(VerifyOrder(str(path.parent), [path.name]))
                self._intact[path] = state
            return path.open("rb")
        except FileNotFoundError as error:
            raise gone() from error

    def _trim(self, newest: Path) -> None:
        """Remove files that were not asked for lately; who reads one keeps it open."""
        with self._lock:
            aged = sorted(self._with_age())
            total = sum(size for _, size, _ in aged)
            for _, size, file in aged:
                if total <= self._kept_bytes or file == newest:
                    return
                total -= size
                file.unlink(missing_ok=True)

    def _with_age(self) -> Iterator[tuple[float, int, Path]]:
        """Time of the last use, size and path of every file; some are removed meanwhile."""
        for file in self._folder.iterdir():
            if not file.name.startswith("tmp-"):
                with suppress(FileNotFoundError):
                    found = file.stat()
                    yield found.st_mtime, found.st_size, file
