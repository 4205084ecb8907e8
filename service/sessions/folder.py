"""The folder of a session: what it is, its scene, its log of commands, its key frames.

    session.json       name, times, origin: written by the API process
    scene.json         the checked scene
    log.jsonl          every accepted command, one per line: appended by the worker
    seen               epoch and step of the last answer to a `step`: written by the worker
    keys/E-S.key       key frame of step S in epoch E: written by the worker
    snapshots/         stored states, and their index: written by the API process

The worker writes a command down before it takes effect, and a key frame says how many lines of the
log are inside it. So a key frame and the lines after it are the state, whatever dies and when. What
was written is in the hands of the operating system; only a power cut can lose the last seconds,
and a key frame it has damaged is passed over.
"""

import json
import os
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from cardan.service.files import replace_file
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import PlaybackState

MAGIC = b"cardan-key-1\n"
# epoch and step
SEEN = struct.Struct("<QQ")


class FolderError(Exception):
    """A file of the folder cannot be read; the text says which."""


@dataclass(frozen=True, slots=True)
class About:
    """What the API process knows of a session beside its scene; times in seconds since 1970."""

    id: str
    name: str
    created_at: float
    paused: bool = True
    speed: float | None = 1.0
    forked_from: Mapping[str, Any] | None = None
    watched: bool = False
    time_step: float = 0.0
    total_steps: int = 0
    created_by: str | None = None
    stored_scene: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class KeyFrame:
    """A state from which a run continues: the engine's snapshot and the playback of that moment.

    `logged` lines of the log are inside it.
    """

    step: int
    time: float
    run: PlaybackState
    logged: int
    snapshot: bytes = field(repr=False)

    @property
    def epoch(self) -> int:
        """The epoch it belongs to."""
        return self.run.epoch


class SessionFolder:
    """Paths and files; safe to read while the worker writes."""

    def __init__(self, path: Path) -> None:
        """Belong to a path, whether it exists or not."""
        self.path = path
        self._keys = path / "keys"

    def create(self, scene: str) -> None:
        """Make the folder; `write_about` then makes a session of it. Raises OSError."""
        self._keys.mkdir(parents=True)
        (self.path / "scene.json").write_text(scene, encoding="utf-8")

    @property
    def is_begun(self) -> bool:
        """Whether it is that of a session, complete when it began."""
        return (self.path / "session.json").exists()

    def remove(self) -> None:
        """Delete everything."""
        shutil.rmtree(self.path, ignore_errors=True)

    def write_about(self, about: About) -> None:
        """Replace what is known of the session. Raises OSError."""
        replace_file(self.path / "session.json", json.dumps(asdict(about)).encode())

    def about(self) -> About:
        """What is known of the session. Raises FolderError."""
        try:
            return About(**json.loads((self.path / "session.json").read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise FolderError(f"session.json cannot be read: {error}") from error

    def scene(self) -> str:
        """The JSON text of the scene. Raises FolderError."""
        try:
            return (self.path / "scene.json").read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise FolderError(f"scene.json cannot be read: {error}") from error

    # ------------------------------------------------------------------ log

    def log(self, first: int = 0) -> list[LoggedCommand]:
        """The commands from line `first` on. Raises FolderError."""
        return [_command(line) for line in self._lines()[first:]]

    def seen(self) -> tuple[int, int]:
        """Epoch and step that somebody knows the run has come to; those of the start: nobody."""
        try:
            epoch, step = SEEN.unpack((self.path / "seen").read_bytes())
        except (OSError, struct.error):
            return 0, 0
        return epoch, step

    def _lines(self) -> list[bytes]:
        """Whole lines: the last one may be half written, or its command not begun."""
        try:
            data = (self.path / "log.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        return data[: data.rfind(b"\n") + 1].splitlines()

    # ------------------------------------------------------------------ key frames

    def write_key(self, key: KeyFrame) -> int:
        """Store a key frame, at once and whole; its bytes. Raises OSError."""
        header = asdict(key)
        del header["snapshot"]
        text = json.dumps(header).encode()
        data = b"".join([len(text).to_bytes(8, "little"), text, key.snapshot])
        replace_file(self._key_path(key.epoch, key.step), sealed(data))
        return len(data)

    def key_moments(self) -> list[tuple[int, int]]:
        """Epoch and step of every key frame, in order."""
        if not self._keys.is_dir():
            return []
        stems = (entry.stem for entry in self._keys.iterdir() if entry.suffix == ".key")
        return sorted(
            (int(epoch), int(step)) for epoch, _, step in (s.partition("-") for s in stems)
        )

    def read_key(self, epoch: int, step: int) -> KeyFrame | None:
        """A key frame; `None` when it was thinned out meanwhile, or is damaged."""
        try:
            data = unsealed(self._key_path(epoch, step).read_bytes())
        except FileNotFoundError:
            return None
        if data is None:
            return None
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        run = PlaybackState(**header.pop("run"))
        return KeyFrame(**header, run=run, snapshot=data[end:])

    def latest_keys(self) -> Iterator[KeyFrame]:
        """Intact key frames, the latest first."""
        for epoch, step in reversed(self.key_moments()):
            key = self.read_key(epoch, step)
            if key is not None:
                yield key

    def key_size(self, epoch: int, step: int) -> int:
        """Bytes of a key frame on the disk."""
        return self._key_path(epoch, step).stat().st_size

    def remove_key(self, epoch: int, step: int) -> None:
        """Delete a key frame."""
        self._key_path(epoch, step).unlink(missing_ok=True)

    def _key_path(self, epoch: int, step: int) -> Path:
        return self._keys / f"{epoch}-{step}.key"


class LogWriter:
    """The end of the log of a session; one process writes it."""

    def __init__(self, folder: SessionFolder) -> None:
        """Open it; a line that a dead process left half written is removed. Raises OSError."""
        path = folder.path / "log.jsonl"
        data = path.read_bytes() if path.exists() else b""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._end = data.rfind(b"\n") + 1
        os.ftruncate(self._file, self._end)
        self.lines = data.count(b"\n")
        self._before = data.rfind(b"\n", 0, max(0, self._end - 1)) + 1
        self._seen = os.open(folder.path / "seen", os.O_WRONLY | os.O_CREAT, 0o644)

    def note_seen(self, epoch: int, step: int) -> None:
        """Write down how far the run has come before somebody is told. Raises OSError."""
        os.pwrite(self._seen, SEEN.pack(epoch, step), 0)

    def append(self, entry: LoggedCommand) -> None:
        """Write a line. Raises OSError, and leaves the log as it was."""
        line = orjson.dumps(asdict(entry), option=orjson.OPT_APPEND_NEWLINE)
        self._before = self._end
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError("the disk is full")
        except OSError:
            os.ftruncate(self._file, self._before)
            raise
        self._end += len(line)
        self.lines += 1

    def withdraw(self) -> None:
        """Remove the line that was written last: its command was refused."""
        os.ftruncate(self._file, self._before)
        self._end = self._before
        self.lines -= 1


def sealed(data: bytes) -> bytes:
    """The bytes of a key frame with their sum in front."""
    return b"".join([MAGIC, zlib.crc32(data).to_bytes(4, "little"), data])


def unsealed(data: bytes) -> bytes | None:
    """The bytes of a key frame; `None` unless they are what was written."""
    content = data[len(MAGIC) + 4 :]
    return content if data == sealed(content) else None


def _command(line: bytes) -> LoggedCommand:
    try:
        return LoggedCommand(**orjson.loads(line))
    except (ValueError, TypeError) as error:
        raise FolderError(f"log.jsonl has a line that is no command: {error}") from error
