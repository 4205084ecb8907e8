"""`/v1/studies`: choose design variables that minimise a quantity, or that fit measurements."""

import logging
from collections.abc import Mapping
from typing import Any

import orjson
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from cardan.schemas import apply_overrides
from cardan.schemas.base import Base
from cardan.schemas.study import StudyInfo
from cardan.service.api.accepted import accepted
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
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.problems import ProblemError, request_id_of
from cardan.service.api.quotas import charged
from cardan.service.api.simulations import refuse_when_full, timeout_of
from cardan.service.api.views import BASE, batch_url, moment, moment_or_none
from cardan.service.compute.messages import StudyOrder, TakenStudy
from cardan.service.services import Services
from cardan.service.simulations.admission import NewBatch, NewRun, NewStudy
from cardan.service.simulations.states import RunState
from cardan.service.studies.rows import Row

log = logging.getLogger("cardan.api")

router = resource_router("studies")


class StudyPage(Base):
    """One page of studies, newest first."""

    items: list[StudyInfo]
    """Studies."""
    next_page_token: str
    """Token of the next page; empty at the end."""


@router.post(
    "",
    response_model=StudyInfo,
    status_code=202,
    responses={200: {"model": StudyInfo, "description": "Done within `Prefer: wait=n`"}},
    openapi_extra={"x-body": "StudyRequest"},
)
async def create(request: Request, services: TheServices, wait: Wait) -> Response:
    """Minimise a quantity of a scene, or fit the scene to measurements, by changing some numbers.

    Every evaluation is a run of one batch. 202 with its address, or 200 if it ended within
    `Prefer: wait=n` (n up to 30 s).
    """
    order = StudyOrder(await read_bytes(request), services.settings.max_study_evaluations)
    async with ticket(request, services) as granted:
        study_id = granted.replayed
        if study_id is None:
            taken, stored = await answer_about_scene(request, services, order)
            with charged(request, taken.extent):
                new = owner_of(request), stored
                study_id = await run_sync(_admit, taken, services, granted.key, *new)
            granted.used = True
            services.queue.wake.set()
            ids = {"study": study_id, "request": request_id_of(request.scope)}
            log.info("study %s is queued", study_id, extra=ids)
    info = await _wait_until_ended(services, study_id, wait)
    ended = info.finished_at is not None
    return accepted(info, study_url(study_id), granted, wait, ended=ended)


@router.get("", response_model=StudyPage)
def listing(request: Request, services: TheServices, page: ThePage) -> StudyPage:
    """Studies, newest first."""
    rows = services.studies.rows.page(
        before=page.after, size=page.size + 1, created_by=seen_by(request)
    )
    shown, following = page.cut(rows)
    return StudyPage(items=[study_info(services, row) for row in shown], next_page_token=following)


@router.get("/{study_id}", response_model=StudyInfo)
async def read(study_id: str, services: TheServices, wait: Wait) -> StudyInfo:
    """One study with its best evaluation so far.

    With `Prefer: wait=n` the response waits for its end, at most n seconds.
    """
    return await _wait_until_ended(services, study_id, wait)


@router.get("/{study_id}/scene")
def scene(study_id: str, services: TheServices) -> dict[str, Any]:
    """The scene with the values of the best evaluation so far: the answer, once it has ended.

    409 before there is one.
    """
    row = _known(services, study_id)
    if row["best"] is None:
        raise ProblemError(
            409, "no_result", "No evaluation of this study has a value yet.", retryable=True
        )
    batch = services.catalog.batch(row["batch_id"])
    assert batch is not None
    document = orjson.loads(services.catalog.scene_document(batch["scene_hash"]))
    changed: dict[str, Any] = apply_overrides(document, row["best"]["values"])
    return changed


@router.get("/{study_id}/events", response_class=StreamingResponse)
async def events(study_id: str, request: Request, services: TheServices) -> Response:
    """Server-sent events: `run` (an evaluation changed; with ids for `Last-Event-ID`), `progress`.

    `progress` is the study.
    """
    row = await run_sync(_known, services, study_id)

    def now() -> Now | None:
        found = services.studies.rows.get(study_id)
        return None if found is None else _now(study_info(services, found))

    source = EventSource(study_id, "run", runs_of_batch(services, row["batch_id"]), now)
    return await event_answer(source, request, services)


