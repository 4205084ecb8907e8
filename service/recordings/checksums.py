"""SHA-256 of every file of a recording, written with it and checked before it is served."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import FileIO, RawIOBase
from pathlib import Path

import pyarrow as pa

SUMS = "sums.json"
BUFFER_BYTES = 1 << 18


class DamagedError(Exception):
    """A file of a recording is not what the run wrote."""


class FilesWithSums(ExitStack):
    """The files of a folder while they are written; `finish` ends it, or else they are half."""

    def __init__(self, folder: Path) -> None:
        """Begin with an empty folder."""
        super().__init__()
        self._folder = folder
        self._files: list[FileIO] = []
        self._sums: dict[str, str] = {}
        self.size = 0
        """Bytes of all files so far."""

    @contextmanager
    def open(self, name: str) -> Iterator[pa.NativeFile]:
        """Write one file. Raises OSError."""
        file = self.enter_context((self._folder / name).open("wb", buffering=0))
        self._files.append(file)
        summed = _Summed(file)
        # Arrow writes in many small pieces
        with pa.BufferedOutputStream(pa.PythonFile(summed, mode="w"), BUFFER_BYTES) as stream:
            yield stream
        self.size += file.tell()
        self._sums[name] = summed.sum.hexdigest()

    def finish(self) -> None:
        """Write the file of sums, and force the folder to the disk. Raises OSError.

        All files at once: the disk takes them together, where one by one each waits for it.
        """
        text = json.dumps(self._sums, sort_keys=True)
        with self.open(SUMS) as stream:
            stream.write(text.encode())
        folder = os.open(self._folder, os.O_RDONLY)
        self.callback(os.close, folder)
        handles = [folder, *(file.fileno() for file in self._files)]
        with ThreadPoolExecutor(len(handles)) as pool:
            list(pool.map(os.fsync, handles))


class _Summed:
    """A file for Arrow that sums the bytes written, and stays open when Arrow closes it."""

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
        """Do nothing: no bytes are kept back."""

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
