"""The body of a request."""

from typing import Any

import anyio.to_thread
from fastapi import Request

from cardan.service.api.problems import ProblemError
from cardan.service.intake import read_document


async def read_bytes(request: Request) -> bytes:
    """Return the bytes of a JSON body. Raises ProblemError 415."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise ProblemError(
            415,
            "unsupported_media_type",
            f"The body must be application/json, not {kind or 'without a Content-Type'}.",
            headers=_accepted(request),
        )
    return await request.body()


def _accepted(request: Request) -> dict[str, str]:
    """What the address takes (RFC 5789, 2.2; Linked Data Platform 1.0, 7.1)."""
    if request.method == "PATCH":
        return {"Accept-Patch": "application/merge-patch+json, application/json"}
    return {"Accept-Post": "application/json"}


async def read_body(request: Request) -> Any:
    """Return the JSON document of a body without a scene. Raises ProblemError or ServiceError."""
    return await anyio.to_thread.run_sync(read_document, await read_bytes(request), "request")
