"""`If-Match`: a change of what the client has not seen is refused (RFC 9110, 13.1.1)."""

import re

from fastapi import Request

from cardan.service.api.problems import ProblemError

# `*`, or tags between commas, each in double quotes; weak ones are allowed, and never match
TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
TAGS = re.compile(rf"[ \t]*(?:\*|(?:,[ \t]*)*{TAG}[ \t]*(?:,[ \t]*(?:{TAG}[ \t]*)?)*)")


def check_match(request: Request, etag: str, *, required: bool) -> None:
    """Compare `If-Match` with the present ETag.

    Raises ProblemError: 412, 428 without one, 422 for what names no tag.
    """
    # several headers are one list (RFC 9110, 5.3)
    given = ", ".join(request.headers.getlist("if-match"))
    if "if-match" not in request.headers:
        if not required:
            return
        raise ProblemError(
            428,
            "precondition_required",
            "A change needs If-Match with the ETag of what it changes, as GET sends it, so that "
            "it does not undo the change of somebody else; * is for whatever there is.",
            etag=etag,
            headers={"ETag": etag},
        )
    if TAGS.fullmatch(given) is None:
        raise _no_tag(given)
    if given.strip() != "*" and etag not in re.findall(TAG, given):
        raise stale(etag)


def stale(etag: str) -> ProblemError:
    """Return the problem of a change of what is there no more."""
    return ProblemError(
        412,
        "precondition_failed",
        f"It was changed since the client has read it; its ETag is {etag} now. Read it again.",
        etag=etag,
        headers={"ETag": etag},
    )


def _no_tag(given: str) -> ProblemError:
    message = "If-Match takes an ETag in its double quotes, several of them between commas, or *."
    fault = {
        "pointer": "/header/If-Match",
        "code": "invalid_request",
        "message": message,
        "got": given[:80],
        "hint": "Send the ETag as GET sends it, with its quotes.",
    }
    return ProblemError(422, "invalid_request", message, errors=[fault])
