"""Many viewers of a large session for a long time: `python -m benchmarks.soak [seconds]`.

32 viewers watch 1000 bodies in real time at 60 frames a second, each acknowledging every frame. It
prints one line per figure and asserts nothing. Times of the API process are processor times, its
memory the resident set; viewers run in two processes of their own.

Per 8 viewers   share of one core that the API process uses for 8 of the viewers
Frames          the median of frames per second over the viewers, and the least of them
Memory          of the API process, and of the worker of the session, in the tenths of the time
"""

import asyncio
import multiprocessing
import os
import sys
import time
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from benchmarks import machine, viewers
from benchmarks.bulk import show
from benchmarks.server import Server, serving
from cardan.schemas.frame import HEADER

SECONDS = 60.0
VIEWERS = 32
PROCESSES = 2
BODIES = 1000
PARTS = 10
MEGABYTE = 1e6


def scene() -> dict[str, Any]:
    """A lattice of spinning balls that drift apart: every pose changes in every step."""
    ball = {"mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
    bodies = [
        {
            "name": f"ball {number}",
            "position": [number % 10, number // 10 % 10, number // 100],
            "linear_velocity": [1e-3 * (number % 10), 1e-3 * (number // 10 % 10), 0.0],
            "angular_velocity": [1.0, 0.1 * (number % 7), 0.0],
            **ball,
        }
        for number in range(BODIES)
    ]
    run = {"dt": 0.004, "duration": 4000.0}
    return {"version": 1, "gravity": [0, 0, 0], "simulation": run, "bodies": bodies}


def processor_s(pid: int) -> float:
    """Processor time of one process so far [s]."""
    return machine.parent_and_time(pid)[1]


def resident(pid: int) -> float:
    """Resident set of a process [MB]."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def watch(address: str, count: int, tell: Connection) -> None:
    """In a process: watch until told to end; send how many frames each viewer had."""
    tell.send(asyncio.run(_watch_all(address, count, tell)))


async def _watch_all(address: str, count: int, tell: Connection) -> list[int]:
    sockets = [await connect(address, **viewers.OPTIONS) for _ in range(count)]
    frames = [0] * count

    async def follow(number: int, socket: ClientConnection) -> None:
        async for data in socket:
            if isinstance(data, bytes):
                sequence = HEADER.unpack_from(data)[viewers.SEQUENCE_FIELD]
                await socket.send(f'{{"op":"ack","sequence":{sequence}}}')
                frames[number] += 1

    for number, socket in enumerate(sockets):
        await viewers.greet(socket, f"viewer-{os.getpid()}-{number}")
    followers = [asyncio.create_task(follow(*each)) for each in enumerate(sockets)]
    tell.send(None)
    await asyncio.to_thread(tell.recv)
    before = list(frames)
    await asyncio.to_thread(tell.recv)
    counted = [now - then for now, then in zip(frames, before, strict=True)]
    for socket in sockets:
        await socket.close()
    await asyncio.gather(*followers, return_exceptions=True)
    return counted


def is_below(pid: int, ancestor: int) -> bool:
    """Whether a process was started by another, or by what that started. Raises OSError."""
    while pid > 1 and pid != ancestor:
        pid, _ = machine.parent_and_time(pid)
    return pid == ancestor


def busiest_worker(service: int) -> int:
    """The process of the session: of those of sessions of a service what has computed most."""
    found = []
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/comm") as file:
                is_worker = file.read().strip() == "sessions"
            if is_worker and is_below(int(entry), service):
                found.append(int(entry))
        except OSError:
            continue
    return max(found, key=processor_s)


def soak(server: Server, seconds: float) -> None:
    """Print all figures."""
    with httpx.Client(base_url=server.http, timeout=viewers.PATIENCE_S) as client:
        asked = {"scene": scene(), "paused": False, "speed": 1}
        session = client.post("/v1/sessions", json=asked).raise_for_status().json()
        address = f"{server.sockets}{session['links']['stream']}"
        context = multiprocessing.get_context("spawn")
        lines, watching = [], []
        for _ in range(PROCESSES):
            ours, theirs = context.Pipe()
            process = context.Process(target=watch, args=(address, VIEWERS // PROCESSES, theirs))
            process.start()
            lines.append(ours)
            watching.append(process)
        for line in lines:
            line.recv()
        worker = busiest_worker(server.pid)
        time.sleep(seconds / PARTS)
        for line in lines:
            line.send("count")
        used, began = processor_s(server.pid), time.perf_counter()
        memory = []
        for _ in range(PARTS):
            time.sleep(seconds / PARTS)
            memory.append((resident(server.pid), resident(worker)))
        passed = time.perf_counter() - began
        used = processor_s(server.pid) - used
        for line in lines:
            line.send("end")
        frames = [count / passed for line in lines for count in line.recv()]
        for process in watching:
            process.join()
        factor = client.get(session["links"]["self"]).json()["real_time_factor"]
        client.delete(session["links"]["self"]).raise_for_status()
    show("API process per 8 viewers", 100.0 * used / passed * 8 / VIEWERS, "% of a core")
    show("frames per second, median viewer", median(frames), "1/s")
    show("frames per second, least viewer", min(frames), "1/s")
    show("real time factor of the session", factor, "-")
    for name, column in (("API process", 0), ("worker", 1)):
        told = ", ".join(f"{part[column]:.1f}" for part in memory)
        print(f"memory of the {name}, tenth by tenth [MB]: {told}")


def main() -> None:
    """Print every figure."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    about = machine.describe()
    print(f"{about['processor']}, {about['cores']} cores, {about['commit']}")
    show("load before", os.getloadavg()[0], "-")
    with serving() as server:
        soak(server, seconds)
    show("load after", os.getloadavg()[0], "-")


if __name__ == "__main__":
    main()
