"""Tickets for streams: they open one connection to one session, once, within seconds.

A browser cannot send a header with a WebSocket; a key in the address would be kept in logs.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Depends, Request
from starlette.types import Scope

from cardan.schemas.base import Base
from cardan.service import clock
from cardan.service.api.dependencies import PROBLEMS, refuse_unknown_query
from cardan.service.api.problems import ProblemError
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.sessions import TheSession
from cardan.service.api.views import moment
from cardan.service.keys import SCOPES, Key

TICKET_SECONDS = 30.0
MOST_TICKETS = 10_000

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/sessions",
    tags=["sessions"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


class StreamTicket(Base):
    """Opens one connection to the stream of a session, once."""

    ticket: str
    """The secret: `?ticket=` of the stream's address."""
    expires_at: datetime
    """UTC."""
    url: str
    """The address of the stream with the ticket, without host."""


@dataclass(frozen=True)
class Issued:
    """A ticket that was not used yet."""

    path: str
    key: Key
    expires: float


class Tickets:
    """Tickets that were issued and not used."""

    def __init__(self) -> None:
        """Begin with none."""
        self._issued: dict[str, Issued] = {}

    def issue(self, path: str, key: Key) -> str:
        """Return a new ticket for a path, with the scopes of a key."""
        now = clock.monotonic()
        expired = [ticket for ticket, one in self._issued.items() if one.expires <= now]
        for ticket in expired:
            del self._issued[ticket]
        while len(self._issued) >= MOST_TICKETS:
            del self._issued[next(iter(self._issued))]
        ticket = secrets.token_urlsafe(24)
        self._issued[ticket] = Issued(path, key, now + TICKET_SECONDS)
        return ticket

    def redeem(self, ticket: str, path: str) -> Key | None:
        """Return the key of a ticket and forget it; None: it is none for this path now."""
        issued = self._issued.pop(ticket, None)
        if issued is None or issued.path != path or issued.expires <= clock.monotonic():
            return None
        return issued.key


def only_watches(scope: Scope) -> bool:
    """Whether the key of a connection may not write."""
    key: Key = scope.get("state", {}).get("api_key", ANYBODY)
    return "write" not in key.scopes


def refuse_watchers(scope: Scope) -> None:
    """Raise ProblemError 403 when the key of a connection may not write."""
    key: Key = scope.get("state", {}).get("api_key", ANYBODY)
    if only_watches(scope):
        raise ProblemError(403, "scope_missing", f"The key {key.name} may only watch.")


# who asks without a key where none is needed
ANYBODY = Key("", "", frozenset(SCOPES))


@router.post("/{session_id}/stream-tickets", status_code=201)
async def issue(request: Request, session: TheSession) -> StreamTicket:
    """Issue a ticket for `GET /v1/sessions/{id}/stream?ticket=...`: for 30 s and one connection.

    The connection may do what the key of this request may do.
    """
    path = f"/v1/sessions/{session.id}/stream"
    tickets: Tickets = request.app.state.tickets
    ticket = tickets.issue(path, getattr(request.state, "api_key", ANYBODY))
    return StreamTicket(
        ticket=ticket,
        expires_at=moment(clock.now() + TICKET_SECONDS),
        url=f"{path}?ticket={ticket}",
    )
