"""All parts around the queue: database, dispatcher, compute pool, results, signals."""

import asyncio
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from cardan.service.compute.downloads import Downloads
from cardan.service.compute.pool import ComputePool, PoolOptions
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.recordings.folder import sweep
from cardan.service.settings import Settings, SettingsError
from cardan.service.simulations import messages as m
from cardan.service.simulations.admission import Admission
from cardan.service.simulations.catalog import Catalog, Row
from cardan.service.simulations.changes import Changes
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.dispatcher import Dispatcher, DispatcherOptions
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.replays import Replay, ReplayError
from cardan.service.simulations.retention import Keep, Retention
from cardan.service.simulations.tables import UnknownVersionError, open_database
from cardan.service.studies.coordinator import Studies
from cardan.service.studies.rows import StudyRows

# niceness of the processes that run simulations: requests get the processor first
RUNS_BEHIND = 5


class Services:
    """Opens and locks the data folder, and runs the queue in it."""

    def __init__(self, settings: Settings, launcher: WorkerLauncher) -> None:
        """Open the data folder. Raises SettingsError when it cannot be used."""
        self.settings = settings
        self._lock = _lock_folder(settings)
        self.changes = Changes()
        try:
            self._engine = _open_database(settings)
        except SettingsError:
            self._lock.close()
            raise
        self.checkpoints = Checkpoints(settings.data / "checkpoints")
        self.queue = Queue(
            self._engine,
            lease_s=settings.lease_s,
            changed=self._changed,
            progressed=lambda run_id, attempt: self.checkpoints.of(run_id, attempt).progressed,
        )
        self.admission = Admission(
            self._engine,
            most_queued=settings.max_queued,
            key_lifetime_s=settings.idempotency_s,
        )
        self.catalog = Catalog(self._engine)
        limits = WorkerLimits(
            memory=settings.worker_memory_bytes,
            file=settings.result_file_bytes,
            scene=settings.limits,
        )
        options = DispatcherOptions(
            slots=settings.workers,
            results=settings.results,
            limits=replace(limits, nice=RUNS_BEHIND),
            checkpoints=self.checkpoints,
            checkpoint_s=settings.checkpoint_s,
            silence_s=settings.silence_s,
            stop_grace_s=settings.stop_grace_s,
        )
        self.dispatcher = Dispatcher(self.queue, options, launcher)
        self.compute = ComputePool(launcher, limits, _lanes(settings))
        self.downloads = Downloads(
            settings.data / "downloads",
            self.compute,
            settings.download_bytes,
            settings.kept_download_bytes,
        )
        self.studies = self._studies()
        keep = Keep(settings.kept_run_s, settings.kept_recording_bytes)
        self.retention = Retention(
            self.queue,
            self.catalog,
            settings.results,
            keep,
            self.discard_result,
            lambda before: self.studies.rows.remove_aged(before, self.catalog),
        )

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Take back what an earlier service left, and begin to work."""
        if loop is not None:
            self.changes.bind(loop)
        # the folder is locked, so no other process holds a run
        self.queue.recover(everything=True)
        self.queue.forget_old_keys(self.settings.idempotency_s)
        sweep(self.settings.results, self.queue.referenced_results())
        self.checkpoints.sweep(self.queue.unfinished())
        self.dispatcher.start()
        self.studies.start()
        self.retention.start()

    def close(self) -> None:
        """Stop working; running runs go back to the queue."""
        self.dispatcher.stop()
        self.retention.stop()
        self.compute.close()
        self.studies.stop()
        self._engine.dispose()
        self._lock.close()

    def _studies(self) -> Studies:
        return Studies(
            StudyRows(self._engine),
            self.catalog,
            self.queue,
            self.admission,
            self.compute,
            lambda: self.free_bytes >= self.settings.min_free_bytes,
        )

    def _changed(self, key: str) -> None:
        """A run, a batch or a study has changed."""
        self.changes.publish(key)
        if key.startswith("batch_"):
            self.studies.look()

    @property
    def readable(self) -> bool:
        """Whether the database answers."""
        try:
            self.catalog.batches(before=None, size=1)
        except SQLAlchemyError:
            return False
        return True

    @property
    def free_bytes(self) -> int:
        """Free space where results are written."""
        return shutil.disk_usage(self.settings.results).free

    def replayed(self, row: Row, within_s: float) -> str:
        """Make the recording of an ended run that stored none; its name, kept in the run's row.

        Raises TimeoutError while it is being made, and ReplayError when the run cannot be repeated.
        """
        folder = f"{row['id']}-{row['attempt']}"
        replay = Replay(
            item=m.RunItem(dict(row["overrides"]), str(self.settings.results / folder)),
            document=self.catalog.scene_document(row["scene_hash"]),
            state_hash=row["summary"].get("state_hash"),
        )
        future = self.dispatcher.replays.request(row["id"], replay)
        self.queue.wake.set()
        future.result(within_s)
        if not self.queue.adopt_result(row["id"], folder):
            self.discard_result(folder)
            raise ReplayError("it was removed")
        return folder

    def discard_result(self, name: str | None) -> None:
        """Remove a result that no row refers to any more, and downloads that were made of it."""
        if name:
            self.downloads.forget(name)
            shutil.rmtree(self.settings.results / name, ignore_errors=True)


@contextmanager
def opened(settings: Settings) -> Iterator[Services]:
    """A working services without a server."""
    launcher = WorkerLauncher()
    launcher.prepare()
    services = Services(settings, launcher)
    services.start()
    try:
        yield services
    finally:
        services.close()


def _lanes(settings: Settings) -> PoolOptions:
    return PoolOptions(
        small=settings.small_scene_workers,
        large=settings.large_scene_workers,
        dynamics=settings.dynamics_workers,
        problems=settings.problem_workers,
        files=settings.file_workers,
        small_bytes=settings.small_scene_bytes,
        answer_s=settings.answer_s,
    )


def _open_database(settings: Settings) -> Engine:
    """Raises SettingsError."""
    try:
        return open_database(settings.database)
    except UnknownVersionError as error:
        raise SettingsError(str(error)) from error
    except SQLAlchemyError as error:
        raise SettingsError(f"The database {settings.database} cannot be used: {error}") from error


def _lock_folder(settings: Settings) -> IO[bytes]:
    """Take the data folder: two services on one queue would each think the other dead."""
    try:
        settings.results.mkdir(parents=True, exist_ok=True)
        file = (settings.data / "lock").open("wb")
    except OSError as error:
        raise SettingsError(f"The data folder {settings.data} cannot be used: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise SettingsError(
            f"The data folder {settings.data} is in use by another running service; "
            "stop that one or choose another folder with --data."
        ) from error
    return file
