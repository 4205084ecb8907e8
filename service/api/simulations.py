"""`/v1/simulations`: post a scene, follow its run, cancel it, delete it."""

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from anyio.to_thread import run_sync
from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse

from cardan.schemas import Fault
from cardan.schemas.api import SimulationInfo
from cardan.schemas.base import Base
from cardan.schemas.masses import MassesAnswer
from cardan.schemas.pointer import apply_overrides
from cardan.service.api.accepted import accepted, as_json
from cardan.service.api.dependencies import (
    ThePage,
    TheServices,
    Wait,
    resource_router,
)
from cardan.service.api.following import EventSource, Now, event_answer, when_ended
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_bytes
from cardan.service.api.named_scenes import answer_about_scene
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.problems import ProblemError, request_id_of
from cardan.service.api.quotas import charged, refuse_beyond_stored
from cardan.service.api.views import simulation_info, simulation_infos, simulation_url
from cardan.service.compute.messages import Extent, MassesOrder, Taken, TakeOrder
from cardan.service.intake import invalid
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations.admission import NewRun
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.states import TERMINAL, RunState

log = logging.getLogger("cardan.api")

router = resource_router("simulations")

# how a run ended, where its state does not say it as a verb
ENDED = {"cancelled": "was cancelled", "timed_out": "took too long and ended"}


class SimulationPage(Base):
    """One page of simulations, newest first."""

    items: list[SimulationInfo]
    """Simulations."""
    next_page_token: str
    """Token of the next page; empty at the end."""


@router.post(
    "",
    response_model=SimulationInfo,
    status_code=202,
    responses={200: {"model": SimulationInfo, "description": "Done within `Prefer: wait=n`"}},
    openapi_extra={"x-body": "SimulationRequest"},
)
async def create(request: Request, services: TheServices, wait: Wait) -> Response:
    """Simulate a scene: `{"scene": {...} or an example's name}`, or the bare scene document.

    202 with its address, or 200 if it ended within `Prefer: wait=n` (n up to 30 s).
    """
    body = await read_bytes(request)
    async with ticket(request, services) as granted:
        run_id = granted.replayed
        if run_id is None:
            order = TakeOrder(body, "simulation")
            taken, stored = await answer_about_scene(request, services, order)
            await refuse_beyond_stored(request, services, request.app.state.sessions)
            with charged(request, Extent(1, taken.seconds)):
                new = owner_of(request), stored
                run_id = await run_sync(_admit, services, taken, granted.key, *new)
            granted.used = True
            services.queue.wake.set()
            log.info(
                "run %s is queued",
                run_id,
                extra={"run": run_id, "request": request_id_of(request.scope)},
            )
    row = await wait_until_ended(services, run_id, wait)
    info = await run_sync(simulation_info, services, row)
    url = simulation_url(row["id"])
    return accepted(info, url, granted, wait, ended=row["state"] in TERMINAL)


@router.get("", response_model=SimulationPage)
def listing(
    request: Request,
    services: TheServices,
    page: ThePage,
    status: Annotated[RunState | None, Query(description="only those in this state")] = None,
) -> SimulationPage:
    """List simulations, newest first (runs of batches are listed with their batch)."""
    rows = services.catalog.simulations(
        before=page.after, size=page.size + 1, status=status, created_by=seen_by(request)
    )
    shown, following = page.cut(rows)
    return SimulationPage(items=simulation_infos(services, shown), next_page_token=following)


@router.get("/{simulation_id}", response_model=SimulationInfo)
async def read(simulation_id: str, services: TheServices, wait: Wait) -> SimulationInfo:
    """One simulation; with `Prefer: wait=n` the response waits for its end, at most n seconds."""
    await run_sync(known_run, services, simulation_id)
    row = await wait_until_ended(services, simulation_id, wait)
    return await run_sync(simulation_info, services, row)


@router.get("/{simulation_id}/scene")
def scene(simulation_id: str, services: TheServices) -> dict[str, Any]:
    """The simulated scene, overrides included."""
    row = known_run(services, simulation_id)
    document = orjson.loads(services.catalog.scene_document(row["scene_hash"]))
    changed: dict[str, Any] = apply_overrides(document, row["overrides"])
    return changed


@router.get("/{simulation_id}/masses", response_model=MassesAnswer)
async def masses(simulation_id: str, services: TheServices) -> Response:
    """Masses, inertias and equivalent boxes of the dynamic bodies, as the scene starts."""

    def order() -> MassesOrder:
        row = known_run(services, simulation_id)
        return MassesOrder(services.catalog.scene_document(row["scene_hash"]), row["overrides"])

    found = await services.compute.answer(await run_sync(order))
    return Response(found.body, media_type="application/json")


@router.get("/{simulation_id}/summary")
def summary(simulation_id: str, services: TheServices) -> dict[str, Any]:
    """Energies, momenta, drift, penetration, residuals, timing, and the hash of the final state."""
    row = known_run(services, simulation_id)
    if row["summary"] is None:
        raise nothing_yet(row, "summary")
    found: dict[str, Any] = row["summary"]
    return found


