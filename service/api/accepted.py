"""The answer to a POST that queues work: 202, or 200 if it ended while the client waited."""

from fastapi.responses import Response

from cardan.schemas.base import Base
from cardan.service.api.idempotency import Ticket


def as_json(info: Base, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return a model as a response."""
    return Response(info.model_dump_json(), status, headers, media_type="application/json")


def accepted(info: Base, url: str, granted: Ticket, wait: float, *, ended: bool) -> Response:
    """Return the state of what was queued, with its address.

    wait: seconds of `Prefer: wait=n`. Without it the response is the same whether or not short work
    has already ended.
    """
    headers = {"Location": url}
    if granted.replayed:
        headers["Idempotency-Replayed"] = "true"
    if wait:
        headers["Preference-Applied"] = f"wait={wait:.0f}"
        if ended:
            return as_json(info, 200, headers)
    return as_json(info, 202, headers | {"Retry-After": "1"})
