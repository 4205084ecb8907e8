"""Quotas per key: what it may use in a time, in fixed windows in memory, and what it may store.

Headers are those of draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy` says the quotas that
a request was counted against, `RateLimit` what is left of them and for how long. How many runs and
sessions a key has at once is decided where they are made (`QuotaError`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from anyio.to_thread import run_sync
from fastapi import Request

from cardan.service import clock
from cardan.service.api.problems import ProblemError
from cardan.service.compute.messages import Extent
from cardan.service.services import Services
from cardan.service.sessions.registry import Sessions
from cardan.service.settings import Settings

MOST_KEYS = 10_000


@dataclass(frozen=True)
class Left:
    """What a key has left of a quota; a time [s] of none: it does not come back by itself."""

    quota: str
    limit: int
    units: int
    window_s: float | None = None
    seconds: int | None = None


def headers_of(quotas: Iterable[Left]) -> dict[str, str]:
    """The headers of a response that was counted against these quotas; none: none."""
    told = list(quotas)
    if not told:
        return {}
    policies = [f'"{one.quota}";q={one.limit}{_part("w", one.window_s)}' for one in told]
    left = [f'"{one.quota}";r={one.units}{_part("t", one.seconds)}' for one in told]
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


def _part(name: str, value: float | None) -> str:
    return "" if value is None else f";{name}={value:.0f}"


@dataclass
class Window:
    """What a key has used since the window began."""

    began: float
    used: float = 0.0


class Quota:
    """So many units per window and key; 0: as many as one likes."""

    def __init__(self, name: str, unit: str, limit: float, window_s: float) -> None:
        """Begin with unused windows; `unit` is what texts call the units."""
        self.name = name
        self.unit = unit
        self.limit = limit
        self.window_s = window_s
        self._windows: dict[str, Window] = {}

    def check(self, key: str, units: float) -> None:
        """Raise ProblemError when a key has not so many units left: 403 if it never will."""
        if not self.limit:
            return
        window = self._window(key)
        if window.used + units <= self.limit:
            return
        left = self._left(window)
        never = units > self.limit
        wait = {} if never else {"Retry-After": str(left.seconds)}
        raise ProblemError(
            403 if never else 429,
            "quota_exceeded",
            f"This key may use {self.limit:.12g} {self.unit} per {self.window_s:g} s; "
            f"{left.units} are left, {units:.12g} are asked for.",
            retryable=not never,
            quota=self.name,
            found=_plain(window.used + units),
            allowed=_plain(self.limit),
            headers=headers_of([left]) | wait,
        )

    def take(self, key: str, units: float = 1) -> list[Left]:
        """Use units; what is left of them. Raises ProblemError, and uses none."""
        if not self.limit:
            return []
        self.check(key, units)
        window = self._window(key)
        window.used += units
        return [self._left(window)]

    def spend(self, key: str, units: float) -> bool:
        """Count what was used already; False: it is more than the key may use."""
        if not self.limit:
            return True
        window = self._window(key)
        window.used += units
        return window.used <= self.limit

    def give_back(self, key: str, units: float) -> None:
        """Return units that were taken for nothing."""
        if self.limit:
            window = self._window(key)
            window.used = max(0.0, window.used - units)

    def _window(self, key: str) -> Window:
        now = clock.monotonic()
        window = self._windows.get(key)
        if window is None or now - window.began >= self.window_s:
            if len(self._windows) >= MOST_KEYS:
                self._windows.clear()
            window = self._windows[key] = Window(now)
        return window

    def _left(self, window: Window) -> Left:
        seconds = math.ceil(window.began + self.window_s - clock.monotonic())
        units = max(0, math.floor(self.limit - window.used))
        return Left(self.name, math.floor(self.limit), units, self.window_s, seconds)


class Quotas:
    """All quotas of the service."""

    def __init__(self, settings: Settings) -> None:
        """Without keys there is nobody to count for."""
        keys = bool(settings.api_keys)
        per_minute = settings.requests_per_minute if keys else 0
        per_hour = settings.runs_per_hour if keys else 0
        simulated = settings.simulated_s_per_hour if keys else 0.0
        self.requests = Quota("requests", "requests", per_minute, 60.0)
        self.runs = Quota("runs", "runs", per_hour, 3600.0)
        self.simulated = Quota("simulated_s", "simulated seconds", simulated, 3600.0)


@contextmanager
def charged(request: Request, extent: Extent) -> Iterator[None]:
    """Count the runs that the block queues against the quotas of their key. Raises ProblemError.

    Nothing is counted when one of the quotas refuses, or the block fails.
    """
    quotas: Quotas = request.app.state.quotas
    key = getattr(request.state, "key", "")
    quotas.simulated.check(key, extent.seconds)
    told = quotas.runs.take(key, extent.runs) + quotas.simulated.take(key, extent.seconds)
    try:
        yield
    except BaseException:
        quotas.runs.give_back(key, extent.runs)
        quotas.simulated.give_back(key, extent.seconds)
        raise
    counted_against(request.scope["state"], told)


async def refuse_beyond_stored(
    request: Request, services: Services, sessions: Sessions, more: int = 0
) -> None:
    """Raise ProblemError 403 when the key of a request has stored all that it may store.

    more: bytes that are known to come.
    """
    key, allowed = getattr(request.state, "key", ""), services.settings.stored_bytes_per_key
    if not key or not allowed:
        return
    found = await run_sync(services.stored_bytes, key) + await run_sync(sessions.stored_bytes, key)
    left = [Left("stored_bytes", allowed, max(0, allowed - found))]
    if found + max(more, 1) <= allowed:
        counted_against(request.scope["state"], left)
        return
    raise ProblemError(
        403,
        "quota_exceeded",
        f"The recordings, scenes and sessions of this key take {found} bytes, and it may store "
        f"{allowed}; delete some. Batches with `record`: `metrics` store nothing.",
        quota="stored_bytes",
        found=found + more,
        allowed=allowed,
        headers=headers_of(left),
    )


def counted_against(state: dict[str, object], quotas: Iterable[Left]) -> None:
    """Note quotas for the headers of the response to a request with this state."""
    known = state.get("quotas", ())
    assert isinstance(known, tuple)
    state["quotas"] = (*known, *quotas)


def headers_for(state: Mapping[str, object]) -> dict[str, str]:
    """The headers of all quotas that were noted."""
    known = state.get("quotas", ())
    assert isinstance(known, tuple)
    return headers_of(known)


def _plain(value: float) -> float:
    """A whole number without a fraction."""
    return int(value) if float(value).is_integer() else value
