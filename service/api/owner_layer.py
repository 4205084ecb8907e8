"""The layer that hides what another key made, unless a link shows it.

It looks at the id in every address, so that no route can forget to. For any other key the resource
does not exist: the answer is the 404 of an id that was never given.
"""

import re

from anyio.to_thread import run_sync
from starlette.types import ASGIApp, Receive, Scope, Send

from cardan.service.api.layers import refuse
from cardan.service.api.owners import restricted
from cardan.service.api.problems import ProblemError
from cardan.service.services import Services
from cardan.service.sessions.registry import Sessions
from cardan.service.shares import Share

ADDRESS = re.compile(r"/v1/(simulations|batches|studies|scenes|sessions)/([^/:]+)")
NOUNS = {
    "simulations": "simulation",
    "batches": "batch",
    "studies": "study",
    "scenes": "scene",
    "sessions": "session",
}


class OwnerLayer:
    """Answers 404 for what another key made."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the app; behind the layer that finds the key."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or refuse it."""
        name = restricted(scope.get("state", {}).get("api_key"))
        found = ADDRESS.match(scope.get("path", "")) if name is not None else None
        if found is not None:
            kind, resource = found.groups()
            known, creator = await self._creator(scope, kind, resource)
            share: Share | None = scope["state"].get("share")
            if known and creator != name and share is not None:
                # from here on it is a request of the link, whatever its key may do elsewhere
                scope["state"]["api_key"] = share.key
            elif known and creator != name:
                code = "session_not_found" if kind == "sessions" else "not_found"
                detail = f"There is no {NOUNS[kind]} {resource!r}."
                await refuse(ProblemError(404, code, detail), scope, receive, send)
                return
        await self._app(scope, receive, send)

    @staticmethod
    async def _creator(scope: Scope, kind: str, resource: str) -> tuple[bool, str | None]:
        """Whether there is such a resource, and the name of the key that made it."""
        if kind == "sessions":
            sessions: Sessions = scope["app"].state.sessions
            return sessions.creator(resource)
        services: Services = scope["app"].state.services
        read = {
            "simulations": services.catalog.run,
            "batches": services.catalog.batch,
            "studies": services.studies.rows.get,
            "scenes": services.scenes.get,
        }[kind]
        row = await run_sync(read, resource)
        return (False, None) if row is None else (True, row["created_by"])
