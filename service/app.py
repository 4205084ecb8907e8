"""`create_app(settings)`: the only wiring. Importing this file does nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio.to_thread import run_sync
from fastapi import FastAPI

from cardan import __version__
from cardan.service import page, tracing
from cardan.service.api import (
    asyncapi,
    batches,
    complementarity,
    docs,
    dynamics,
    examples,
    health,
    imports,
    mechanics,
    metrics,
    problems,
    queries,
    run_logs,
    scenes,
    session_history,
    sessions,
    shares,
    simulations,
    stored_scenes,
    stream,
    studies,
    tickets,
    trajectories,
    verification,
)
from cardan.service.api.layers import BodyLayer, GuardLayer, RequestLayer
from cardan.service.api.metrics import watch_loop
from cardan.service.api.owner_layer import OwnerLayer
from cardan.service.api.quotas import Quotas
from cardan.service.api.resource_route import operation_id
from cardan.service.api.tickets import Tickets
from cardan.service.openapi import openapi_document
from cardan.service.processes.kernels import Kernels
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.services import Services
from cardan.service.sessions.registry import SessionOptions, Sessions
from cardan.service.settings import Settings

DESCRIPTION = (
    "Rigid multibody dynamics: post a scene, get a trajectory you can trust, watch it move. "
    "SI units and radians; W is right-handed with z up; quaternions are [w, x, y, z]. "
    "Everything that is not 2xx is application/problem+json."
)


def create_app(settings: Settings, kernels: Kernels | None = None) -> FastAPI:
    """The service with the page, not yet started; `kernels` may still be compiled by the caller."""
    app = FastAPI(
        title="Cardan",
        version=__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        telemetry=tracing.of_requests(),
    )
    app.state.settings, app.state.kernels = settings, kernels or Kernels()
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    problems.install(app)
    # the last one added sees a request first
    app.add_middleware(OwnerLayer)
    app.state.quotas, app.state.tickets = Quotas(settings), Tickets()
    app.add_middleware(BodyLayer, limit=settings.max_body_bytes, pause_s=settings.body_s)
    app.add_middleware(
        GuardLayer, settings=settings, quotas=app.state.quotas, tickets=app.state.tickets
    )
    app.add_middleware(RequestLayer)
    app.include_router(health.probes)
    app.include_router(docs.router)
    app.include_router(asyncapi.router)
    app.include_router(metrics.router)
    for part in (
        health,
        scenes,
        imports,
        stored_scenes,
        examples,
        verification,
        simulations,
        trajectories,
        run_logs,
        batches,
        studies,
        dynamics,
        mechanics,
        sessions,
        session_history,
        queries,
        complementarity,
        stream,
        tickets,
        shares,
    ):
        app.include_router(part.router, prefix="/v1")
    page.mount_manual(app)
    folder = page.page_folder()
    if folder is not None:
        page.mount_page(app, folder)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    settings: Settings = app.state.settings
    options = SessionOptions(
        idle_seconds=settings.session_idle_s,
        max_sessions=settings.max_sessions,
        sessions_per_key=settings.sessions_per_key,
        history_bytes=settings.session_history_bytes,
        worker_memory_bytes=settings.worker_memory_bytes,
        threads=settings.threads,
    )
    kernels: Kernels = app.state.kernels
    meter = app.state.quotas.simulated
    live = Sessions(settings.data / "sessions", options, kernels, meter)
    launcher = WorkerLauncher(kernels=kernels)
    services = Services(settings, launcher)
    app.state.services = services
    app.state.sessions = live
    # the fork server belongs to this thread, which lives as long as the service
    await live.start()
    watching = asyncio.create_task(watch_loop())
    await run_sync(services.start, asyncio.get_running_loop())
    try:
        yield {}
    finally:
        watching.cancel()
        # whoever waits for kernels need not wait any longer
        kernels.finish(ready=False)
        await live.close()
        await run_sync(services.close)
