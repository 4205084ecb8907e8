"""Responses with bytes of a file or of memory: strong ETag, 304, one range (206) or 416."""

import io
import os
import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from cardan.service.api.digits import whole_number
from cardan.service.api.problems import ProblemError

CHUNK = 256 * 1024


def not_modified(request: Request, headers: Mapping[str, str]) -> Response | None:
    """Return 304 when the client has this content already, else `None`.

    `headers` are those of the 200, `ETag` among them: a client overwrites the headers it has
    stored with those of the 304 (RFC 9111, 4.3.4), so a different policy would apply to the body.
    """
    header = request.headers.get("if-none-match")
    if header is None:
        return None
    known = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    if "*" in known or headers["ETag"] in known:
        return Response(status_code=304, headers=dict(headers))
    return None


def answer(
    request: Request,
    content: bytes | BinaryIO,
    *,
    etag: str,
    media_type: str,
    file_name: str,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return the content or its requested range; closes a file. Raises ProblemError 416."""
    # a file is open: replacing or removing it meanwhile does not change this answer
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    size = file.seek(0, os.SEEK_END)
    common = caching(etag) | {
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'attachment; filename="{file_name}"',
        **(headers or {}),
    }
    try:
        wanted = _range(request, size, etag)
    except ProblemError:
        file.close()
        raise
    first, last = wanted or (0, size - 1)
    common["Content-Length"] = str(last - first + 1)
    if wanted is not None:
        common["Content-Range"] = f"bytes {first}-{last}/{size}"
    return StreamingResponse(
        _pieces(file, first, last + 1),
        status_code=200 if wanted is None else 206,
        media_type=media_type,
        headers=common,
    )


def _range(request: Request, size: int, etag: str) -> tuple[int, int] | None:
    """Return the first and last requested byte; `None` means all.

    A request for several ranges gets the complete content, which HTTP allows.
    """
    header = request.headers.get("range")
    condition = request.headers.get("if-range")
    if header is None or (condition is not None and condition.strip() != etag):
        return None
    found = re.fullmatch(r"bytes=([0-9]*)-([0-9]*)", header.strip())
    if found is None or found.group(0) == "bytes=-":
        return None
    begin, end = (whole_number(text) if text else None for text in found.groups())
    if begin is None:
        first, last = max(0, size - (end or 0)), size - 1
    else:
        first, last = begin, size - 1 if end is None else min(end, size - 1)
        if end is not None and end < begin:
            return None
    if first > last or first >= size:
        raise ProblemError(
            416,
            "range_not_satisfiable",
            f"The range {header[:80]} is outside of the {size} bytes there are.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return first, last


def _pieces(file: BinaryIO, begin: int, end: int) -> Iterator[bytes]:
    with file:
        file.seek(begin)
        left = end - begin
        while left > 0:
            piece = file.read(min(CHUNK, left))
            if not piece:
                return
            left -= len(piece)
            yield piece


def caching(etag: str) -> dict[str, str]:
    """Headers of content that clients revalidate each time: it is sent only if it has changed."""
    return {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept"}
