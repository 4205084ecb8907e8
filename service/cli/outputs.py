"""Where a command writes: checked, and its folder made, before anything is computed."""

import os
from pathlib import Path
from typing import NoReturn

from cardan.service.cli import console
from cardan.service.recordings.folder import other_files
from cardan.service.recordings.formats import FormatError, format_of

SHOWN = 3


def prepare_file(path: Path | None, *, as_json: bool) -> None:
    """Make the folder of a file; ends with 2 or 3 where the file cannot be written."""
    if path is None:
        return
    if os.path.isdir(path):
        console.stop(f"{path} is a folder; the name of a file is needed.", as_json=as_json)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_there = path.exists()
    except OSError as error:
        _stop(path, error.strerror or str(error), as_json=as_json)
    if not os.access(path if is_there else path.parent, os.W_OK):
        _stop(path, "Permission denied", as_json=as_json)


def prepare_recording(path: Path | None, *, as_json: bool) -> None:
    """The same for a recording, which is a file by its ending, else a folder.

    A folder is replaced as a whole: one that holds anything but a recording is refused.
    """
    if path is None:
        return
    if str(path) == "-":
        console.stop(
            "A recording needs the name of a file or a folder; found '-'.", as_json=as_json
        )
    if os.path.isdir(path):
        others = other_files(path)
        if others or path.resolve() == Path.cwd():
            held = ", ".join(others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
            why = f"holds what is no recording: {held}" if others else "is the current folder"
            console.stop(
                f"{path} {why}. A recording replaces its folder; name one that it may have.",
                as_json=as_json,
            )
        return
    if path.suffix:
        try:
            format_of(path)
        except FormatError as error:
            console.stop(str(error), as_json=as_json)
    elif os.path.exists(path):
        console.stop(
            f"{path} is a file; without an ending a recording is a folder.", as_json=as_json
        )
    prepare_file(path, as_json=as_json)


def _stop(path: Path, reason: str, *, as_json: bool) -> NoReturn:
    console.stop(f"{path} cannot be written: {reason}", console.FAILED, as_json=as_json)
