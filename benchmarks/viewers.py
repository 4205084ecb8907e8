"""Session start, and how late a frame is when eight viewers look on, against a real server.

Session start   from the request to the first binary frame at a viewer, warm, in milliseconds
Round trip      the session is paused; a `step` is sent and the frame of that step awaited at every
                viewer: the command's way in, the step, the frame's way out. The latency of a frame
                alone is less.
Spread          the session runs in real time; how much later than at the first viewer a frame
                arrives at each of the others
"""

import asyncio
import time
from itertools import count
from statistics import median, quantiles
from typing import Any

import httpx
import orjson
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.server import Server
from cardan.schemas.frame import HEADER

VIEWERS = 8
SESSIONS = 10
STEPS = 200
RUN_S = 4.5
SCENE = "pile"
HZ = 60.0
PATIENCE_S = 60.0
STEP_FIELD, TIME_FIELD, SEQUENCE_FIELD = 5, 6, 4


class Viewer:
    """A client that acknowledges every frame and notes when it came."""

    def __init__(self, socket: ClientConnection) -> None:
        """Take over an open socket."""
        self.socket = socket
        self.arrivals: list[tuple[int, float, float]] = []
        self.bytes = 0
        self._news = asyncio.Event()

    async def say(self, **message: Any) -> None:
        """Send one message."""
        await self.socket.send(orjson.dumps(message).decode())

    async def follow(self) -> None:
        """Receive until the socket ends."""
        async for data in self.socket:
            if isinstance(data, str):
                continue
            now = time.perf_counter()
            header = HEADER.unpack_from(data)
            await self.say(op="ack", sequence=header[SEQUENCE_FIELD])
            self.arrivals.append((header[STEP_FIELD], header[TIME_FIELD], now))
            self.bytes += len(data)
            self._news.set()

    async def saw(self, step: int) -> float:
        """When the first frame at or after this step came."""
        while not self.arrivals or self.arrivals[-1][0] < step:
            self._news.clear()
            await self._news.wait()
        return next(at for seen, _, at in self.arrivals if seen >= step)


def measure(server: Server) -> dict[str, Any]:
    """All three figures."""
    return asyncio.run(_measure(server))


async def _measure(server: Server) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=server.http, timeout=PATIENCE_S) as client:
        starts = [await session_start(server, client) for _ in range(SESSIONS)]
        watched = await asyncio.wait_for(_watched(server, client), 10 * PATIENCE_S)
    return {
        "scene": SCENE,
        "viewers": VIEWERS,
        "session_start_ms": spread(starts),
        **watched,
    }


async def session_start(server: Server, client: httpx.AsyncClient) -> float:
    """Start and end a session; seconds from the request to its first frame."""
    began = time.perf_counter()
    session = await _create(client)
    async with connect(f"{server.sockets}{session['links']['stream']}", **OPTIONS) as socket:
        await greet(socket, "start")
        while isinstance(await asyncio.wait_for(socket.recv(), PATIENCE_S), str):
            pass
        seconds = time.perf_counter() - began
    (await client.delete(session["links"]["self"])).raise_for_status()
    return seconds


async def _watched(server: Server, client: httpx.AsyncClient) -> dict[str, Any]:
    session = await _create(client)
    address = f"{server.sockets}{session['links']['stream']}"
    sockets = [await connect(address, **OPTIONS) for _ in range(VIEWERS)]
    viewers = [Viewer(socket) for socket in sockets]
    for number, viewer in enumerate(viewers):
        await greet(viewer.socket, f"viewer-{number}")
    followers = [asyncio.create_task(viewer.follow()) for viewer in viewers]
    try:
        await asyncio.gather(*(viewer.saw(0) for viewer in viewers))
        trips = [await _round_trip(viewers) for _ in range(STEPS)]
        running = await _running(viewers)
    finally:
        for socket in sockets:
            await socket.close()
        await asyncio.gather(*followers, return_exceptions=True)
    (await client.delete(session["links"]["self"])).raise_for_status()
    return {
        "round_trip_ms": spread([last for trip in trips for last in trip]),
        "round_trip_all_viewers_ms": spread([max(trip) for trip in trips]),
        **running,
    }


_ids = count()


async def _round_trip(viewers: list[Viewer]) -> list[float]:
    """One step; seconds until each viewer had its frame."""
    # frames come at most HZ times a second: a step right after a frame would wait for its turn
    await asyncio.sleep(1.5 / HZ)
    step = max(viewer.arrivals[-1][0] for viewer in viewers) + 1
    began = time.perf_counter()
    await viewers[0].say(op="step", n=1, id=f"s{next(_ids)}")
    return [at - began for at in await asyncio.gather(*(viewer.saw(step) for viewer in viewers))]


async def _running(viewers: list[Viewer]) -> dict[str, Any]:
    for viewer in viewers:
        viewer.arrivals.clear()
        viewer.bytes = 0
    await viewers[0].say(op="resume", id="resume")
    began = time.perf_counter()
    await asyncio.sleep(RUN_S)
    seconds = time.perf_counter() - began
    first: dict[int, float] = {}
    for step, _, at in (arrival for viewer in viewers for arrival in viewer.arrivals):
        first[step] = min(at, first.get(step, at))
    behind = [at - first[step] for viewer in viewers for step, _, at in viewer.arrivals]
    frames = [len(viewer.arrivals) for viewer in viewers]
    return {
        "frame_spread_ms": spread(behind),
        "frames_per_second": round(median(frames) / seconds, 1),
        "kilobytes_per_second": round(median(viewer.bytes for viewer in viewers) / seconds / 1e3),
    }


OPTIONS: dict[str, Any] = {"subprotocols": ["cardan.v1"], "compression": None, "max_size": None}


async def _create(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.post("/v1/sessions", json={"scene": SCENE, "paused": True, "speed": 1})
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


async def greet(socket: ClientConnection, client_id: str) -> None:
    """Say who is there, and ask for poses."""
    await socket.send(orjson.dumps({"op": "hello", "client_id": client_id}).decode())
    channels = {"poses": {"hz": HZ}}
    await socket.send(orjson.dumps({"op": "subscribe", "channels": channels}).decode())


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, 99th percentile and largest, in milliseconds."""
    cuts = quantiles(seconds, n=100, method="inclusive")
    return {
        "p50": round(1e3 * cuts[49], 2),
        "p99": round(1e3 * cuts[98], 2),
        "max": round(1e3 * max(seconds), 2),
        "count": len(seconds),
    }