@router.post(
    "/{simulation_id}:cancel",
    response_model=SimulationInfo,
    status_code=202,
    responses={200: {"model": SimulationInfo, "description": "It has ended already"}},
)
def cancel(simulation_id: str, services: TheServices) -> Response:
    """Cancel the run: `cancelling` until it has stopped; 200 if it has ended already."""
    known_run(services, simulation_id)
    state = services.queue.cancel(simulation_id)
    services.dispatcher.stop_run(simulation_id)
    info = simulation_info(services, known_run(services, simulation_id))
    return as_json(info, 200 if state in TERMINAL else 202)


@router.delete("/{simulation_id}", status_code=204)
def delete(simulation_id: str, services: TheServices) -> None:
    """Delete an ended simulation and its recording; 409 before it has ended."""
    row = known_run(services, simulation_id)
    if row["batch_id"]:
        raise ProblemError(
            409, "part_of_batch", f"This is a run of {row['batch_id']}; delete the batch."
        )
    stored = services.catalog.remove_run(simulation_id)
    if stored is None:
        raise ProblemError(
            409,
            "not_finished",
            f"The simulation is {row['state']}; cancel it first.",
            retryable=True,
        )
    for result in stored:
        services.discard_result(result)


@router.get("/{simulation_id}/events", response_class=StreamingResponse)
async def events(simulation_id: str, request: Request, services: TheServices) -> Response:
    """Server-sent events: `state` (stored, with ids for `Last-Event-ID`) and `progress`."""
    await run_sync(known_run, services, simulation_id)

    def states(after: int) -> Sequence[Row]:
        return services.catalog.events(simulation_id, after=after)

    def now() -> Now | None:
        row = services.catalog.run(simulation_id)
        return None if row is None else _now(simulation_info(services, row))

    source = EventSource(simulation_id, "state", states, now)
    return await event_answer(source, request, services)


def known_run(services: Services, run_id: str) -> Row:
    """Return the row of a run. Raises ProblemError 404."""
    row = services.catalog.run(run_id)
    if row is None:
        raise ProblemError(404, "not_found", f"There is no simulation {run_id!r}.")
    return row


def nothing_yet(row: Row, what: str) -> ProblemError:
    """Return the problem of a result that does not exist (yet)."""
    if row["state"] in TERMINAL:
        message = (row["error"] or {}).get("message", "it left nothing")
        ended = ENDED.get(row["state"], row["state"])
        return ProblemError(404, "no_result", f"The simulation {ended} without a {what}: {message}")
    return ProblemError(
        409,
        "not_finished",
        f"The simulation is {row['state']}; its {what} exists when it has ended.",
        retryable=True,
        headers={"Retry-After": "1"},
    )


async def wait_until_ended(services: Services, run_id: str, seconds: float) -> Row:
    """Return the row of a run when it has ended or time is up. Raises ProblemError 404."""

    def now() -> tuple[Row, bool]:
        row = known_run(services, run_id)
        return row, row["state"] in TERMINAL

    return await when_ended(services.changes, run_id, now, seconds)


DATABASE_GONE = (
    "The file of the database was removed or replaced while the service ran; "
    "nothing is accepted until it is started again."
)


def refuse_when_full(services: Services) -> None:
    """Raise 507 when there is no disk space for another recording, 503 without the database."""
    if not services.in_place:
        raise ProblemError(503, "database_gone", DATABASE_GONE)
    least = services.settings.min_free_bytes
    if services.free_bytes < least:
        raise ProblemError(
            507,
            "insufficient_storage",
            f"Less than {least} bytes are free for recordings, or their folder is read-only "
            "or gone.",
            headers={"Retry-After": "60"},
        )


def timeout_of(asked: Mapping[str, Any], settings: Settings) -> float:
    """Return the wall-clock time a run may take [s]. Raises ServiceError."""
    wanted = asked["timeout_s"]
    if wanted is None:
        return min(settings.default_timeout_s, settings.max_timeout_s)
    if wanted > settings.max_timeout_s:
        fault = Fault(
            pointer="/timeout_s",
            code="limit_exceeded",
            message=f"A run may take {settings.max_timeout_s:g} s here; {wanted:g} are asked for.",
            got=wanted,
            hint="Set a smaller timeout_s, or CARDAN_MAX_TIMEOUT_S.",
        )
        raise invalid([fault], "request")
    return float(wanted)


def _admit(
    services: Services,
    taken: Taken,
    key: str | None,
    owner: str | None,
    stored: Mapping[str, Any] | None,
) -> str:
    refuse_when_full(services)
    timeout = timeout_of(taken.asked, services.settings)
    run = NewRun({}, taken.steps, timeout, owner, stored)
    return services.admission.simulation(taken.text, run, name=taken.name, key=key)


def _now(info: SimulationInfo) -> Now:
    return Now(
        ended=info.finished_at is not None,
        mark=(info.step, info.position),
        data=info.model_dump(mode="json", exclude={"links"}),
    )
