"""Live sessions over HTTP: create, inspect, control; frames are sent by `stream.py`."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response
from pydantic import Field

from cardan.schemas import Fault
from cardan.schemas.base import Base
from cardan.schemas.error import found, shown
from cardan.schemas.masses import MassesAnswer
from cardan.schemas.quantities import Boolean, Text
from cardan.service.api.dependencies import PROBLEMS, ThePage, TheServices, refuse_unknown_query
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_body, read_bytes
from cardan.service.api.named_scenes import answer_about_scene
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.problems import fault_problem, header_problem
from cardan.service.api.quotas import refuse_beyond_stored
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.session_views import SessionPage, SessionView, describe
from cardan.service.compute.messages import MassesOrder, TakeOrder
from cardan.service.errors import ServiceError
from cardan.service.intake import located, read_request
from cardan.service.services import Services
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.messages import Result
from cardan.service.sessions.parse_command import (
    CONTROL_MODELS,
    MODELS,
    check_series,
    parse_command,
)
from cardan.service.sessions.plan import Plan
from cardan.service.sessions.registry import Sessions

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/sessions",
    tags=["sessions"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


class SessionPatch(Base):
    """Properties of a session that a PATCH can change."""

    name: Text = ""
    """Title."""
    paused: Boolean | None = None
    """Pauses or resumes."""
    speed: Annotated[float, Field(strict=True, gt=0.0, le=64.0)] | None = 1.0
    """Simulated time per wall time; null: as fast as possible [-]."""


def sessions_of(request: Request) -> Sessions:
    """Return all live sessions."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def session_of(session_id: str, request: Request) -> LiveSession:
    """Return the session of the path. Raises ServiceError."""
    return sessions_of(request).get(session_id)


TheSessions = Annotated[Sessions, Depends(sessions_of)]
TheSession = Annotated[LiveSession, Depends(session_of)]
# who asks, for sessions that one client steers
ClientId = Annotated[
    str | None,
    Header(max_length=200, description="the client_id that asks, as it takes control"),
]


@router.post("", status_code=201, openapi_extra={"x-body": "SessionRequest"})
async def create(
    request: Request, response: Response, sessions: TheSessions, services: TheServices
) -> SessionView:
    """Start a live run of a scene: inline or an example's name, with overrides by JSON Pointer."""
    body = await read_bytes(request)
    return await once(
        request, response, (sessions, services), lambda: _created(request, body, sessions, services)
    )


async def once(
    request: Request,
    response: Response,
    rooms: tuple[Sessions, Services],
    make: Callable[[], Awaitable[LiveSession]],
) -> SessionView:
    """Make a session, or find the one that a request with the same key made."""
    sessions, services = rooms
    async with ticket(request, services) as granted:
        if granted.replayed is None:
            await refuse_beyond_stored(request, services, sessions)
            session = await make()
            try:
                await run_sync(services.admission.bind, granted.key, session.id)
                granted.used = True
            finally:
                left = granted.key is None and await request.is_disconnected()
                if left or not granted.used:
                    # nobody learns its id: it would keep its place until it is idle for long
                    await sessions.delete(session.id)
        else:
            session = sessions.get(granted.replayed)
            response.headers["Idempotency-Replayed"] = "true"
    view = describe(session)
    response.headers["Location"] = view.links["self"]
    return view


async def _created(
    request: Request, body: bytes, sessions: Sessions, services: Services
) -> LiveSession:
    """Start the session of a request. Raises ServiceError."""
    taken, stored = await answer_about_scene(request, services, TakeOrder(body, "session"))
    asked = taken.asked
    try:
        owner = owner_of(request)
        run = asked["paused"], asked["speed"]
        plan = Plan(taken.text.document, taken.name, *run, owner, stored)
        return await sessions.create(plan)
    except ServiceError as error:
        faults = [Fault.model_validate(fault) for fault in error.errors]
        moved = located(faults, asked["overrides"], "/scene")
        error.errors = [fault.model_dump() for fault in moved]
        raise


@router.get("")
async def list_sessions(request: Request, sessions: TheSessions, page: ThePage) -> SessionPage:
    """List the live sessions, oldest first."""
    first = 0 if page.after is None else page.after + 1
    name = seen_by(request)
    everyone = [s for s in sessions.all() if name is None or s.about.created_by == name]
    chosen = everyone[first : first + page.size]
    last = first + len(chosen) - 1
    more = last + 1 < len(everyone)
    items = [describe(session) for session in chosen]
    return SessionPage(items=items, next_page_token=page.token(last if more else None))


@router.get("/{session_id}")
async def show(session: TheSession) -> SessionView:
    """Show the current state of the session."""
    return describe(session)


@router.patch("/{session_id}")
async def change(request: Request, session: TheSession, client_id: ClientId = None) -> SessionView:
    """Change name, speed or whether it is paused; fields that are not given keep their value."""
    asked = read_request(SessionPatch, await read_body(request))
    given = asked.model_fields_set
    if "name" in given:
        session.change_about(name=asked.name)
    if "speed" in given:
        await session.command("speed", {"factor": asked.speed}, client_id=client_id)
    if "paused" in given and asked.paused is not None:
        await session.command("pause" if asked.paused else "resume", client_id=client_id)
    return describe(session)


@router.delete("/{session_id}", status_code=204)
async def delete(
    session_id: str,
    sessions: TheSessions,
    viewer: Annotated[
        str | None, Query(description="client_id: end it only if no other viewer is connected")
    ] = None,
) -> Response:
    """End the session and its process."""
    await sessions.delete(session_id, viewer)
    return Response(status_code=204)


