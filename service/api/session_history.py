"""The past of live sessions over HTTP: kept frames, any step exactly, and forks."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as PathParameter
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from cardan.schemas import Fault
from cardan.schemas.base import Base
from cardan.schemas.frame import BlockTag, decode_frame
from cardan.schemas.quantities import Boolean, Index, Text
from cardan.schemas.step_problem import StepProblemAnswer
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.owners import owner_of
from cardan.service.api.problems import ProblemError, fault_problem
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.session_views import SessionView
from cardan.service.api.sessions import (
    TheSession,
    TheSessions,
    once,
    optional_body,
)
from cardan.service.compute.encoding import refused_slice
from cardan.service.intake import read_request
from cardan.service.recordings.slices import SliceError
from cardan.service.sessions.bundle import bundle
from cardan.service.sessions.folder import FolderError
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.plan import Plan
from cardan.service.sessions.replay_messages import FRAME_LENGTH, FrameAt, FramesAt, ProblemAt
from cardan.service.streams.codec import SharedFrame, split

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/sessions",
    tags=["sessions"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

ZIP = "application/zip"
MAX_JSON_FRAMES = 2000
MAX_FRAMES_AGAIN = 500
AGAIN = ("contacts", "friction", "momentum", "velocities", "reactions")
OCTETS = "application/octet-stream"


class ForkRequest(Base):
    """Request for a new session in the state of a past moment; neither step nor time: of now."""

    step: Index | None = None
    """The step."""
    time: Annotated[float, Field(strict=True, ge=0.0, le=1e12)] | None = None
    """Simulated time, whose nearest step is taken [s]."""
    name: Text | None = None
    """Title; default: that of the session."""
    paused: Boolean = True
    """Whether it waits for a command to run."""
    speed: Annotated[float, Field(strict=True, gt=0.0, le=64.0)] | None = 1.0
    """Simulated time per wall time; null: as fast as possible [-]."""


FORK_BODY = {"content": {"application/json": {"schema": ForkRequest.model_json_schema()}}}


@router.post("/{session_id}:fork", status_code=201, openapi_extra={"requestBody": FORK_BODY})
async def fork(
    request: Request,
    response: Response,
    session: TheSession,
    sessions: TheSessions,
    services: TheServices,
) -> SessionView:
    """Make a new session of the same scene in exactly the state of a past step."""
    asked = read_request(ForkRequest, await optional_body(request))
    if asked.step is not None and asked.time is not None:
        message = "A fork takes `step` or `time`, not both."
        fault = Fault(
            pointer="/time", code="contradiction", message=message, got=asked.time, hint=None
        )
        raise fault_problem(fault, "invalid_request")

    async def made() -> LiveSession:
        await session.open()
        step = session.progress.step if asked.step is None else asked.step
        if asked.time is not None:
            step = round(asked.time / session.progress.time_step)
        name = session.name if asked.name is None else asked.name
        owner, stored = owner_of(request), session.about.stored_scene
        return await sessions.fork(
            session, step, lambda scene: Plan(scene, name, asked.paused, asked.speed, owner, stored)
        )

    return await once(request, response, (sessions, services), made)


@router.get(
    "/{session_id}/frames",
    responses={200: {"content": {OCTETS: {}, "application/json": {}}}},
)
async def frames(
    request: Request,
    session: TheSession,
    sessions: TheSessions,
    first: Annotated[int | None, Query(alias="from", ge=0, description="first step")] = None,
    last: Annotated[int | None, Query(alias="to", ge=0, description="last step")] = None,
    stride: Annotated[int, Query(ge=1, description="every n-th frame")] = 1,
    channels: Annotated[
        str | None,
        Query(description=f"simulate again with these: {', '.join(AGAIN)}"),
    ] = None,
) -> Response:
    """The kept frames. Binary: each frame behind its length as u32; else JSON, 2000 frames at most.

    With `channels` the same moments are computed again, with all that is not kept; 500 at most.
    `X-History-From` and `X-History-To` are the first and last kept step, `X-History-Spacing` the
    steps between two kept frames, at most.
    """
    if first is not None and last is not None and first > last:
        raise refused_slice(SliceError("from", f"{first} is after to = {last}.", first))
    names = _channels(channels)
    chosen = session.history.between(first, last, stride)
    kept = session.history.range
    spacing = session.history.spacing(session.progress.first_step)
    headers = {"X-History-Spacing": str(spacing)}
    if kept is not None:
        headers |= {"X-History-From": str(kept[0]), "X-History-To": str(kept[1])}
    binary = OCTETS in request.headers.get("accept", "")
    if names and chosen:
        _check_count(chosen, MAX_FRAMES_AGAIN, "to be computed again", "or fewer steps")
        await session.open()
        order = FramesAt(0, session.epoch, tuple(frame.step for frame in chosen), names)
        chosen = _apart((await sessions.past(session, order)).body)
    if binary:
        return StreamingResponse(_octets(chosen), media_type=OCTETS, headers=headers)
    _check_count(chosen, MAX_JSON_FRAMES, "as JSON", f"fewer steps, or Accept: {OCTETS}")
    found = {
        "epoch": session.epoch,
        "from": None if kept is None else kept[0],
        "to": None if kept is None else kept[1],
        "spacing": spacing,
        "frames": [_frame_json(frame) for frame in chosen],
    }
    return Response(orjson.dumps(found), media_type="application/json", headers=headers)


@router.get(
    "/{session_id}/frames/{step}",
    responses={200: {"content": {OCTETS: {}, "application/json": {}}}},
)
async def frame_at(
    request: Request,
    session: TheSession,
    sessions: TheSessions,
    step: Annotated[int, PathParameter(ge=0, le=2**53)],
) -> Response:
    """The state of exactly this step, computed again from the key frame before it.

    JSON is as that of `state`; binary is one frame, with contacts.
    """
    await session.open()
    binary = OCTETS in request.headers.get("accept", "")
    order = FrameAt(0, session.epoch, step, described=not binary)
    found = await sessions.past(session, order)
    return Response(found.body, media_type=OCTETS if binary else "application/json")


@router.get("/{session_id}/problem", response_model=StepProblemAnswer)
async def problem(
    session: TheSession,
    sessions: TheSessions,
    step: Annotated[int | None, Query(ge=0, le=2**53, description="default: now")] = None,
) -> Response:
    """The constraint problem of the step from now, or from the state of a past step.

    J, M, impulses, bounds and names of all rows, which of them are held, which are redundant; up
    to 2000 rows and velocities.
    """
    await session.open()
    if step is None:
        found = (await session.command("problem", {})).value or {}
        return Response(orjson.dumps(found), media_type="application/json")
    past = await sessions.past(session, ProblemAt(0, session.epoch, step))
    return Response(past.body, media_type="application/json")


@router.get("/{session_id}/bundle", responses={200: {"content": {ZIP: {}}}})
async def bundled(session: TheSession) -> Response:
    """The session as a ZIP: scene, log of commands, first and latest key frame of the epoch."""
    try:
        data = await run_sync(bundle, session.folder)
    except (FolderError, OSError) as error:
        raise ProblemError(409, "no_bundle", f"There is no bundle: {error}.") from error
    name = f'attachment; filename="{session.id}.zip"'
    return Response(data, media_type=ZIP, headers={"Content-Disposition": name})


def _channels(text: str | None) -> tuple[str, ...]:
    """The channels that are asked for, each once. Raises ServiceError."""
    names = () if text is None else tuple(sorted(set(text.split(","))))
    for name in names:
        if name not in AGAIN:
            message = f"There is no channel {name!r} to compute again; there are "
            raise refused_slice(SliceError("channels", f"{message}{', '.join(AGAIN)}.", name))
    return names


def _check_count(chosen: list[SharedFrame], most: int, how: str, hint: str) -> None:
    if len(chosen) > most:
        detail = f"{len(chosen)} frames are asked for {how}; the limit is {most}."
        raise ProblemError(413, "too_many_frames", f"{detail} Take a larger stride, {hint}.")


def _apart(data: bytes) -> list[SharedFrame]:
    found, at = [], 0
    while at < len(data):
        begin = at + FRAME_LENGTH.size
        at = begin + FRAME_LENGTH.unpack_from(data, at)[0]
        found.append(split(data[begin:at]))
    return found


async def _octets(chosen: list[SharedFrame]) -> AsyncIterator[bytes]:
    for frame in chosen:
        data = frame.encode()
        yield FRAME_LENGTH.pack(len(data)) + data


def _frame_json(shared: SharedFrame) -> dict[str, Any]:
    frame = decode_frame(shared.encode())
    found: dict[str, Any] = {
        "step": frame.header.step,
        "time": frame.header.time,
        "epoch": frame.header.epoch,
        "sequence": frame.header.sequence,
    }
    for tag, table in frame.blocks.items():
        rows = table.tolist()
        names = table.dtype.names or ()
        if tag is BlockTag.POSES:
            found["poses"] = rows
        elif tag in (BlockTag.ENERGY, BlockTag.SOLVER, BlockTag.GRAB, BlockTag.MOMENTUM):
            values = (v.tolist() if hasattr(v, "tolist") else v for v in rows[0])
            found[tag.name.lower()] = dict(zip(names, values, strict=True))
        elif tag is BlockTag.STATE_HASH:
            found["state_hash"] = f"{rows[0][0]:016x}"
        else:
            found[tag.name.lower()] = [dict(zip(names, row, strict=True)) for row in rows]
    return found
