"""Refusals of the service and failures of runs."""

from collections.abc import Iterable, Iterator
from typing import Any

import httpx


class Problem(Exception):  # noqa: N818 - the name the service gives it (RFC 9457)
    """The service refused a request: `status`, `code`, `detail`, `errors`, `request_id`.

    `retry_after_s`: when to ask again [s], if the service says so.
    """

    def __init__(
        self, status: int, body: dict[str, Any], retry_after_s: float | None = None
    ) -> None:
        """Keep the members of the problem."""
        self.status = status
        self.retry_after_s = retry_after_s
        self.code = str(body.get("code", f"http_{status}"))
        self.detail = str(body.get("detail", ""))
        self.errors: list[dict[str, Any]] = list(body.get("errors", ()))
        self.request_id = str(body.get("request_id", ""))
        self.retryable = bool(body.get("retryable", False))
        lines = [f"{status} {self.code}: {self.detail}", *_listed(self.errors, self.detail)]
        super().__init__("\n  ".join(lines))


def _listed(errors: Iterable[dict[str, Any]], detail: str) -> Iterator[str]:
    """What `detail` does not say of the faults; those of one message and hint are one."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in errors:
        said = str(one.get("message", "")), str(one.get("hint") or "")
        alike.setdefault(said, []).append(str(one.get("pointer") or "/"))
    for (message, hint), places in alike.items():
        place = places[0]
        if len(places) > 1:
            place += f" and {len(places) - 1} more, the last {places[-1]}"
        known = f"{place}: {message}" in detail
        text = " ".join(filter(None, ["" if known else f"{place}: {message}", hint]))
        if text:
            yield text


class RunFailed(Exception):  # noqa: N818 - a result, as the service words it
    """A run did not succeed: `info` is its last state, `error` says why."""

    def __init__(self, info: dict[str, Any]) -> None:
        """Keep the state of the run."""
        self.info = info
        self.error: dict[str, Any] = info.get("error") or {}
        super().__init__(f"{info['id']} {info['status']}: {self.error.get('message', '')}")


class PackageMissing(ImportError):  # noqa: N818 - a remedy, not a fault of the caller
    """A result was asked for in the form of a package that is not installed: `package`, `extra`."""

    def __init__(self, package: str, extra: str) -> None:
        """Say what to install."""
        self.package, self.extra = package, extra
        super().__init__(
            f"{package} is not installed: pip install 'cardan-client[{extra}]'", name=package
        )


def problem_of(answer: httpx.Response) -> Problem:
    """Return the problem of an answer that is not a success; that of a proxy may pass."""
    try:
        body = answer.json()
    except ValueError:
        body = {"detail": answer.text[:200], "retryable": True}
    when = answer.headers.get("retry-after", "")
    retry_after_s = float(when) if when.isdecimal() else None
    return Problem(answer.status_code, body if isinstance(body, dict) else {}, retry_after_s)


def check_message(message: dict[str, Any]) -> None:
    """Raise the problem of a message of the stream that is an error."""
    if message.get("op") == "error":
        problem: dict[str, Any] = message["problem"]
        raise Problem(int(problem.get("status", 422)), problem)
