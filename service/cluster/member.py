"""A member of the cluster: the dispatcher and the workers of a machine, inside an actor of Ray.

It claims runs from the queue as every machine does, under leases of its own, and knows nothing of
Ray: an actor that is lost is a machine that is lost.
"""

import fcntl
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO

from cardan.service import clock, logs
from cardan.service.cluster.handover import read_settings
from cardan.service.parts import dispatcher_options, open_database_of, queue_of, results_of
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.dispatcher import Dispatcher
from cardan.service.simulations.signals import EVERYTHING, Signals


class Member:
    """Computes runs until it is stopped."""

    def __init__(self, text: str, shared_by: int) -> None:
        """Begin with the settings of a text; so many workers share the queue.

        Raises OtherEngineError, and SettingsError when database or store cannot be used from here.
        """
        settings = read_settings(text)
        logs.set_up(settings.log_level, settings.log_format)
        self._folder, self._lock = _own_folder()
        settings = settings.model_copy(update={"data": self._folder, "workers": settings.ray_cores})
        settings.results.mkdir()
        self._engine = open_database_of(settings)
        checkpoints = Checkpoints(self._folder / "checkpoints")
        options = dispatcher_options(settings, results_of(settings), checkpoints)
        queue = queue_of(self._engine, settings, checkpoints, self._changed)
        launcher = WorkerLauncher()
        self._dispatcher = Dispatcher(queue, replace(options, shared_by=shared_by), launcher)
        self._signals = Signals(self._engine, self._heard)
        self._busy = clock.monotonic()
        launcher.prepare()
        self._signals.start()
        self._dispatcher.start()

    def idle_s(self) -> float:
        """Time for which no run was seen in it [s]. Raises RuntimeError when it is broken."""
        if self._dispatcher.dead_slots:
            raise RuntimeError("threads of the queue have ended")
        now = clock.monotonic()
        if self._dispatcher.live:
            self._busy = now
        return now - self._busy

    def stop(self) -> None:
        """Return the runs it has to the queue, and end its processes."""
        self._dispatcher.stop()
        self._signals.stop()
        self._engine.dispose()
        self._lock.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _changed(self, key: str) -> None:
        self._signals.send(key)

    def _heard(self, key: str) -> None:
        """A run that is computed here was changed elsewhere: it is cancelled."""
        live = list(self._dispatcher.live) if key == EVERYTHING else [key]
        for run_id in live:
            if run_id in self._dispatcher.live:
                self._dispatcher.stop_run(run_id)


def _own_folder() -> tuple[Path, IO[bytes]]:
    """A new folder, locked while its member lives; those of dead ones are removed."""
    base = Path(tempfile.gettempdir()) / f"cardan-members-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    if base.stat().st_uid != os.getuid() or base.is_symlink():
        raise PermissionError(f"{base} belongs to somebody else")
    with (base / "lock").open("wb") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        for other in base.glob("member_*"):
            if _is_left(other):
                shutil.rmtree(other, ignore_errors=True)
        folder = base / clock.new_id("member")
        folder.mkdir()
        lock = (folder / "lock").open("wb")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def _is_left(folder: Path) -> bool:
    """Whether the member of a folder is gone."""
    try:
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
