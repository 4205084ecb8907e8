"""SHA-256 of every file of a recording, written with it and checked before it is served."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

import pyarrow as pa

SUMS = "sums.json"
BUFFER_BYTES = 1 << 18


class DamagedError(Exception):
    """A file of a recording is not what the run wrote."""


class FilesWithSums:
    """The files of a folder while they are written: each is summed, and forced to the disk."""

    def __init__(self, folder: Path) -> None:
        """Begin with an empty folder."""
        self._folder = folder
        self._sums: dict[str, str] = {}
        self.size = 0
        """Bytes of all files so far."""

    @contextmanager
    def open(self, name: str) -> Iterator[pa.NativeFile]:
        """Write one file. Raises OSError."""
        with (self._folder / name).open("wb", buffering=0) as file:
            summed = _Summed(file)
            # Arrow writes in many small pieces
            with pa.BufferedOutputStream(pa.PythonFile(summed, mode="w"), BUFFER_BYTES) as stream:
                yield stream
            os.fsync(file.fileno())
            self.size += file.tell()
        self._sums[name] = summed.sum.hexdigest()

    def write_sums(self) -> None:
        """Write the file of sums. Raises OSError."""
        text = json.dumps(self._sums, sort_keys=True)
        with self.open(SUMS) as file:
            file.write(text.encode())


class _Summed:
    """What Arrow writes a file to: it sums the bytes, and leaves the file open."""

    closed = False

    def __init__(self, file: RawIOBase) -> None:
        self._file = file
        self.sum = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.sum.update(data)
        left = memoryview(data)
        while left:
            # less than all is written when the disk is nearly full
            left = left[self._file.write(left) :]

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """The file is closed by who opened it."""


def read_sums(folder: Path) -> dict[str, str]:
    """The sums by the name of the file; none of recordings of earlier versions."""
    file = folder / SUMS
    if not file.exists():
        return {}
    try:
        return dict(json.loads(file.read_bytes()))
    except (ValueError, TypeError) as error:
        raise DamagedError(f"{SUMS} cannot be read") from error


def check_sums(folder: Path, names: Iterable[str]) -> None:
    """Compare files with their sums. Raises DamagedError."""
    sums = read_sums(folder)
    for name in names:
        if name in sums and file_sum(folder / name) != sums[name]:
            raise DamagedError(f"{name} is not what the run wrote: its SHA-256 differs")


def file_sum(file: Path) -> str:
    """SHA-256 (hex) of a file, read piece by piece."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
