"""Where recordings are kept: in a folder of this machine, or in a bucket (`bucket.py`).

A recording is a folder with a name that is given once: run and attempt, with a number where it is
made again. A worker writes it under `root`, on its machine; `keep` then moves it to where all of
them are.
"""

from pathlib import Path
from typing import Protocol

from cardan.service.recordings import folder


class ResultsError(OSError):
    """The store of the recordings cannot be used; the text says why."""


class Results(Protocol):
    """The recordings of a service. What cannot be done raises ResultsError."""

    root: Path
    """Folder in which workers write."""
    shared: bool
    """Whether keeping takes time: others may lie far away."""

    def keep(self, name: str) -> None:
        """Keep what a worker has written for good; until then nobody else can read it."""

    def described(self, name: str) -> Path:
        """A folder that has the sums of the files; it does not exist when there is no such name."""

    def folder(self, name: str) -> Path:
        """A folder that has all files; it does not exist when there is no such name."""

    def link(self, name: str, file: str) -> str | None:
        """An address that offers a file for some minutes to everybody; `None`: send it yourself."""

    def discard(self, name: str) -> None:
        """Remove a recording, if it is there."""

    def size(self, name: str) -> int:
        """Size of a file [bytes]; 0 when it is not there."""

    def sweep(self, referenced: frozenset[str]) -> list[str]:
        """Remove what no row refers to, but what others may be about to commit; the names."""


class FolderResults:
    """Recordings in a folder of this machine."""

    shared = False

    def __init__(self, root: Path) -> None:
        """Keep them where workers write them."""
        self.root = root

    def keep(self, name: str) -> None:
        """They are where they stay."""

    def described(self, name: str) -> Path:
        """The folder itself."""
        return self.root / name

    def folder(self, name: str) -> Path:
        """The folder itself."""
        return self.root / name

    def link(self, name: str, file: str) -> str | None:
        """Nobody else has access to it."""
        return None

    def discard(self, name: str) -> None:
        """Remove the folder."""
        folder.remove_folder(self.root / name)

    def size(self, name: str) -> int:
        """Size of the files [bytes]."""
        return size_of(self.root / name)

    def sweep(self, referenced: frozenset[str]) -> list[str]:
        """Remove all others: at the start of the service nobody writes here."""
        return folder.sweep(self.root, referenced)


def size_of(path: Path) -> int:
    """Size of the files of a folder [bytes]; 0 when it is not there."""
    try:
        return sum(file.stat().st_size for file in path.iterdir())
    except OSError:
        return 0
