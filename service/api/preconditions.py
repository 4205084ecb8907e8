"""`If-Match`: a change of what the client has not seen is refused (RFC 9110, 13.1.1)."""

import re

from fastapi import Request

from cardan.service.api.problems import ProblemError, header_problem

# `*`, or tags between commas, each in double quotes; weak ones are allowed, and never match
TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
TAGS = re.compile(rf"[ \t]*(?:\*|(?:,[ \t]*)*{TAG}[ \t]*(?:,[ \t]*(?:{TAG}[ \t]*)?)*)")


def check_match(request: Request, etag: str, *, required: bool) -> None:
    """Compare `If-Match` with the present ETag.

    Raises ProblemError: 412, 428 without one, 422 for what names no tag.
    """
    headers = request.headers.getlist("if-match")
    if not headers:
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
    # several headers are one list (RFC 9110, 5.3)
    given = ", ".join(headers)
    if TAGS.fullmatch(given) is None:
        raise header_problem(
            "If-Match",
            "If-Match takes an ETag in its double quotes, several of them between commas, or *.",
            given,
            "Send the ETag as GET sends it, with its quotes.",
        )
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
