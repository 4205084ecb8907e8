"""Following something that ends: waiting for its end, and its changes as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from cardan.service import clock
from cardan.service.api.digits import MOST_DIGITS
from cardan.service.api.problems import header_problem
from cardan.service.services import Services
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.changes import Changes

KEEP_ALIVE_SECONDS = 15.0
# events of a batch that are read and sent together
EVENTS_AT_ONCE = 500
T = TypeVar("T")


@dataclass(frozen=True)
class Now:
    """The present state of what is followed; `mark` differs whenever `data` is worth sending."""

    ended: bool
    mark: tuple[Any, ...]
    data: Any


@dataclass(frozen=True)
class EventSource:
    """Where events of one id come from; both functions read the database."""

    id: str
    kind: str
    """Name of the stored events."""
    stored: Callable[[int], Sequence[Row] | Sequence[dict[str, Any]]]
    """Stored events after a number, {seq, data}, in their order, at most some of them."""
    now: Callable[[], Now | None]
    """The present state; None: it was deleted."""


def runs_of_batch(services: Services, batch_id: str) -> Callable[[int], list[dict[str, Any]]]:
    """The stored events of an EventSource: changes of the runs of a batch."""
    return lambda after: services.catalog.batch_events(batch_id, after=after, size=EVENTS_AT_ONCE)


async def when_ended(
    changes: Changes, key: str, now: Callable[[], tuple[T, bool]], seconds: float
) -> T:
    """Return the state of something, (state, ended), when it has ended or time is up.

    The time is up, too, when the service stops.
    """
    until = clock.monotonic() + seconds
    limiter = None
    with changes.watch(key) as changed:
        while True:
            changed.clear()
            state, ended = await run_sync(now, limiter=limiter)
            limiter = changes.looks
            left = until - clock.monotonic()
            if ended or left <= 0.0 or changes.is_closed:
                return state
            try:
                await asyncio.wait_for(changed.wait(), left)
            except TimeoutError:
                return (await run_sync(now, limiter=limiter))[0]


async def event_answer(source: EventSource, request: Request, services: Services) -> Response:
    """Return the events as a stream; 204 when it has ended and the client has them all.

    Raises ProblemError 422.
    """
    after = last_event_id(request)
    now = await run_sync(source.now)
    if (now is None or now.ended) and not await run_sync(source.stored, after):
        # stops an EventSource from reconnecting
        return Response(status_code=204)
    return StreamingResponse(
        stream_of(source, services.changes, after),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


def last_event_id(request: Request) -> int:
    """Return the number of the last event the client has; 0: none. Raises ProblemError 422."""
    text = request.headers.get("last-event-id", "").strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()) or len(text) > MOST_DIGITS:
        message = "Last-Event-ID must be the id of an event, a whole number."
        raise header_problem("Last-Event-ID", message, text)
    return int(text)


async def stream_of(source: EventSource, changes: Changes, after: int) -> AsyncIterator[bytes]:
    """What happens to something from an event on, as server-sent events.

    They end with it, and when the service stops: whoever has the last one asks for those after it.
    """
    told: tuple[Any, ...] | None = None
    looks = changes.looks
    with changes.watch(source.id) as changed:
        while True:
            changed.clear()
            # read before the events: after the end there are no further ones
            now = await run_sync(source.now, limiter=looks)
            while events := await run_sync(source.stored, after, limiter=looks):
                after = events[-1]["seq"]
                # one piece: each is a turn of the server, and a packet
                yield b"".join(_event(source.kind, one["data"], one["seq"]) for one in events)
            if now is None:
                return
            if now.mark != told:
                told = now.mark
                yield _event("progress", now.data)
            if now.ended or changes.is_closed:
                return
            try:
                await asyncio.wait_for(changed.wait(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield b": still here\n\n"


def _event(kind: str, data: Any, number: int | None = None) -> bytes:
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"
