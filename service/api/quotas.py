"""Quotas per key: requests a minute, runs an hour; counted in fixed windows, in memory.

Headers are those of draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy` says the quota,
`RateLimit` what is left of it and for how long.
"""

import math
from dataclasses import dataclass

from fastapi import Request

from cardan.service import clock
from cardan.service.api.problems import ProblemError
from cardan.service.sessions import Sessions
from cardan.service.settings import Settings

MOST_KEYS = 10_000


@dataclass
class Window:
    """What a key has used since the window began."""

    began: float
    used: int = 0


class Quota:
    """So many units per window and key; 0: as many as one likes."""

    def __init__(self, name: str, limit: int, window_s: float) -> None:
        """Begin with unused windows."""
        self.name = name
        self.limit = limit
        self.window_s = window_s
        self._windows: dict[str, Window] = {}

    def take(self, key: str, units: int = 1) -> dict[str, str]:
        """Use units; return the headers. Raises ProblemError 429, and uses none."""
        if not self.limit:
            return {}
        now = clock.monotonic()
        window = self._windows.get(key)
        if window is None or now - window.began >= self.window_s:
            if len(self._windows) >= MOST_KEYS:
                self._windows.clear()
            window = self._windows[key] = Window(now)
        left_s = math.ceil(window.began + self.window_s - now)
        if window.used + units > self.limit:
            left = max(0, self.limit - window.used)
            raise ProblemError(
                429,
                "quota_exceeded",
                f"This key may use {self.limit} {self.name} per {self.window_s:g} s; {left} are "
                f"left, {units} are asked for.",
                quota=self.name,
                limit=self.limit,
                headers=self._headers(left, left_s) | {"Retry-After": str(left_s)},
            )
        window.used += units
        return self._headers(self.limit - window.used, left_s)

    def _headers(self, left: int, left_s: int) -> dict[str, str]:
        return {
            "RateLimit-Policy": f'"{self.name}";q={self.limit};w={self.window_s:.0f}',
            "RateLimit": f'"{self.name}";r={left};t={left_s}',
        }


class Quotas:
    """All quotas of the service."""

    def __init__(self, settings: Settings) -> None:
        """Without keys there is nobody to count for."""
        keys = bool(settings.api_keys)
        self.requests = Quota("requests", settings.requests_per_minute if keys else 0, 60.0)
        self.runs = Quota("runs", settings.runs_per_hour if keys else 0, 3600.0)


def refuse_more_sessions(request: Request, sessions: Sessions, most: int) -> None:
    """Raise ProblemError 429 when the key of a request has all the sessions it may have."""
    key = getattr(request.state, "key", "")
    if not key or not most:
        return
    alive = sum(session.about.created_by == key for session in sessions.all())
    if alive >= most:
        raise ProblemError(
            429,
            "quota_exceeded",
            f"This key may have {most} sessions at once; delete one.",
            quota="sessions",
            limit=most,
            headers={"Retry-After": "10"},
        )


def charge_runs(request: Request, runs: int) -> None:
    """Count runs of a request against the quota of its key. Raises ProblemError 429."""
    quotas: Quotas = request.app.state.quotas
    quotas.runs.take(getattr(request.state, "key", ""), runs)
