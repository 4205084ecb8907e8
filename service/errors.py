"""Errors of the service; api/problems.py turns them into HTTP answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

RETRYABLE = frozenset({408, 429, 503, 507})


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
