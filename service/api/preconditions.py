"""`If-Match`: a change of what the client has not seen is refused (RFC 9110, 13.1.1)."""

from fastapi import Request

from cardan.service.api.problems import ProblemError


def check_match(request: Request, etag: str, *, required: bool) -> None:
    """Compare `If-Match` with the present ETag. Raises ProblemError 412, or 428 without one."""
    given = request.headers.get("if-match")
    if given is None:
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
    tags = {tag.strip() for tag in given.split(",")}
    if "*" not in tags and etag not in tags:
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
