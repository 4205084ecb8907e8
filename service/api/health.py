"""Liveness, readiness, limits and versions of the service."""

import functools
from dataclasses import asdict
from importlib import metadata
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Depends, Request

from cardan import __version__
from cardan.schemas.dynamics import MAX_NUMBERS, MAX_STATES
from cardan.service.api.dependencies import PROBLEMS, TheServices, TheSettings, refuse_unknown_query
from cardan.service.api.problems import ProblemError
from cardan.service.api.simulations import DATABASE_GONE
from cardan.service.processes.kernels import Kernels
from cardan.service.recordings.formats import FORMATS
from cardan.service.recordings.tables import TABLES

probes = APIRouter(tags=["health"], responses=PROBLEMS)
router = APIRouter(
    tags=["service"], responses=PROBLEMS, dependencies=[Depends(refuse_unknown_query)]
)

PACKAGES = ("numba", "numpy", "scipy", "pydantic", "fastapi", "pyarrow", "sqlalchemy")


@probes.get("/healthz")
async def healthz(services: TheServices) -> dict[str, str]:
    """200 while the service works; 503 when it needs a restart."""
    dead, slots = services.dispatcher.dead_slots, services.dispatcher.options.slots
    if dead:
        raise ProblemError(
            503,
            "not_alive",
            f"{dead} of {slots} threads of the queue have ended; restart it.",
        )
    if not services.in_place:
        raise ProblemError(503, "not_alive", DATABASE_GONE)
    return {"status": "alive"}


@probes.get("/readyz")
def readyz(request: Request, services: TheServices) -> dict[str, Any]:
    """200 when runs can start: there are kernels, workers, a fork server, the queue, disk space."""
    kernels: Kernels = request.app.state.kernels
    checks = {
        "kernels": kernels.ready,
        "workers": services.dispatcher.ready,
        "fork_server": services.dispatcher.fork_server,
        "sessions": bool(request.app.state.sessions.ready),
        "database": services.readable and services.in_place,
        "storage": services.free_bytes >= services.settings.min_free_bytes,
    }
    if services.placement is not None:
        checks["cluster"] = services.placement.joined
    missing = [name for name, good in checks.items() if not good]
    if missing:
        least = services.settings.min_free_bytes
        short = "" if checks["storage"] else f" Less than {least} bytes of disk space are free."
        raise ProblemError(
            503,
            "not_ready",
            f"Not ready yet: {', '.join(missing)}.{short}",
            headers={"Retry-After": "1"},
            checks=checks,
            kernels=asdict(kernels.compiled),
        )
    return {"status": "ready", "checks": checks}


@router.get("/limits")
def limits(settings: TheSettings, services: TheServices) -> dict[str, Any]:
    """Limits of scenes, requests, the queue and batches."""
    return {
        "scene": settings.limits.model_dump(),
        "body_bytes": settings.max_body_bytes,
        "queued_runs": settings.max_queued,
        "batch_runs": settings.max_batch_runs,
        "study_evaluations": settings.max_study_evaluations,
        "sessions": settings.max_sessions,
        "parallel_runs": services.workers,
        "timeout_s": settings.default_timeout_s,
        "max_timeout_s": settings.max_timeout_s,
        "requests_per_minute": settings.requests_per_minute,
        "runs_per_hour": settings.runs_per_hour,
        "answer_s": settings.answer_s,
        "download_bytes": settings.download_bytes,
        "dynamics_states": MAX_STATES,
        "dynamics_numbers": MAX_NUMBERS,
    }


@router.get("/formats")
def formats() -> dict[str, Any]:
    """The file formats of recordings."""
    return {
        "items": [
            {
                "name": form.name,
                "media_type": form.media_type,
                "ending": form.ending,
                "holds": "everything" if form.whole else "one table",
            }
            for form in FORMATS.values()
        ],
        "tables": list(TABLES),
    }


@router.get("/version")
def version() -> dict[str, Any]:
    """Versions of the service and of its dependencies."""
    return versions()


@functools.cache
def versions() -> dict[str, Any]:
    """Versions by name; None of what is not installed."""
    found: dict[str, Any] = {"api": "v1", "cardan": __version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    built = (files("cardan") / "manual" / "index.html").is_file()
    found["manual"] = __version__ if built else None
    return found
