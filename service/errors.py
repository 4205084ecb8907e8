"""Errors of the service's rooms: a code, a sentence, faults; `api/statuses.py` has the statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """What a room can refuse; the value is the `code` of the API."""

    COMMAND_IMPOSSIBLE = "command_impossible"
    COMMAND_INVALID = "command_invalid"
    CONTROL_TAKEN = "control_taken"
    COMPUTE_TIMED_OUT = "compute_timed_out"
    DOWNLOAD_TOO_LARGE = "download_too_large"
    ENGINE_NOT_READY = "engine_not_ready"
    INVALID_REQUEST = "invalid_request"
    INVALID_SLICE = "invalid_slice"
    LIMIT_EXCEEDED = "limit_exceeded"
    MALFORMED_JSON = "malformed_json"
    NO_CAPACITY = "no_capacity"
    NO_SUCH_TABLE = "no_such_table"
    NO_WORKER = "no_worker"
    QUERY_IMPOSSIBLE = "query_impossible"
    QUEUE_FULL = "queue_full"
    RESULT_DAMAGED = "result_damaged"
    RESULT_GONE = "result_gone"
    QUOTA_EXCEEDED = "quota_exceeded"
    SCENE_INVALID = "scene_invalid"
    SCENE_TOO_LARGE = "too_large"
    SEARCH_FAILED = "search_failed"
    SERVICE_STOPS = "service_stops"
    SESSION_CLOSED = "session_closed"
    SESSION_FAILED = "session_failed"
    SESSION_FINISHED = "session_finished"
    SESSION_IN_USE = "session_in_use"
    SESSION_NOT_FOUND = "session_not_found"
    SESSION_UNUSABLE = "session_unusable"
    SNAPSHOT_INVALID = "snapshot_invalid"
    SNAPSHOT_NOT_FOUND = "snapshot_not_found"
    STEP_OUT_OF_RANGE = "step_out_of_range"
    STORAGE_FAILED = "storage_failed"
    SUPERSEDED = "superseded"
    TOO_MANY_COMMANDS = "too_many_commands"
    TOO_MANY_SHARES = "too_many_shares"
    UNKNOWN_BODY = "unknown_body"
    UNKNOWN_JOINT = "unknown_joint"
    UNKNOWN_OP = "unknown_op"
    WARMING_UP = "warming_up"
    WORKER_LOST = "worker_lost"


class ServiceError(Exception):
    """A room refuses. `errors` are faults {pointer, code, message, got, hint}."""

    def __init__(
        self,
        code: ErrorCode,
        detail: str,
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        retry_after_s: int | None = None,
        **extra: Any,
    ) -> None:
        """Keep the parts; `retry_after_s` says when another try may succeed [s]."""
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = [dict(fault) for fault in errors]
        self.retry_after_s = retry_after_s
        self.extra = extra

    @staticmethod
    def of(problem: Mapping[str, Any]) -> ServiceError:
        """The error of a `problem`, as it came from a worker."""
        code = ErrorCode(problem["code"])
        extra = problem.get("extra", {})
        return ServiceError(code, problem["detail"], errors=problem["errors"], **extra)

    @property
    def problem(self) -> dict[str, Any]:
        """Code, detail and faults as data: what a worker sends."""
        told = {"code": self.code, "detail": self.detail, "errors": self.errors}
        return told | ({"extra": self.extra} if self.extra else {})


class QuotaError(ServiceError):
    """A key has as much of something as it may have; other keys are not concerned."""

    def __init__(self, quota: str, unit: str, used: int, asked: int, allowed: int) -> None:
        """Say the figures: there are `used`, and `asked` more would exceed what is `allowed`."""
        super().__init__(
            ErrorCode.QUOTA_EXCEEDED,
            f"This key may have {allowed} {unit} at once; it has {used}, and {asked} more "
            "would exceed that.",
            retry_after_s=10,
            quota=quota,
            found=used + asked,
            allowed=allowed,
        )
