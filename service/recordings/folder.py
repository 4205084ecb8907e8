"""A recording as a folder: one Parquet file per table, `scene.json` and `summary.json`.

It is what a finished run leaves on disk. It appears at once and whole: written under a temporary
name, every file forced to the disk, then renamed.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from cardan.service.recordings.checksums import SUMS, FilesWithSums
from cardan.service.recordings.formats import decode as decode_file
from cardan.service.recordings.formats import (
    dump_json,
    encode,
    format_of,
    table_from_parquet,
    write_parquet,
)
from cardan.service.recordings.tables import TABLES, Tables

TEMPORARY = "tmp-"
SUMMARY = "summary.json"
FILES = frozenset({*(f"{table}.parquet" for table in TABLES), "scene.json", SUMMARY, SUMS})
"""What a recording may hold."""


def write_folder(recording: Tables, path: Path) -> int:
    """Write the recording as a folder; bytes written. Raises OSError and leaves nothing behind."""
    temporary = path.with_name(TEMPORARY + path.name)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        with FilesWithSums(temporary) as written:
            for table in recording.tables:
                with written.open(f"{table}.parquet") as file:
                    write_parquet(recording, table, file)
            for name, part in (("scene", recording.scene), ("summary", recording.summary)):
                if part is not None:
                    with written.open(f"{name}.json") as file:
                        file.write(dump_json(part))
            written.finish()
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
        _force(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return written.size


def remove_folder(path: Path) -> None:
    """Remove a recording, if it is there, and what a writer that was killed left of it.

    Who reads meanwhile finds all of it, or nothing.
    """
    temporary = path.with_name(TEMPORARY + path.name)
    shutil.rmtree(temporary, ignore_errors=True)
    with suppress(OSError):
        path.rename(temporary)
    for one in (path, temporary):
        shutil.rmtree(one, ignore_errors=True)


def other_files(path: Path) -> list[str]:
    """Names in a folder that are of no recording, in order; a recording has a summary."""
    names = {entry.name for entry in path.iterdir()}
    return sorted(names - FILES if SUMMARY in names else names)


def folder_bytes(path: Path) -> int:
    """Bytes of the files of a folder and of those in it; 0 of one that is gone."""
    try:
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    except OSError:
        return 0


def read_folder(path: Path) -> Tables:
    """Read a folder back: all its tables, its scene and its summary."""
    loaded: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for file in sorted(path.glob("*.parquet")):
        loaded[file.stem], metadata = table_from_parquet(file)
    units = {
        name: {f.name: (f.metadata or {}).get(b"unit", b"1").decode() for f in table.schema}
        for name, table in loaded.items()
    }
    metadata = {key: value for key, value in metadata.items() if key != "table"}
    return Tables(
        loaded,
        metadata | {"units": units},
        _read_json(path / "scene.json"),
        _read_json(path / SUMMARY),
    )


def save(recording: Tables, path: Path) -> None:
    """Write to a file by its ending, or to a folder. Raises FormatError or OSError."""
    if path.suffix == "" or path.is_dir():
        write_folder(recording, path)
        return
    data = encode(recording, format_of(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(TEMPORARY + path.name)
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path) -> Tables:
    """Read a file or a folder. Raises FormatError, OSError or ValueError."""
    return read_folder(path) if path.is_dir() else decode_file(path)


def sweep(root: Path, keep: frozenset[str]) -> list[str]:
    """Remove every entry of a results folder that no row refers to; the names of what is gone.

    What cannot be removed stays: `lost+found` of a disk, or files of another user.
    """
    orphans = [entry for entry in root.iterdir() if entry.name not in keep]
    for entry in orphans:
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.unlink()
    return sorted(entry.name for entry in orphans if not entry.exists())


def _force(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_json(path: Path) -> dict[str, object] | None:
    if not path.exists():
        return None
    loaded = json.loads(path.read_bytes())
    return loaded if isinstance(loaded, dict) else None
