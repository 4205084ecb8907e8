"""Links for viewing: `/shares` of a session, a simulation or a batch, and what a link opens.

Whoever has a link reads and watches this one resource without a key, of a batch also its runs:
nothing else, and changes nothing. A browser opens `/?share=TOKEN` and keeps the token as a cookie
for the addresses of the resource; other clients send it as `Authorization: Bearer TOKEN`.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from cardan.schemas.base import Base
from cardan.schemas.quantities import Text
from cardan.service import clock
from cardan.service.api.batches import known_batch
from cardan.service.api.dependencies import (
    PROBLEMS,
    TheServices,
    refuse_unknown_query,
    services_of,
)
from cardan.service.api.owners import owner_of
from cardan.service.api.problems import ProblemError
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.sessions import TheSession, optional_body
from cardan.service.api.simulations import known_run
from cardan.service.api.views import moment
from cardan.service.intake import read_request
from cardan.service.services import Services
from cardan.service.shares import Kind, Share, may_be_token

SHARE_COOKIE = "cardan_share"
DAY = 86_400.0
# all that a link opens; what is not in here needs a key
OPENED = re.compile(
    r"/v1/(sessions)/([^/:]+)(?:/(?:scene|state|summary|stream|frames(?:/[^/:]+)?))?"
    r"|/v1/(simulations)/([^/:]+)(?:/(?:scene|summary|trajectory))?"
    r"|/v1/(batches)/([^/:]+)(?:/(?:runs|results))?"
)
# how the page names it in its address
SHOWN: dict[Kind, str] = {"sessions": "session", "simulations": "run", "batches": "batch"}
# cookies of links that are looked at: each costs a question to the database
MOST_COOKIES = 8

router = APIRouter(
    route_class=ResourceRoute,
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


class ShareRequest(Base):
    """Request for a link."""

    name: Text = ""
    """Whom it is for, in the list of links."""
    expires_in_s: Annotated[float, Field(strict=True, ge=60.0, le=90 * DAY)] = 7 * DAY
    """How long it shows the resource [s]: a minute to 90 days."""


class ShareView(Base):
    """A link, without what opens it."""

    id: str
    """Names it; it is no secret."""
    name: str
    """Whom it is for."""
    created_at: datetime
    """UTC."""
    expires_at: datetime
    """UTC."""


class NewShare(ShareView):
    """A link that was just made; its token is in this answer and never again."""

    token: str
    """The secret: `Authorization: Bearer TOKEN`."""
    url: str
    """The address that a browser opens, without host."""


class ShareList(Base):
    """The links to a resource, oldest first."""

    items: list[ShareView]
    """Those that have not expired."""


@router.post(
    "/sessions/{session_id}/shares", name="sessions_share", tags=["sessions"], status_code=201
)
async def share_session(request: Request, session: TheSession, services: TheServices) -> NewShare:
    """Make a link that lets people without a key watch this session, until it expires.

    Its token is in this answer alone; the service keeps a digest.
    """
    return await _share(request, services, "sessions", session.id)


@router.get("/sessions/{session_id}/shares", name="sessions_shares", tags=["sessions"])
async def shares_of_session(session: TheSession, services: TheServices) -> ShareList:
    """List the links to this session that have not expired."""
    return await _list(services, "sessions", session.id)


@router.delete(
    "/sessions/{session_id}/shares/{share_id}",
    name="sessions_revoke_share",
    tags=["sessions"],
    status_code=204,
)
async def revoke_of_session(share_id: str, session: TheSession, services: TheServices) -> Response:
    """End a link at once, also for those who watch by it now."""
    return await _revoke(services, "sessions", session.id, share_id)


@router.post(
    "/simulations/{simulation_id}/shares",
    name="simulations_share",
    tags=["simulations"],
    status_code=201,
)
async def share_run(request: Request, simulation_id: str, services: TheServices) -> NewShare:
    """Make a link that lets people without a key read this simulation, until it expires.

    Its token is in this answer alone; the service keeps a digest.
    """
    await run_sync(known_run, services, simulation_id)
    return await _share(request, services, "simulations", simulation_id)


@router.get("/simulations/{simulation_id}/shares", name="simulations_shares", tags=["simulations"])
async def shares_of_run(simulation_id: str, services: TheServices) -> ShareList:
    """List the links to this simulation that have not expired."""
    await run_sync(known_run, services, simulation_id)
    return await _list(services, "simulations", simulation_id)


@router.delete(
    "/simulations/{simulation_id}/shares/{share_id}",
    name="simulations_revoke_share",
    tags=["simulations"],
    status_code=204,
)
async def revoke_of_run(share_id: str, simulation_id: str, services: TheServices) -> Response:
    """End a link at once."""
    await run_sync(known_run, services, simulation_id)
    return await _revoke(services, "simulations", simulation_id, share_id)


@router.post("/batches/{batch_id}/shares", name="batches_share", tags=["batches"], status_code=201)
async def share_batch(request: Request, batch_id: str, services: TheServices) -> NewShare:
    """Make a link that lets people without a key read this batch and its runs, until it expires.

    Its token is in this answer alone; the service keeps a digest.
    """
    await run_sync(known_batch, services, batch_id)
    return await _share(request, services, "batches", batch_id)


@router.get("/batches/{batch_id}/shares", name="batches_shares", tags=["batches"])
async def shares_of_batch(batch_id: str, services: TheServices) -> ShareList:
    """List the links to this batch that have not expired."""
    await run_sync(known_batch, services, batch_id)
    return await _list(services, "batches", batch_id)


@router.delete(
    "/batches/{batch_id}/shares/{share_id}",
    name="batches_revoke_share",
    tags=["batches"],
    status_code=204,
)
async def revoke_of_batch(share_id: str, batch_id: str, services: TheServices) -> Response:
    """End a link at once."""
    await run_sync(known_batch, services, batch_id)
    return await _revoke(services, "batches", batch_id, share_id)


async def _share(request: Request, services: Services, kind: Kind, resource: str) -> NewShare:
    asked = read_request(ShareRequest, await optional_body(request))
    until = (asked.name, asked.expires_in_s, owner_of(request))
    share, token = await run_sync(services.shares.issue, kind, resource, *until)
    return NewShare(**_told(share), token=token, url=f"/?share={token}")


async def _list(services: Services, kind: Kind, resource: str) -> ShareList:
    found = await run_sync(services.shares.listing, kind, resource)
    return ShareList(items=[ShareView(**_told(one)) for one in found])


async def _revoke(services: Services, kind: Kind, resource: str, share_id: str) -> Response:
    if not await services.shares.revoke(kind, resource, share_id):
        raise ProblemError(404, "share_not_found", f"There is no link {share_id!r} to this.")
    return Response(status_code=204)


def _told(share: Share) -> dict[str, Any]:
    return {
        "id": share.id,
        "name": share.name,
        "created_at": moment(share.created_at),
        "expires_at": moment(share.expires_at),
    }


# ------------------------------------------------------------------ using a link


async def share_of(scope: Scope, headers: Headers) -> Share | None:
    """Return the link that a request came by, if it opens the address of the request."""
    path = OPENED.fullmatch(scope["path"])
    if path is None or (scope["type"] == "http" and scope["method"] not in ("GET", "HEAD")):
        return None
    kind, resource = (part for part in path.groups() if part is not None)
    # not every request with a key shall wait for a thread and the database
    given = [text for text in _tokens(headers) if may_be_token(text)]
    if not given:
        return None
    return await run_sync(_first_that_shows, scope["app"].state.services, given, kind, resource)


def _tokens(headers: Headers) -> list[str]:
    """What may be tokens of a request."""
    method, _, given = headers.get("authorization", "").partition(" ")
    if method.lower() == "bearer":
        return [given.strip()]
    cookies = cookie_parser(headers.get("cookie", ""))
    return [text for name, text in cookies.items() if name.startswith(SHARE_COOKIE)][:MOST_COOKIES]


def _first_that_shows(
    services: Services, tokens: Sequence[str], kind: str, resource: str
) -> Share | None:
    """The first link that shows a resource: it is its own, or that of the batch of the run."""
    for share in map(services.shares.find, tokens):
        if share is None:
            continue
        if (share.kind, share.resource) == (kind, resource):
            return share
        if share.kind == "batches" and kind == "simulations":
            run = services.catalog.run(resource)
            if run is not None and run["batch_id"] == share.resource:
                return share
    return None


def watched_by(scope: Scope) -> Share | None:
    """Return the link without which a request would have been refused."""
    state = scope.get("state", {})
    share: Share | None = state.get("share")
    return share if share is not None and state.get("api_key") == share.key else None


async def open_share(request: Request) -> Response:
    """Answer `/?share=TOKEN`: set a cookie for what the link shows, and show it.

    Raises ProblemError 404.
    """
    token = request.query_params["share"]
    share = await run_sync(services_of(request).shares.find, token)
    if share is None:
        detail = "This link shows nothing: it has expired, was revoked, or is not whole."
        raise ProblemError(404, "share_not_found", detail)
    response = RedirectResponse(f"/#{SHOWN[share.kind]}={share.resource}", 303)
    cookies = {SHARE_COOKIE: f"/v1/{share.kind}/{share.resource}"}
    if share.kind == "batches":
        # addresses of runs do not name their batch
        cookies[f"{SHARE_COOKIE}_{share.resource}"] = "/v1/simulations/"
    for name, path in cookies.items():
        response.set_cookie(
            name,
            token,
            max_age=int(share.expires_at - clock.now()),
            path=path,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    response.headers["Cache-Control"] = "no-store"
    return response
