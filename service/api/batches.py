"""`/v1/batches`: many variants of one scene, one table of results."""

import logging
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse

from cardan.schemas.api import BatchInfo, RunInfo, SimulationInfo
from cardan.schemas.base import Base
from cardan.service.api.accepted import accepted, as_json
from cardan.service.api.batch_intake import (
    BatchEstimate,
    admit_batch,
    batch_estimate,
    batch_order,
    extent_to_retry,
    retry,
)
from cardan.service.api.content import answer
from cardan.service.api.dependencies import (
    ThePage,
    TheServices,
    Wait,
    resource_router,
)
from cardan.service.api.following import EventSource, Now, event_answer, runs_of_batch, when_ended
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_bytes
from cardan.service.api.named_scenes import answer_about_scene
from cardan.service.api.negotiation import wanted_format
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.preconditions import check_match
from cardan.service.api.problems import ProblemError, request_id_of
from cardan.service.api.quotas import charged, refuse_beyond_stored
from cardan.service.api.views import (
    batch_info,
    batch_url,
    metric,
    rfc3339,
    simulation_infos,
    simulation_url,
)
from cardan.service.recordings.rows import encode_rows
from cardan.service.services import Services
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.states import RunState
from cardan.service.studies.table import quantities_of, quantity_names

log = logging.getLogger("cardan.api")

router = resource_router("batches")


class BatchPage(Base):
    """One page of batches, newest first."""

    items: list[BatchInfo]
    """Batches."""
    next_page_token: str
    """Token of the next page; empty at the end."""


class RunPage(Base):
    """One page of a batch's runs, in their order."""

    items: list[RunInfo]
    """Simulations with the overrides of their run."""
    next_page_token: str
    """Token of the next page; empty at the end."""


@router.post(
    "",
    response_model=BatchInfo,
    status_code=202,
    responses={
        200: {
            "model": BatchInfo | BatchEstimate,
            "description": "Done within `Prefer: wait=n`; with `estimate=true` the estimate",
        }
    },
    openapi_extra={"x-body": "BatchRequest"},
)
async def create(
    request: Request,
    services: TheServices,
    wait: Wait,
    estimate: Annotated[bool, Query(description="only say what it would cost")] = False,
) -> Response:
    """Queue every variant of a scene: a grid, a zip, a list or a sample of values at JSON Pointers.

    202 with its address, or 200 if it ended within `Prefer: wait=n` (n up to 30 s).
    """
    order = batch_order(await read_bytes(request), services.settings, estimate=estimate)
    if estimate:
        taken, _ = await answer_about_scene(request, services, order)
        return as_json(batch_estimate(taken, services.workers), 200)
    async with ticket(request, services) as granted:
        batch_id = granted.replayed
        if batch_id is None:
            taken, stored = await answer_about_scene(request, services, order)
            if taken.asked["record"] != "metrics":
                await refuse_beyond_stored(request, services, request.app.state.sessions)
            with charged(request, taken.extent):
                new = owner_of(request), stored
                batch_id = await run_sync(admit_batch, taken, services, granted.key, *new)
            granted.used = True
            services.queue.wake.set()
            log.info(
                "batch %s is queued",
                batch_id,
                extra={"batch": batch_id, "request": request_id_of(request.scope)},
            )
    info = await wait_until_ended(services, batch_id, wait)
    ended = info.finished_at is not None
    return accepted(info, batch_url(batch_id), granted, wait, ended=ended)


@router.get("", response_model=BatchPage)
def listing(request: Request, services: TheServices, page: ThePage) -> BatchPage:
    """Batches, newest first."""
    rows = services.catalog.batches(
        before=page.after, size=page.size + 1, created_by=seen_by(request)
    )
    shown, following = page.cut(rows)
    return BatchPage(items=[batch_info(services, row) for row in shown], next_page_token=following)


@router.get("/{batch_id}", response_model=BatchInfo)
async def read(batch_id: str, services: TheServices, wait: Wait) -> BatchInfo:
    """One batch: `partially_succeeded` when it has ended and some runs were not successful.

    With `Prefer: wait=n` the response waits for its end, at most n seconds.
    """
    return await wait_until_ended(services, batch_id, wait)


@router.get("/{batch_id}/events", response_class=StreamingResponse)
async def events(batch_id: str, request: Request, services: TheServices) -> Response:
    """Server-sent events: `run` (a run changed; with ids for `Last-Event-ID`) and `progress`."""
    await run_sync(known_batch, services, batch_id)

    def now() -> Now | None:
        row = services.catalog.batch(batch_id)
        return None if row is None else _now(batch_info(services, row))

    source = EventSource(batch_id, "run", runs_of_batch(services, batch_id), now)
    return await event_answer(source, request, services)


@router.get("/{batch_id}/runs", response_model=RunPage)
def runs(
    batch_id: str,
    services: TheServices,
    page: ThePage,
    status: Annotated[RunState | None, Query(description="only those in this state")] = None,
) -> RunPage:
    """The runs in their order, as simulations with their overrides."""
    known_batch(services, batch_id)
    found = services.catalog.runs_of(batch_id, after=page.after, size=page.size + 1, status=status)
    shown, following = page.cut(found, "number")
    infos = simulation_infos(services, shown)
    items = [_run_item(info, row) for info, row in zip(infos, shown, strict=True)]
    return RunPage(items=items, next_page_token=following)


