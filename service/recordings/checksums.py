"""SHA-256 of every file of a recording, written with it and checked before it is served."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

SUMS = "sums.json"


class DamagedError(Exception):
    """A file of a recording is not what the run wrote."""


def write_sums(folder: Path) -> None:
    """Add the file of sums to the files that are there."""
    found = {file.name: file_sum(file) for file in sorted(folder.iterdir())}
    (folder / SUMS).write_text(json.dumps(found, sort_keys=True))


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