@router.post("/{session_id}:pause")
async def pause(session: TheSession, client_id: ClientId = None) -> SessionView:
    """Stop stepping."""
    await session.command("pause", client_id=client_id)
    return describe(session)


@router.post("/{session_id}:resume")
async def resume(session: TheSession, client_id: ClientId = None) -> SessionView:
    """Continue stepping."""
    await session.command("resume", client_id=client_id)
    return describe(session)


@router.post("/{session_id}:reset")
async def reset(request: Request, session: TheSession, client_id: ClientId = None) -> SessionView:
    """Go back to the start of the scene, then to the coordinates {q?, qd?} by names of joints.

    The epoch increases. An ended run becomes paused.
    """
    op, arguments = parse_command({**await optional_body(request), "op": "reset"})
    await session.command(op, arguments, client_id=client_id)
    return describe(session)


@router.post("/{session_id}:step")
async def step(request: Request, session: TheSession, client_id: ClientId = None) -> dict[str, Any]:
    """Do n steps and pause: {n, sample_every?}; with sample_every, also return the series."""
    body = await optional_body(request)
    op, arguments = parse_command({**body, "op": "step"})
    await session.open()
    check_series(arguments, len(session.progress.body_names))
    return tell(await session.command(op, arguments, client_id=client_id))


@router.post("/{session_id}:snapshot", status_code=201)
async def snapshot(session: TheSession) -> dict[str, Any]:
    """Store the current state; the session keeps the newest 16."""
    return (await session.snapshot()).describe()


class RestoreRequest(Base):
    """Request to restore an earlier state."""

    snapshot: Annotated[str, Field(strict=True, min_length=1, max_length=100)]
    """Id of a snapshot of this session."""


@router.post("/{session_id}:restore")
async def restore(request: Request, session: TheSession, client_id: ClientId = None) -> SessionView:
    """Restore a stored snapshot, bit for bit, but in nobody's hand: {snapshot}; a new epoch."""
    asked = read_request(RestoreRequest, await read_body(request))
    read = session.snapshots.restoring
    arguments, data = await run_sync(read, asked.snapshot, session.log)
    await session.command("restore", arguments, client_id=client_id, body=data)
    return describe(session)


@router.get("/{session_id}/snapshots")
async def snapshots(session: TheSession) -> dict[str, Any]:
    """List the stored snapshots, oldest first."""
    return {"items": [kept.describe() for kept in session.snapshots]}


@router.post("/{session_id}/commands")
async def command(
    request: Request, session: TheSession, client_id: ClientId = None
) -> dict[str, Any]:
    """Execute any command of the socket that concerns the run or its control: {op, ...}."""
    document = await read_body(request)
    op, arguments = parse_command(document, {**MODELS, **CONTROL_MODELS})
    await session.open()
    if op in CONTROL_MODELS:
        session.control.change(op, _named(client_id))
        result = tell(session.progress.nothing_done())
    else:
        check_series(arguments, len(session.progress.body_names))
        result = tell(await session.command(op, arguments, client_id=client_id))
    return {**result, "id": document["id"]} if "id" in document else result


def _named(client_id: str | None) -> str:
    """The client that asks for control, by its own name. Raises ProblemError."""
    if client_id:
        return client_id
    message = "Whoever takes or releases control names itself in this header; it is missing."
    hint = "Any text of 1 to 200 characters, the same in every request."
    raise header_problem("Client-Id", message, "", hint)


@router.get("/{session_id}/commands")
async def commands(session: TheSession) -> dict[str, Any]:
    """The log of accepted commands, each with the step at which it took effect."""
    return session.log.describe()


@router.get("/{session_id}/scene")
async def scene(session: TheSession, sessions: TheSessions) -> Response:
    """The scene of the session, overrides and defaults filled in."""
    return Response(await sessions.scene(session), media_type="application/json")


@router.get("/{session_id}/masses", response_model=MassesAnswer)
async def masses(session: TheSession, sessions: TheSessions, services: TheServices) -> Response:
    """Masses, inertias and equivalent boxes of the dynamic bodies, as the scene starts."""
    order = MassesOrder(await sessions.scene(session), {})
    return Response((await services.compute.answer(order)).body, media_type="application/json")


@router.get("/{session_id}/state")
async def state(session: TheSession) -> dict[str, Any]:
    """The complete current state, in double precision."""
    result = await session.command("state")
    return {"epoch": session.epoch, "state": str(session.phase), **(result.value or {})}


@router.get("/{session_id}/summary")
async def summary(session: TheSession) -> dict[str, Any]:
    """The summary of the run so far."""
    return (await session.command("summary")).value or {}


def tell(result: Result) -> dict[str, Any]:
    """Return the response to a command that was applied."""
    return {
        "op": "result",
        "applied_step": result.applied_step,
        "step": result.step,
        "time": result.time,
        **(result.value or {}),
    }


async def optional_body(request: Request) -> dict[str, Any]:
    """Return the object of a body that may be left out. Raises ProblemError."""
    if not await request.body():
        return {}
    document = await read_body(request)
    if not isinstance(document, dict):
        message = f"The body must be a JSON object; found {found(document)}."
        fault = Fault(pointer="", code="not_an_object", message=message, got=shown(document))
        raise fault_problem(fault, "invalid_request")
    return document
