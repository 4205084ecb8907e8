"""`/v1/simulations`: post a scene, follow its run, cancel it, delete it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response, StreamingResponse

from cardan.schemas.api import SimulationInfo
from cardan.schemas.base import Base
from cardan.schemas.pointer import apply_overrides
from cardan.service import clock
from cardan.service.api.dependencies import (
    PROBLEMS,
    ThePage,
    TheServices,
    Wait,
    refuse_unknown_query,
)
from cardan.service.api.digits import MOST_DIGITS
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_bytes
from cardan.service.api.problems import ProblemError
from cardan.service.api.views import simulation_info, simulation_infos, simulation_url
from cardan.service.compute.messages import Taken, TakeOrder
from cardan.service.intake import SceneText
from cardan.service.services import Services
from cardan.service.simulations.admission import NewRun
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.states import TERMINAL, RunState

router = APIRouter(
    prefix="/simulations",
    tags=["simulations"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

KEEP_ALIVE_SECONDS = 15.0


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
            taken = await services.compute.answer(TakeOrder(body, "simulation"))
            run_id = await run_sync(_admit, services, taken, granted.key)
            granted.used = True
            services.queue.wake.set()
    row = await wait_until_ended(services, run_id, wait)
    replayed = {"Idempotency-Replayed": "true"} if granted.replayed else {}
    return await run_sync(_accepted, services, row, wait, replayed)


@router.get("", response_model=SimulationPage)
def listing(
    services: TheServices,
    page: ThePage,
    status: Annotated[RunState | None, Query(description="only those in this state")] = None,
) -> SimulationPage:
    """List simulations, newest first (runs of batches are listed with their batch)."""
    rows = services.catalog.simulations(before=page.after, size=page.size + 1, status=status)
    shown = rows[: page.size]
    last = shown[-1]["seq"] if len(rows) > page.size else None
    return SimulationPage(items=simulation_infos(services, shown), next_page_token=page.token(last))


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


@router.get("/{simulation_id}/summary")
def summary(simulation_id: str, services: TheServices) -> dict[str, Any]:
    """Energies, momenta, drift, penetration, residuals, timing, and the hash of the final state."""
    row = known_run(services, simulation_id)
    if row["summary"] is None:
        raise nothing_yet(row, "summary")
    found: dict[str, Any] = row["summary"]
    return found


@router.post("/{simulation_id}:cancel", response_model=SimulationInfo, status_code=202)
def cancel(simulation_id: str, services: TheServices) -> Response:
    """Cancel the run: `cancelling` until it has stopped; 200 if it has ended already."""
    known_run(services, simulation_id)
    state = services.queue.cancel(simulation_id)
    services.dispatcher.stop_run(simulation_id)
    info = simulation_info(services, known_run(services, simulation_id))
    return _json(info, 200 if state in TERMINAL else 202)


@router.delete("/{simulation_id}", status_code=204)
def delete(simulation_id: str, services: TheServices) -> None:
    """Delete an ended simulation and its recording; 409 before it has ended."""
    row = known_run(services, simulation_id)
    if row["batch_id"]:
        raise ProblemError(
            409, "part_of_batch", f"This is a run of {row['batch_id']}; delete the batch."
        )
    if not services.catalog.remove_run(simulation_id):
        raise ProblemError(
            409,
            "not_finished",
            f"The simulation is {row['state']}; cancel it first.",
            retryable=True,
        )
    services.discard_result(row["result"])


@router.get(
    "/{simulation_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def events(simulation_id: str, request: Request, services: TheServices) -> Response:
    """Server-sent events: `state` (stored, with ids for `Last-Event-ID`) and `progress`."""
    row = await run_sync(known_run, services, simulation_id)
    after = _last_event_id(request)
    past = await run_sync(_events_after, services, simulation_id, after)
    if row["state"] in TERMINAL and not past:
        # stops an EventSource from reconnecting
        return Response(status_code=204)
    return StreamingResponse(
        _event_stream(services, simulation_id, after),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


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
        return ProblemError(
            404, "no_result", f"The simulation {row['state']} without a {what}: {message}"
        )
    return ProblemError(
        409,
        "not_finished",
        f"The simulation is {row['state']}; its {what} exists when it has ended.",
        retryable=True,
        headers={"Retry-After": "1"},
    )


async def wait_until_ended(services: Services, run_id: str, seconds: float) -> Row:
    """Return the row of a run when it has ended or time is up. Raises ProblemError 404."""
    until = clock.monotonic() + seconds
    with services.changes.watch(run_id) as changed:
        while True:
            changed.clear()
            row = await run_sync(known_run, services, run_id)
            left = until - clock.monotonic()
            if row["state"] in TERMINAL or left <= 0.0:
                return row
            try:
                await asyncio.wait_for(changed.wait(), left)
            except TimeoutError:
                return await run_sync(known_run, services, run_id)


def refuse_when_full(services: Services) -> None:
    """Raise 507 when there is no disk space for another recording."""
    least = services.settings.min_free_bytes
    if services.free_bytes < least:
        raise ProblemError(
            507,
            "insufficient_storage",
            f"Less than {least} bytes are free for recordings; delete old simulations.",
            headers={"Retry-After": "60"},
        )


def _admit(services: Services, taken: Taken, key: str | None) -> str:
    refuse_when_full(services)
    timeout = taken.asked["timeout_s"] or services.settings.default_timeout_s
    run = NewRun(overrides={}, total_steps=taken.steps, timeout_s=timeout)
    text = SceneText(taken.hash, taken.text)
    return services.admission.simulation(text, run, name=taken.name, key=key)


def _accepted(services: Services, row: Row, wait: float, more: dict[str, str]) -> Response:
    info = simulation_info(services, row)
    headers = {"Location": simulation_url(row["id"]), **more}
    if wait:
        headers["Preference-Applied"] = f"wait={wait:.0f}"
    # without `wait` the response is the same whether or not a short run has already ended
    if wait and row["state"] in TERMINAL:
        return _json(info, 200, headers)
    return _json(info, 202, headers | {"Retry-After": "1"})


def _json(info: Base, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(info.model_dump_json(), status, headers, media_type="application/json")


def _last_event_id(request: Request) -> int:
    text = request.headers.get("last-event-id", "").strip()
    if not text:
        return 0
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ProblemError(422, "invalid_request", "Last-Event-ID must be the id of an event.")
    return int(text)


async def _event_stream(services: Services, run_id: str, after: int) -> AsyncIterator[bytes]:
    told: tuple[Any, ...] = ()
    with services.changes.watch(run_id) as changed:
        while True:
            changed.clear()
            for event in await run_sync(_events_after, services, run_id, after):
                after = event["seq"]
                yield _event("state", event["data"], after)
            row = await run_sync(services.catalog.run, run_id)
            if row is None:
                return
            info = await run_sync(simulation_info, services, row)
            now = (info.step, info.position)
            if now != told:
                told = now
                yield _event("progress", info.model_dump(mode="json", exclude={"links"}))
            if row["state"] in TERMINAL:
                if not await run_sync(_events_after, services, run_id, after):
                    return
                continue
            try:
                await asyncio.wait_for(changed.wait(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield b": still here\n\n"


def _events_after(services: Services, run_id: str, after: int) -> Sequence[Row]:
    return services.catalog.events(run_id, after=after)


def _event(kind: str, data: Any, number: int | None = None) -> bytes:
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"