@router.get(
    "/{batch_id}/results",
    response_class=Response,
    responses={
        206: {"description": "The range that was asked for"},
        304: {"description": "The client has it already"},
    },
)
def results(
    batch_id: str,
    request: Request,
    services: TheServices,
    form_name: Annotated[
        str | None, Query(alias="format", description="parquet (default), csv, json")
    ] = None,
) -> Response:
    """One row per run: parameters, status, metrics, error code, link. Available while it runs.

    Of a study also `objective`, the value it minimises (or maximises), and `constraints.0` and so
    on, the constrained quantities; null where a run has none.
    """
    batch = known_batch(services, batch_id)
    form = wanted_format(request, form_name, among=("parquet", "csv", "json"))
    rows, columns = result_rows(batch, services)
    metadata = {
        "format": "cardan.batch",
        "format_version": 1,
        "batch": batch_id,
        "name": batch["name"],
        "scene_hash": batch["scene_hash"],
        "parameters": batch["parameters"],
        "metrics": batch["metrics"],
    }
    data = encode_rows(rows, columns, metadata, form)
    # the table changes as runs end: the numbers of ended runs and attempts identify it
    ended = sum(1 for row in rows if row["finished_at"] is not None)
    etag = f'"{batch_id}-{ended}-{sum(int(row["attempt"]) for row in rows)}-{form.name}"'
    check_match(request, etag, required=False)
    return answer(
        request,
        data,
        etag=etag,
        media_type=form.media_type,
        file_name=f"{batch_id}{form.ending}",
    )


@router.post("/{batch_id}:cancel", response_model=BatchInfo, status_code=202)
def cancel(batch_id: str, services: TheServices) -> BatchInfo:
    """Start no further run and stop the running ones; `cancelling` until they have stopped."""
    known_batch(services, batch_id)
    services.queue.cancel_batch(batch_id, "Cancelled on request.")
    for row in services.catalog.runs_of(batch_id, status=RunState.CANCELLING):
        services.dispatcher.stop_run(row["id"])
    return _info(services, batch_id)


@router.post("/{batch_id}:retry-failed", response_model=BatchInfo, status_code=202)
async def retry_failed(batch_id: str, request: Request, services: TheServices) -> BatchInfo:
    """Queue the runs again that failed, timed out or were cancelled, as new ones are queued."""
    batch = await run_sync(known_batch, services, batch_id)
    await run_sync(_refuse_study, batch, services)
    if batch["record"] != "metrics":
        await refuse_beyond_stored(request, services, request.app.state.sessions)
    with charged(request, await run_sync(extent_to_retry, services, batch)):
        await run_sync(retry, services, batch_id)
    return await run_sync(_info, services, batch_id)


@router.delete("/{batch_id}", status_code=204)
def delete(batch_id: str, services: TheServices) -> None:
    """Delete an ended batch, its runs and their recordings; 409 before it has ended."""
    _refuse_study(known_batch(services, batch_id), services)
    stored = services.catalog.remove_batch(batch_id)
    if stored is None:
        raise ProblemError(
            409, "not_finished", "The batch is not over; cancel it first.", retryable=True
        )
    for result in stored:
        services.discard_result(result)


def result_rows(batch: Row, services: Services) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of the result table and the names of its columns; of a study with its objective."""
    quantities = quantity_names(batch["measure"])
    columns = ["run", "id", "status", *batch["parameters"], *quantities, *batch["metrics"]]
    columns += ["error_code", "error", "attempt", "steps", "finished_at", "link"]
    rows = []
    for row in services.catalog.runs_of(batch["id"]):
        error = row["error"] or {}
        rows.append(
            {
                "run": row["number"],
                "id": row["id"],
                "status": row["state"],
                **{name: row["overrides"].get(name) for name in batch["parameters"]},
                **quantities_of(batch["measure"], row["summary"]),
                **{name: metric(row["summary"], name) for name in batch["metrics"]},
                "error_code": error.get("code"),
                "error": error.get("message"),
                "attempt": row["attempt"],
                "steps": row["step"],
                "finished_at": rfc3339(row["finished_at"]),
                "link": simulation_url(row["id"]),
            }
        )
    return rows, columns


def known_batch(services: Services, batch_id: str) -> Row:
    """Return the row of a batch. Raises ProblemError 404."""
    row = services.catalog.batch(batch_id)
    if row is None:
        raise ProblemError(404, "not_found", f"There is no batch {batch_id!r}.")
    return row


def _refuse_study(batch: Row, services: Services) -> None:
    """Raise 409 for the batch of a study, whose search stands on its runs."""
    study = batch["study_id"]
    if study is not None and services.studies.rows.get(study) is not None:
        raise ProblemError(409, "part_of_study", f"This batch belongs to {study}; use that.")


def _info(services: Services, batch_id: str) -> BatchInfo:
    return batch_info(services, known_batch(services, batch_id))


async def wait_until_ended(services: Services, batch_id: str, seconds: float) -> BatchInfo:
    """Return a batch when it has ended or time is up. Raises ProblemError 404."""

    def now() -> tuple[BatchInfo, bool]:
        info = _info(services, batch_id)
        return info, info.finished_at is not None

    return await when_ended(services.changes, batch_id, now, seconds)


def _now(info: BatchInfo) -> Now:
    return Now(
        ended=info.finished_at is not None,
        mark=(info.status, tuple(sorted(info.counts.items()))),
        data=info.model_dump(mode="json", exclude={"links"}),
    )


def _run_item(info: SimulationInfo, row: Row) -> RunInfo:
    return RunInfo(
        **dict(info), run=row["number"], overrides=row["overrides"], attempt=row["attempt"]
    )