@router.post("/{study_id}:cancel", response_model=StudyInfo, status_code=202)
def cancel(study_id: str, services: TheServices) -> StudyInfo:
    """End the search and stop its runs; `cancelling` until they have stopped."""
    row = _known(services, study_id)
    if services.studies.rows.cancel(study_id):
        services.queue.cancel_batch(row["batch_id"], "Cancelled on request.")
        for run in services.catalog.runs_of(row["batch_id"], status=RunState.CANCELLING):
            services.dispatcher.stop_run(run["id"])
    return study_info(services, _known(services, study_id))


@router.delete("/{study_id}", status_code=204)
def delete(study_id: str, services: TheServices) -> None:
    """Delete an ended study, its batch and all runs of it; 409 before it has ended."""
    row = _known(services, study_id)
    stored = services.studies.rows.remove(row, services.catalog)
    if stored is None:
        raise ProblemError(
            409, "not_finished", "The study is not over; cancel it first.", retryable=True
        )
    for result in stored:
        services.discard_result(result)


def study_url(study_id: str) -> str:
    """Return the address of a study."""
    return f"{BASE}/studies/{study_id}"


def study_info(services: Services, row: Row) -> StudyInfo:
    """Return a study as an object of the API."""
    _, ended, failed = services.studies.rows.counts(row["batch_id"])
    url, batch = study_url(row["id"]), batch_url(row["batch_id"])
    evaluations = services.catalog.batch(row["batch_id"])
    return StudyInfo(
        id=row["id"],
        status=row["state"],
        method=row["method"],
        evaluations=ended,
        failed=failed,
        max_evaluations=row["asked"]["max_evaluations"],
        best=row["best"],
        reason=row["reason"],
        error=row["error"],
        name=row["name"] or "",
        stored_scene=None if evaluations is None else evaluations["stored_scene"],
        created_at=moment(row["created_at"]),
        finished_at=moment_or_none(row["finished_at"]),
        links={
            "self": url,
            "batch": batch,
            "results": f"{batch}/results",
            "events": f"{url}/events",
            "scene": f"{url}/scene",
        },
    )


def _admit(
    taken: TakenStudy,
    services: Services,
    key: str | None,
    owner: str | None,
    stored: Mapping[str, Any] | None,
) -> str:
    refuse_when_full(services)
    asked = taken.asked
    timeout = timeout_of(asked, services.settings)
    objective = asked["objective"]
    named = [one["quantity"] for one in asked["constraints"]] + [objective]
    batch = NewBatch(
        name=taken.name,
        parameters=taken.parameters,
        metrics=list(dict.fromkeys(one["metric"] for one in named if one["type"] == "metric")),
        max_parallel=asked["max_parallel"],
        on_failure="continue",
        record="metrics",
        measure={"objective": objective, "constraints": asked["constraints"]},
        created_by=owner,
    )
    runs = [NewRun(overrides, taken.steps, timeout, owner, stored) for overrides in taken.runs]
    study = NewStudy(taken.name, asked, taken.method)
    return services.admission.study(taken.text, study, batch, runs, key=key)


def _known(services: Services, study_id: str) -> Row:
    row = services.studies.rows.get(study_id)
    if row is None:
        raise ProblemError(404, "not_found", f"There is no study {study_id!r}.")
    return row


async def _wait_until_ended(services: Services, study_id: str, seconds: float) -> StudyInfo:
    """Return a study when it has ended or time is up. Raises ProblemError 404."""

    def now() -> tuple[StudyInfo, bool]:
        info = study_info(services, _known(services, study_id))
        return info, info.finished_at is not None

    return await when_ended(services.changes, study_id, now, seconds)


def _now(info: StudyInfo) -> Now:
    return Now(
        ended=info.finished_at is not None,
        mark=(info.status, info.evaluations, info.best),
        data=info.model_dump(mode="json", exclude={"links"}),
    )
