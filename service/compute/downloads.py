"""Files of recordings for downloads: as stored, or encoded once by the pool and kept for a while.

A download is a file on the disk with a name that its content determines, so ranges of it that are
asked for later are ranges of the same bytes, and the service process only copies.
"""

import hashlib
import os
import secrets
import shutil
import threading
from contextlib import suppress
from importlib import metadata
from pathlib import Path

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

    def file(self, result: Path, form: Format, table: str, part: Slice) -> Path:
        """The file of a download; waits while the pool writes it. Raises ServiceError."""
        if not result.is_dir():
            raise gone()
        stored = result / f"{table}.parquet"
        if form.name == "parquet" and part.whole and stored.exists():
            self._verify(stored)
            return stored
        name = self.tag(result, form, "" if form.whole else table, part)
        target = self._folder / f"{result.name}-{name}{form.ending}"
        if not target.exists():
            # named here: a process that is ended while it writes removes nothing
            new = self._folder / f"tmp-{secrets.token_hex(8)}{form.ending}"
            order = EncodeOrder(str(result), form.name, table, part, str(new), self._most_bytes)
            try:
                self._pool.wait_for_answer(order)
                new.replace(target)
            finally:
                with suppress(OSError):
                    new.unlink()
            self._trim(target)
        os.utime(target)
        return target

    def forget(self, result: str) -> None:
        """Remove the files that were made of a recording."""
        for file in self._folder.glob(f"{result}-*"):
            file.unlink(missing_ok=True)

    def _verify(self, file: Path) -> None:
        """Have the pool compare a file with its sum, again when it has changed."""
        found = file.stat()
        state = (found.st_size, found.st_mtime_ns, found.st_ino)
        if self._intact.get(file) == state or not (file.parent / SUMS).exists():
            return
        self._pool.wait_for_answer(VerifyOrder(str(file.parent), [file.name]))
        self._intact[file] = state

    def _trim(self, newest: Path) -> None:
        """Remove files that were not asked for lately; who reads one keeps it open."""
        with self._lock:
            files = [file for file in self._folder.iterdir() if not file.name.startswith("tmp-")]
            aged = sorted(files, key=lambda file: file.stat().st_mtime)
            total = sum(file.stat().st_size for file in aged)
            for file in aged:
                if total <= self._kept_bytes or file == newest:
                    return
                total -= file.stat().st_size
                file.unlink(missing_ok=True)
