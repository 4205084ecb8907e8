"""Checkpoints of runs: a snapshot and the rows recorded so far, from which a run goes on.

    checkpoints/RUN-ATTEMPT/part-K.npz     rows recorded since the checkpoint before
    checkpoints/RUN-ATTEMPT/state.npz      the snapshot, and how many parts belong to it

A checkpoint is `state.npz`, which replaces the one before at once; a part without it does not
count. The next attempt takes over the folder by renaming it, so a process that was given up for
dead cannot write into it any more.
"""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.service.files import replace_file

STATE = "state.npz"
BEGAN = "began"

Rows = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Mark:
    """How far a run had come: its step, the parts of its recording, and what is in no snapshot."""

    step: int
    parts: int
    frames: int
    contacts: int
    methods: int


class CheckpointFolder:
    """The checkpoint of one attempt at a run."""

    def __init__(self, path: Path) -> None:
        """Belong to a path, whether it exists or not."""
        self.path = path

    @property
    def can_go_on(self) -> bool:
        """Whether the attempt before left files."""
        return self._before() is not None

    def take_over(self) -> None:
        """Have the files of the attempt before, if it left some. Raises OSError."""
        before = self._before()
        if before is not None:
            before.rename(self.path)

    def _before(self) -> Path | None:
        """The folder of the last attempt before this one that left files."""
        run_id, _, attempt = self.path.name.rpartition("-")
        for number in range(int(attempt) - 1, 0, -1):
            before = self.path.with_name(f"{run_id}-{number}")
            if before.is_dir():
                return before
        return None

    def read(self) -> tuple[Mark, bytes, list[Rows]] | None:
        """The checkpoint: mark, snapshot and parts; `None` when there is none that is whole."""
        try:
            with np.load(self.path / STATE, allow_pickle=False) as state:
                mark = Mark(**json.loads(str(state["mark"])))
                snapshot = state["snapshot"].tobytes()
            parts = [self._read_part(number) for number in range(mark.parts)]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        return mark, snapshot, parts

    def begin(self, step: int) -> None:
        """An attempt begins at this step: only later checkpoints are its progress."""
        if self.path.is_dir():
            replace_file(self.path / BEGAN, str(step).encode())

    def remove(self) -> None:
        """Forget the checkpoint: a run that does not go on from it has made no progress."""
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, mark: Mark, snapshot: bytes, part: Rows | None) -> None:
        """Store a checkpoint, with the last of its parts. Raises OSError."""
        self.path.mkdir(parents=True, exist_ok=True)
        if part is not None:
            with (self.path / f"part-{mark.parts - 1}.npz").open("wb") as file:
                np.savez(file, allow_pickle=False, **part)
        state = io.BytesIO()
        np.savez(
            state,
            allow_pickle=False,
            mark=np.array(json.dumps(asdict(mark))),
            snapshot=np.frombuffer(snapshot, np.uint8),
        )
        replace_file(self.path / STATE, state.getvalue())

    def step(self) -> int | None:
        """The step of the checkpoint; `None`: there is none."""
        try:
            with np.load(self.path / STATE, allow_pickle=False) as state:
                return int(json.loads(str(state["mark"]))["step"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    @property
    def progressed(self) -> bool:
        """Whether the attempt has made a checkpoint of its own, as far as its files tell."""
        step = self.step()
        if step is None:
            return False
        try:
            began = int((self.path / BEGAN).read_bytes())
        except FileNotFoundError:
            began = 0
        except (OSError, ValueError):
            # a power cut may leave it empty
            return False
        return step > began

    def _read_part(self, number: int) -> Rows:
        with np.load(self.path / f"part-{number}.npz", allow_pickle=False) as part:
            return {name: part[name] for name in part.files}


class Checkpoints:
    """All checkpoints, seen from the service."""

    def __init__(self, root: Path) -> None:
        """Keep them below a folder."""
        self._root = root

    def of(self, run_id: str, attempt: int) -> CheckpointFolder:
        """The checkpoint of an attempt."""
        return CheckpointFolder(self._root / f"{run_id}-{attempt}")

    def sweep(self, unfinished: Callable[[], Collection[str]]) -> Sequence[str]:
        """Forget those of all runs but the unfinished ones; names of what was removed.

        Runs may begin meanwhile: which are unfinished is asked when it is known what there is.
        """
        found = list(self._root.iterdir()) if self._root.is_dir() else []
        if not found:
            return []
        kept = unfinished()
        gone = [path for path in found if path.name.rpartition("-")[0] not in kept]
        for path in gone:
            shutil.rmtree(path, ignore_errors=True)
        return sorted(path.name for path in gone)
