"""Links for viewing: `/shares` of a session, a simulation, a batch or a scene, and what they open.

Whoever has a link reads and watches this one resource without a key, of a batch also its runs:
nothing else, and changes nothing. A browser opens `/?share=TOKEN` and keeps the token as a cookie
for the addresses of the resource; other clients send it as `Authorization: Bearer TOKEN`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
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
from cardan.service.api.stored_scenes import TheScene
from cardan.service.api.views import moment
from cardan.service.intake import read_request
from cardan.service.services import Services
from cardan.service.shares import Kind, Share, may_be_token

SHARE_COOKIE = "cardan_share"
DAY = 86_400.0
# all that a link opens; what is not in here needs a key
OPENED = re.compile(
    r"/v1/(sessions)/([^/:]+)(?:/(?:scene|masses|state|summary|stream|frames(?:/[^/:]+)?))?"
    r"|/v1/(simulations)/([^/:]+)(?:/(?:scene|masses|summary|trajectory))?"
    r"|/v1/(batches)/([^/:]+)(?:/(?:runs|results))?"
    # the present text; drafts before it are the owner's
    r"|/v1/(scenes)/([^/:]+)"
)
# how the page names it in its address
SHOWN: dict[Kind, str] = {
    "sessions": "session",
    "simulations": "run",
    "batches": "batch",
    "scenes": "scene",
}
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


def session_shown(session: TheSession) -> str:
    """Return the id of a session that is there."""
    return session.id


def run_shown(simulation_id: str, services: TheServices) -> str:
    """Return the id of a run that is there."""
    known_run(services, simulation_id)
    return simulation_id


def batch_shown(batch_id: str, services: TheServices) -> str:
    """Return the id of a batch that is there."""
    known_batch(services, batch_id)
    return batch_id


def scene_shown(scene: TheScene) -> str:
    """Return the id of a stored scene that is there."""
    return str(scene["id"])


TOKEN_IS_SHOWN_ONCE = "Its token is in this answer alone; the service keeps a digest."


@dataclass(frozen=True)
class Shown:
    """A kind of resource that links show: its address, who finds its id, and its words."""

    kind: Kind
    address: str
    resource: Callable[..., str]
    noun: str
    uses: str
    revoked: str = ""


KINDS = (
    Shown(
        "sessions",
        "/sessions/{session_id}/shares",
        session_shown,
        "session",
        "watch this session",
        ", also for those who watch by it now",
    ),
    Shown(
        "simulations",
        "/simulations/{simulation_id}/shares",
        run_shown,
        "simulation",
        "read this simulation",
    ),
    Shown(
        "batches",
        "/batches/{batch_id}/shares",
        batch_shown,
        "batch",
        "read this batch and its runs",
    ),
    Shown("scenes", "/scenes/{scene_id}/shares", scene_shown, "scene", "read this scene"),
)


def add_routes(shown: Shown) -> None:
    """Add the operations on the links to resources of a kind: make one, list them, end one."""
    kind, tags = shown.kind, list[str | Enum]([shown.kind])

    @router.post(
        shown.address,
        name=f"{kind}_share",
        tags=tags,
        status_code=201,
        description=f"Make a link that lets people without a key {shown.uses}, until it expires."
        f"\n\n{TOKEN_IS_SHOWN_ONCE}",
    )
    async def share(
        request: Request, resource: Annotated[str, Depends(shown.resource)], services: TheServices
    ) -> NewShare:
        asked = read_request(ShareRequest, await optional_body(request))
        until = (asked.name, asked.expires_in_s, owner_of(request))
        made, token = await run_sync(services.shares.issue, kind, resource, *until)
        return NewShare(**_told(made), token=token, url=f"/?share={token}")

    @router.get(
        shown.address,
        name=f"{kind}_shares",
        tags=tags,
        description=f"List the links to this {shown.noun} that have not expired.",
    )
    async def shares(
        resource: Annotated[str, Depends(shown.resource)], services: TheServices
    ) -> ShareList:
        found = await run_sync(services.shares.listing, kind, resource)
        return ShareList(items=[ShareView(**_told(one)) for one in found])

    @router.delete(
        f"{shown.address}/{{share_id}}",
        name=f"{kind}_revoke_share",
        tags=tags,
        status_code=204,
        description=f"End a link at once{shown.revoked}.",
    )
    async def revoke(
        share_id: str, resource: Annotated[str, Depends(shown.resource)], services: TheServices
    ) -> Response:
        if not await services.shares.revoke(kind, resource, share_id):
            raise ProblemError(404, "share_not_found", f"There is no link {share_id!r} to this.")
        return Response(status_code=204)


for _one in KINDS:
    add_routes(_one)


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

    A browser is told by the page that a link shows nothing, others by ProblemError 404.
    """
    token = request.query_params["share"]
    share = await run_sync(services_of(request).shares.find, token)
    if share is None:
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/#share=over", 303, {"Cache-Control": "no-store"})
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
