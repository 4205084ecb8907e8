"""A session as one file: what is needed to compute all of its present epoch again.

A ZIP of `session.json`, `scene.json`, `log.jsonl`, the first and the latest key frame of the
epoch, and `bundle.json`, which names their moments. `replay` goes from the first to the latest.
"""

import io
import json
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from cardan.service.sessions.folder import FolderError, SessionFolder

FORMAT = "cardan.session"
FILES = ("session.json", "scene.json", "log.jsonl")


def bundle(folder: SessionFolder) -> bytes:
    """The ZIP of a session. Raises FolderError while it has no key frame."""
    moments = folder.key_moments()
    if not moments:
        raise FolderError("the session has no key frame yet")
    epoch = moments[-1][0]
    steps = [step for at, step in moments if at == epoch]
    about = {"format": FORMAT, "epoch": epoch, "first_step": steps[0], "latest_step": steps[-1]}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        file.writestr("bundle.json", json.dumps(about))
        for name in FILES:
            path = folder.path / name
            if path.exists():
                file.write(path, name)
        for step in dict.fromkeys((steps[0], steps[-1])):
            path = folder.path / "keys" / f"{epoch}-{step}.key"
            file.write(path, f"keys/{path.name}")
    return sink.getvalue()


@dataclass(frozen=True)
class Replayed:
    """A bundle computed again: hashes of the state at its latest key frame."""

    step: int
    state_hash: str
    kept_hash: str

    @property
    def same(self) -> bool:
        """Whether it has the bits that the session had."""
        return self.state_hash == self.kept_hash


def replay(data: bytes) -> Replayed:
    """Compute a bundle again, from its first key frame to its latest.

    Raises FolderError for what is no bundle, ValueError for one of another engine. Only bundles of
    a service that is trusted: a key frame is the memory of an engine.
    """
    from cardan.service.sessions.replay import Replay

    with tempfile.TemporaryDirectory() as place:
        folder = SessionFolder(Path(place))
        about = _unpack(data, folder)
        epoch, step = int(about["epoch"]), int(about["latest_step"])
        latest = folder.read_key(epoch, step)
        if latest is None:
            raise FolderError("its latest key frame is damaged")
        there = Replay(folder)
        there.simulation.restore(latest.snapshot)
        kept = there.simulation.state_hash()
        if step > int(about["first_step"]):
            folder.remove_key(epoch, step)
        again = Replay(folder)
        again.go_to(epoch, step, lambda: False, lines=latest.logged)
        return Replayed(step, again.simulation.state_hash(), kept)


def _unpack(data: bytes, folder: SessionFolder) -> dict[str, int]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            about: dict[str, int] = json.loads(file.read("bundle.json"))
            names = [name for name in file.namelist() if name != "bundle.json"]
            (folder.path / "keys").mkdir()
            for name in names:
                # a name leads nowhere else
                place = Path(name).name if name in FILES else f"keys/{Path(name).name}"
                (folder.path / place).write_bytes(file.read(name))
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise FolderError(f"it is no bundle of a session: {error}") from error
    return about
