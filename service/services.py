"""All parts around the queue: database, dispatcher, compute pool, results, signals."""

import asyncio
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from cardan.service.cluster.placement import Placement
from cardan.service.compute.downloads import Downloads
from cardan.service.compute.pool import ComputePool, PoolOptions
from cardan.service.parts import (
    dispatcher_options,
    open_database_of,
    queue_of,
    results_of,
    worker_limits,
)
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.recordings.results import ResultsError
from cardan.service.recordings.sizes import RecordingSizes
from cardan.service.settings import Settings, SettingsError
from cardan.service.shares import Shares
from cardan.service.simulations import messages as m
from cardan.service.simulations.admission import Admission
from cardan.service.simulations.catalog import Catalog, Row
from cardan.service.simulations.changes import Changes
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.dispatcher import Dispatcher
from cardan.service.simulations.replays import Replay, ReplayError
from cardan.service.simulations.retention import Keep, Retention
from cardan.service.simulations.signals import EVERYTHING, Signals
from cardan.service.stored_scenes import KeptRevisions, StoredScenes
from cardan.service.studies.coordinator import Studies
from cardan.service.studies.rows import StudyRows

log = logging.getLogger("cardan.jobs")

# of one attempt, by their names
MOST_REPLAYS = 10**12


class Services:
    """Opens and locks the data folder, and runs the queue in it."""

    def __init__(self, settings: Settings, launcher: WorkerLauncher) -> None:
        """Open the data folder. Raises SettingsError when it cannot be used."""
        self.settings = settings
        self._lock = settings.lock_data()
        self.changes = Changes()
        try:
            self._engine = open_database_of(settings)
            self.results = results_of(settings)
        except SettingsError:
            self._lock.close()
            raise
        shared = settings.database_url is not None
        self._database = None if shared else settings.database.stat()
        self._signals = Signals(self._engine, self._heard) if shared else None
        self.checkpoints = Checkpoints(settings.data / "checkpoints")
        self.queue = queue_of(self._engine, settings, self.checkpoints, self._changed)
        self.admission = Admission(
            self._engine,
            most_queued=settings.max_queued,
            key_lifetime_s=settings.idempotency_s,
            most_unfinished=settings.unfinished_runs_per_key,
        )
        self.catalog = Catalog(self._engine)
        self.scenes = StoredScenes(
            self._engine,
            KeptRevisions(settings.kept_scene_revisions, settings.kept_scene_revision_bytes),
        )
        self.shares = Shares(self._engine, settings.api_keys)
        self.sizes = RecordingSizes(self.results.size)
        options = dispatcher_options(settings, self.results, self.checkpoints)
        if settings.executor == "ray":
            # actors compute the runs; recordings of ended ones are made here
            options = replace(options, slots=1, claims=False)
        self.dispatcher = Dispatcher(self.queue, options, launcher)
        self.placement = Placement(settings) if settings.executor == "ray" else None
        limits = worker_limits(settings)
        self.compute = ComputePool(launcher, limits, _lanes(settings))
        largest, all_kept = settings.download_bytes, settings.kept_download_bytes
        made = settings.data / "downloads"
        self.downloads = Downloads(made, self.compute, largest, all_kept)
        self.studies = self._studies()
        self.retention = self._retention()

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Take back what an earlier service left, and begin to work."""
        if loop is not None:
            self.changes.bind(loop)
        # the folder is locked, so no other service holds a run of a database in it
        alone = self._signals is None
        self.queue.recover(everything=alone)
        self.queue.forget_old_keys(self.settings.idempotency_s, everything=alone)
        self.checkpoints.sweep(self.queue.unfinished)
        if self.results.shared:
            # there may be many, far away
            threading.Thread(target=self._sweep, name="sweep", daemon=True).start()
        else:
            self._sweep()
        if self._signals is not None:
            self._signals.start()
        self.dispatcher.start()
        if self.placement is not None:
            self.placement.start()
        self.studies.start()
        self.retention.start()

    def close(self) -> None:
        """Stop working; running runs go back to the queue."""
        if self.placement is not None:
            self.placement.ask_to_stop()
        self.dispatcher.stop()
        self.retention.stop()
        self.compute.close()
        self.studies.stop()
        if self.placement is not None:
            self.placement.stop()
        if self._signals is not None:
            self._signals.stop()
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

    def _retention(self) -> Retention:
        settings = self.settings
        keep = Keep(
            settings.kept_run_s, settings.kept_recording_bytes, settings.kept_unused_scene_s
        )
        return Retention(
            self.queue,
            self.catalog,
            self.sizes,
            keep,
            self.discard_result,
            lambda before: self.studies.rows.remove_aged(before, self.catalog),
            self.scenes.remove_unused,
            lambda: self.checkpoints.sweep(self.queue.unfinished),
        )

    def _changed(self, key: str) -> None:
        """A run, a batch or a study has changed."""
        self.changes.publish(key)
        if key.startswith("batch_"):
            self.studies.look()
        if self._signals is not None:
            self._signals.send(key)

    def _heard(self, key: str) -> None:
        """Another service of this database has changed a run, a batch or a study."""
        if key == EVERYTHING:
            self.changes.publish_all()
        else:
            self.changes.publish(key)
        if key in self.dispatcher.live:
            # somebody else changes a run that is computed here: it is cancelled
            self.dispatcher.stop_run(key)
        if key == EVERYTHING or key.startswith("batch_"):
            self.studies.look()

    def _sweep(self) -> None:
        """Remove recordings that no row refers to."""
        try:
            self.results.sweep(self.queue.referenced_results())
        except (ResultsError, SQLAlchemyError) as error:
            log.error("recordings were not swept: %s", error)

    @property
    def readable(self) -> bool:
        """Whether the database answers."""
        try:
            self.catalog.batches(before=None, size=1)
        except SQLAlchemyError:
            return False
        return True

    @property
    def workers(self) -> int:
        """How many runs are computed at once, here or on the cluster."""
        return self.settings.workers if self.placement is None else self.placement.workers

    @property
    def in_place(self) -> bool:
        """Whether the file of the database is still the one that was opened.

        What is written to one that was removed ends with this process.
        """
        if self._database is None:
            return True
        try:
            return os.path.samestat(self._database, self.settings.database.stat())
        except OSError:
            return False

    @property
    def free_bytes(self) -> int:
        """Free space where results are written."""
        folder = self.settings.results
        return shutil.disk_usage(folder).free if os.access(folder, os.W_OK) else 0

    def replayed(self, row: Row, within_s: float) -> str:
        """Make the recording of an ended run that stored none; its name, kept in the run's row.

        Raises TimeoutError while it is being made, and ReplayError when the run cannot be repeated.
        """
        # whoever removes an earlier recording of the run removes none that is made meanwhile
        folder = f"{row['id']}-{row['attempt']}-{secrets.randbelow(MOST_REPLAYS)}"
        replay = Replay(
            item=m.RunItem(dict(row["overrides"]), str(self.results.root / folder)),
            document=self.catalog.scene_document(row["scene_hash"]),
            state_hash=row["summary"].get("state_hash"),
            of_batch=row["batch_id"] is not None,
            keep=lambda: self._keep_replay(row["id"], folder),
        )
        future = self.dispatcher.replays.request(row["id"], replay)
        self.queue.wake.set()
        future.result(within_s)
        return self._recording_of(row["id"])

    def stored_bytes(self, key: str) -> int:
        """Bytes of all recordings and stored scenes of an API key."""
        return self.sizes.total(self.catalog.recordings_of(key)) + self.scenes.bytes_of(key)

    def discard_result(self, name: str | None) -> None:
        """Remove a result that no row refers to any more, and downloads that were made of it."""
        if name:
            self.downloads.forget(name)
            self.sizes.forget(name)
            try:
                self.results.discard(name)
            except ResultsError as error:
                # nothing refers to it: it goes when the service starts again
                log.error("a recording was not removed: %s", error)

    def _keep_replay(self, run_id: str, name: str) -> None:
        """Make it the recording of its run. Raises ReplayError."""
        try:
            self.results.keep(name)
        except OSError as error:
            raise ReplayError(str(error)) from error
        if not self.queue.adopt_result(run_id, name):
            self.discard_result(name)
            # perhaps another service has made one
            self._recording_of(run_id)

    def _recording_of(self, run_id: str) -> str:
        """The name of the recording of a run. Raises ReplayError."""
        row = self.catalog.run(run_id)
        if row is None or row["result"] is None:
            raise ReplayError("it was removed")
        return str(row["result"])


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
