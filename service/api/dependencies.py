"""Dependencies of routes: parts of the service, page of a list, time to wait."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from cardan.schemas import Problem
from cardan.service.api.problems import MEDIA_TYPE, ProblemError
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations.catalog import Row

MAX_WAIT_SECONDS = 30.0
MAX_PAGE = 1000

# every route documents its error responses as problems
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be served", "content": {MEDIA_TYPE: {}}},
    "5XX": {"description": "The service cannot serve now", "content": {MEDIA_TYPE: {}}},
}
for _answer in PROBLEMS.values():
    _answer["model"] = Problem


def settings_of(request: Request) -> Settings:
    """Return the configuration."""
    found: Settings = request.app.state.settings
    return found


def services_of(request: Request) -> Services:
    """Return the queue with its database, dispatcher and results."""
    found: Services = request.app.state.services
    return found


def refuse_unknown_query(request: Request) -> None:
    """422 for query parameters the route does not know: a misspelt slice must not be ignored."""
    route = request.scope.get("route")
    dependant = getattr(route, "dependant", None)
    if dependant is None:
        return
    known = _query_names(dependant)
    given = [name for name, _ in request.query_params.multi_items()]
    twice = next((name for name in known if given.count(name) > 1), None)
    if twice is not None:
        values = request.query_params.getlist(twice)
        raise ProblemError(
            422,
            "repeated_parameter",
            f"The query parameter {twice!r} is given {len(values)} times; once is allowed.",
            errors=[
                {
                    "pointer": f"/query/{twice}",
                    "code": "repeated_parameter",
                    "message": f"Which of {', '.join(values)[:200]} is meant?",
                    "got": values[-1][:200],
                    "hint": "Give it once.",
                }
            ],
        )
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        allowed = ", ".join(sorted(known)) or "none"
        raise ProblemError(
            422,
            "unknown_parameter",
            f"This address has no query parameter {unknown[0]!r}; there are: {allowed}.",
            errors=[
                {
                    "pointer": f"/query/{name}",
                    "code": "unknown_parameter",
                    "message": f"There is no query parameter {name!r}.",
                    "got": request.query_params[name],
                    "hint": f"Known: {allowed}.",
                }
                for name in unknown
            ],
        )


def wait_seconds(request: Request) -> float:
    """Return the n of `Prefer: wait=n` [s], at most 30; 0 without the header."""
    for header in request.headers.getlist("prefer"):
        found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", header, re.IGNORECASE)
        if found:
            return min(float(found.group(1)), MAX_WAIT_SECONDS)
    return 0.0


@dataclass(frozen=True)
class Page:
    """One page of a list: at most `size` rows beyond `after` (a row's number)."""

    size: int
    after: int | None

    def token(self, last: int | None) -> str:
        """Return the token of the next page; empty on the last one."""
        if last is None:
            return ""
        return base64.urlsafe_b64encode(f"row:{last}".encode()).decode().rstrip("=")

    def cut(self, rows: Sequence[Row], mark: str = "seq") -> tuple[Sequence[Row], str]:
        """Return the rows to show, of one more than that, and the token of the next page.

        `mark`: the column that counts them.
        """
        shown = rows[: self.size]
        return shown, self.token(shown[-1][mark] if len(rows) > self.size else None)


def page(
    page_size: Annotated[int, Query(ge=0, description="0: the default; at most 1000")] = 0,
    page_token: Annotated[str, Query(description="`next_page_token` of the page before")] = "",
) -> Page:
    """Return the requested page of a list (AIP-158): too large sizes are lowered, not refused."""
    return Page(min(page_size or 50, MAX_PAGE), _row_of(page_token))


def _row_of(token: str) -> int | None:
    if not token:
        return None
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        word, _, number = text.partition(":")
        if word == "row" and number.isdecimal() and len(number) <= 18:
            return int(number)
    except (binascii.Error, ValueError):
        pass
    raise ProblemError(
        422,
        "invalid_request",
        "page_token must be the next_page_token of an earlier answer.",
        errors=[
            {
                "pointer": "/query/page_token",
                "code": "invalid_page_token",
                "message": "This is no page token.",
                "got": token[:80],
                "hint": "Leave it out to begin with the first page.",
            }
        ],
    )


def _query_names(dependant: Any) -> set[str]:
    names = {field.alias for field in dependant.query_params}
    for part in dependant.dependencies:
        names |= _query_names(part)
    return names


TheSettings = Annotated[Settings, Depends(settings_of)]
TheServices = Annotated[Services, Depends(services_of)]
ThePage = Annotated[Page, Depends(page)]
Wait = Annotated[float, Depends(wait_seconds)]


def resource_router(name: str) -> APIRouter:
    """A router of `/name`: its routes take ids, its answers may be problems."""
    return APIRouter(
        route_class=ResourceRoute,
        prefix=f"/{name}",
        tags=[name],
        responses=PROBLEMS,
        dependencies=[Depends(refuse_unknown_query)],
    )
