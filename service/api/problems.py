"""Every response that is not 2xx is one `application/problem+json` object (RFC 9457).

A route raises `ProblemError`, a room of the service `ServiceError`; this module converts both, and
every error of the framework, to the same object: `type, title, status, detail, code, request_id,
retryable, errors`.
"""

import errno
import http
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from cardan.schemas import Fault
from cardan.schemas.error import in_short
from cardan.schemas.translate import RANGES, translate_details
from cardan.service.api.resource_route import Addresses
from cardan.service.api.statuses import STATUSES
from cardan.service.errors import ServiceError
from cardan.service.recordings.results import ResultsError
from cardan.service.simulations.faults import PASSING

log = logging.getLogger("cardan.api")

MEDIA_TYPE = "application/problem+json"
API = "/v1/"
# the page of the manual with a row for every code (docs/manual/problems.md)
EXPLAINED = "/manual/problems.html"
RETRYABLE = frozenset({408, 429, 503, 507})
# a full disk, a quota of the system, a limit of the size of files; a disk that is read-only
FULL_FILE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
READ_ONLY_FILE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
FULL_DATABASE = frozenset(
    {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_READONLY"}
)
BUSY_DATABASE = ("SQLITE_BUSY", "SQLITE_LOCKED")

# code of a response whose route did not set one
CODES = {
    400: "malformed_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "request_timeout",
    409: "conflict",
    412: "precondition_failed",
    413: "too_large",
    415: "unsupported_media_type",
    416: "range_not_satisfiable",
    422: "invalid_request",
    428: "precondition_required",
    429: "too_many_requests",
    500: "internal_error",
    503: "unavailable",
    507: "insufficient_storage",
}


class ProblemError(Exception):
    """A response that is not 2xx. `errors` are faults {pointer, code, message, got, hint}."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        retryable: bool | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        """Store the fields of the response; `extra` becomes further members of the object."""
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = [dict(fault) for fault in errors]
        self.retryable = status in RETRYABLE if retryable is None else retryable
        self.headers = dict(headers or {})
        self.extra = extra


def header_problem(
    name: str, message: str, got: str, hint: str | None = None, code: str = "invalid_request"
) -> ProblemError:
    """Return the problem, 422, of a header that says what it may not; `got` is its value."""
    fault = {"pointer": f"/header/{name}", "code": code, "message": message, "got": got[:80]}
    if hint is not None:
        fault["hint"] = hint
    return ProblemError(422, code, message, errors=[fault])


def fault_problem(fault: Fault, code: str) -> ProblemError:
    """Return the problem, 422, of one fault."""
    return ProblemError(422, code, fault.message, errors=[fault.model_dump()])


def problem_body(problem: ProblemError, request_id: str) -> dict[str, Any]:
    """Return the JSON object of a problem."""
    return {
        "type": f"{EXPLAINED}#{problem.code}",
        # of the type, as RFC 9457 asks: the same for every problem with this code
        "title": problem.code.replace("_", " ").capitalize(),
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "request_id": request_id,
        "retryable": problem.retryable,
        "errors": problem.errors,
        **problem.extra,
    }


def problem_response(problem: ProblemError, request_id: str) -> Response:
    """Return the HTTP response of a problem."""
    body = _dump(problem_body(problem, request_id))
    return Response(body, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def request_id_of(scope: Scope) -> str:
    """Return the id that the request-id layer assigned to this request."""
    return str(scope.get("state", {}).get("request_id", ""))


def install(app: FastAPI) -> None:
    """Register the handlers on the app."""

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        return problem_response(error, request_id_of(request.scope))

    async def on_service(request: Request, error: Exception) -> Response:
        assert isinstance(error, ServiceError)
        return problem_response(from_service(error), request_id_of(request.scope))

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        problem = from_http(error, request)
        return problem_response(problem, request_id_of(request.scope))

    async def on_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem_response(from_validation(error), request_id_of(request.scope))

    async def on_crash(request: Request, error: Exception) -> Response:
        return problem_response(from_crash(error, request.scope), request_id_of(request.scope))

    app.add_exception_handler(ProblemError, on_problem)
    app.add_exception_handler(ServiceError, on_service)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(Exception, on_crash)


def from_service(error: ServiceError) -> ProblemError:
    """Convert an error of a room to a problem."""
    wait = error.retry_after_s
    return ProblemError(
        STATUSES[error.code],
        error.code,
        error.detail,
        errors=error.errors,
        retryable=True if wait is not None else None,
        headers=None if wait is None else {"Retry-After": str(wait)},
        **error.extra,
    )


def from_http(error: HTTPException, request: Request) -> ProblemError:
    """Convert a framework error (unknown route, wrong method) to a problem."""
    if error.status_code in (404, 405) and request.scope["path"].startswith(API):
        return no_route(request)
    details = {
        404: f"There is no {request.scope['path']} here; the routes are listed at /openapi.json.",
        405: f"{request.method} is not possible on {request.scope['path']}.",
    }
    detail = str(error.detail or "")
    if not detail or detail == title_of(error.status_code):
        detail = details.get(error.status_code, title_of(error.status_code))
    code = CODES.get(error.status_code, f"http_{error.status_code}")
    headers = dict(error.headers or {})
    if "Allow" in headers:
        detail = f"{detail.removesuffix('.')}; there are: {headers['Allow']}."
    return ProblemError(error.status_code, code, detail, headers=headers)


def no_route(request: Request) -> ProblemError:
    """Return 405 with all methods of an address of the API, or 404 when there is none."""
    app = request.app
    if not hasattr(app.state, "addresses"):
        app.state.addresses = Addresses(app.openapi()["paths"])
    path = request.scope["path"]
    allowed = app.state.addresses.methods(path)
    if not allowed:
        detail = f"There is no {path} here; the routes are listed at /openapi.json."
        return ProblemError(404, "not_found", detail)
    listed = ", ".join(allowed)
    return ProblemError(
        405,
        "method_not_allowed",
        f"{request.method} is not possible on {path}; there are: {listed}.",
        headers={"Allow": listed},
    )


def from_validation(error: RequestValidationError) -> ProblemError:
    """Convert faults of path, query, headers, body to a problem: 400 for broken JSON, else 422."""
    details = error.errors()
    faults = [fault for detail in details for fault in _faults(detail)]
    listed = [fault.model_dump() for fault in faults]
    if any(detail["type"] == "json_invalid" for detail in details):
        return ProblemError(400, "malformed_json", "The body is not JSON.", errors=listed)
    return ProblemError(422, "invalid_request", in_short("request", faults), errors=listed)


def from_crash(error: Exception, scope: Scope) -> ProblemError:
    """Convert a fault of the service: log it in full, respond without internals.

    A full disk is none: nothing was stored of the request, and it may be sent again.
    """
    if is_full_disk(error):
        log.error("request %s needs disk space: %s", request_id_of(scope), error)
        return ProblemError(
            507,
            "insufficient_storage",
            "The disk of the service is full or read-only; nothing of this request was stored.",
            retryable=True,
            headers={"Retry-After": "60"},
        )
    if is_unreachable(error):
        log.error("request %s needs what cannot be reached: %s", request_id_of(scope), error)
        return ProblemError(
            503,
            "storage_unreachable",
            "The database or the store of the recordings does not answer; ask again.",
            retryable=True,
            headers={"Retry-After": "5"},
        )
    log.error("request %s failed", request_id_of(scope), exc_info=error)
    return ProblemError(
        500,
        "internal_error",
        "The service failed on this request; the log has the cause under the request id.",
        retryable=False,
    )


def service_stops() -> ProblemError:
    """Return the problem of a request that the end of the service cuts off."""
    return ProblemError(
        503,
        "service_stops",
        "The service stops before this is done; ask again when it has started again.",
        headers={"Retry-After": "5"},
    )


def is_full_disk(error: Exception) -> bool:
    """Return whether the disk took no file, for want of space or rights, of us or the database."""
    if isinstance(error, OperationalError):
        return _name_in_sqlite(error) in FULL_DATABASE
    return isinstance(error, OSError) and error.errno in FULL_FILE | READ_ONLY_FILE


def is_unreachable(error: Exception) -> bool:
    """Return whether a database did not answer, or not in time, or a store of another machine."""
    if isinstance(error, PASSING):
        name = _name_in_sqlite(error)
        return not name or name.startswith(BUSY_DATABASE)
    return isinstance(error, ResultsError)


def _name_in_sqlite(error: SQLAlchemyError) -> str:
    """Return the name that SQLite has for an error; empty: it is none of SQLite."""
    return str(getattr(getattr(error, "orig", None), "sqlite_errorname", ""))


def _faults(detail: Mapping[str, Any]) -> list[Fault]:
    """Return the faults of one error of FastAPI, whose path begins with the part of the request."""
    source, *path = detail.get("loc") or ("body",)
    prefix = "" if source == "body" else f"/{source}"
    named = {**detail, "loc": tuple(path) or (source,), "input": _number_of(detail)}
    found = translate_details([named], None, None)
    return [fault.model_copy(update={"pointer": prefix + fault.pointer}) for fault in found]


def _number_of(detail: Mapping[str, Any]) -> Any:
    """Return what an error was found in: of a parameter out of range the number, not its text."""
    given = detail["input"]
    if detail["type"] not in RANGES or not isinstance(given, str):
        return given
    return int(given) if given.strip().lstrip("+-").isdecimal() else float(given)


def _dump(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body, default=str)
    except TypeError:
        # UTF-8 cannot encode lone surrogates of the input; JSON escapes can
        return json.dumps(body, default=str).encode("ascii")


def title_of(status: int) -> str:
    """Return the phrase of a status."""
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Error"
