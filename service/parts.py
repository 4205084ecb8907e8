"""Objects that the service and the members of its cluster build from the same settings."""

from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from cardan.service.processes.limits import WorkerLimits
from cardan.service.recordings.bucket import BucketResults
from cardan.service.recordings.results import FolderResults, Results, ResultsError
from cardan.service.settings import Settings, SettingsError
from cardan.service.simulations.checkpoints import Checkpoints
from cardan.service.simulations.dispatcher import DispatcherOptions
from cardan.service.simulations.postgres import DatabaseAddressError, open_postgres
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.revisions import UnknownVersionError
from cardan.service.simulations.sqlite import open_database

# niceness of the processes that run simulations: requests get the processor first
RUNS_BEHIND = 5


def open_database_of(settings: Settings) -> Engine:
    """The database of the settings. Raises SettingsError."""
    address = settings.database_url
    where = str(settings.database) if address is None else "of CARDAN_DATABASE_URL"
    try:
        if address is None:
            return open_database(settings.database)
        return open_postgres(address.get_secret_value())
    except UnknownVersionError as error:
        raise SettingsError(str(error)) from error
    except DatabaseAddressError as error:
        raise SettingsError(f"CARDAN_DATABASE_URL: {error}") from error
    except SQLAlchemyError as error:
        raise SettingsError(f"The database {where} cannot be used: {error}") from error


def results_of(settings: Settings) -> Results:
    """The store of recordings that the settings name. Raises SettingsError."""
    if settings.results_url is None:
        return FolderResults(settings.results)
    try:
        return BucketResults(
            settings.results,
            settings.results_url,
            settings.bucket_options,
            link_s=settings.results_link_s,
            cache=settings.data / "fetched",
            cache_bytes=settings.kept_download_bytes,
        )
    except ResultsError as error:
        raise SettingsError(f"CARDAN_RESULTS_URL: {error}") from error


def queue_of(
    engine: Engine, settings: Settings, checkpoints: Checkpoints, changed: Callable[[str], None]
) -> Queue:
    """The queue in a database; `changed(id)` is called after every commit that matters."""
    return Queue(
        engine,
        lease_s=settings.lease_s,
        changed=changed,
        progressed=lambda run_id, attempt: checkpoints.of(run_id, attempt).progressed,
    )


def worker_limits(settings: Settings) -> WorkerLimits:
    """What a worker process may use."""
    return WorkerLimits(
        memory=settings.worker_memory_bytes,
        file=settings.result_file_bytes,
        scene=settings.limits,
        threads=settings.threads,
    )


def dispatcher_options(
    settings: Settings, results: Results, checkpoints: Checkpoints
) -> DispatcherOptions:
    """A slot for each of the workers."""
    return DispatcherOptions(
        slots=settings.workers,
        results=results,
        limits=replace(worker_limits(settings), nice=RUNS_BEHIND),
        checkpoints=checkpoints,
        checkpoint_s=settings.checkpoint_s,
        silence_s=settings.silence_s,
        stop_grace_s=settings.stop_grace_s,
    )
