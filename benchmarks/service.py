"""Starts and stalls of the service: `python -m benchmarks.service [sessions] [runs]`.

It prints one line per figure and asserts nothing. Beside times by the clock stand processor times,
which other work on the machine disturbs less, and the load while each was taken.

Ready     from the start of `cardan serve` to the line that says so, kernels compiled before
Session   from the request to the first frame at a viewer
Stall     how late the event loop woke while a large scene was checked, a recording downloaded as
          JSON, a batch computed and a session watched; by its own histogram in `/metrics`
"""

import asyncio
import os
import re
import sys
import time
from statistics import median
from typing import Any

import httpx

from benchmarks import bulk, machine, viewers
from benchmarks.bulk import processor_s, show
from benchmarks.server import Server, serving

STARTS = 3
LOAD_S = 10.0
LAG = re.compile(r'cardan_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)')


def starts() -> None:
    """Ready, some times, after one start that leaves byte code behind."""
    with serving():
        pass
    taken, used = [], []
    for _ in range(STARTS):
        with serving() as server:
            taken.append(server.ready_s)
            used.append(processor_s(server.pid))
    show(f"start to ready, median of {STARTS}", median(taken), "s")
    show("processor time of it, all processes", median(used), "s")


def sessions(server: Server, count: int) -> None:
    """Start sessions one after another, of the scene of `viewers`."""

    async def all_of_them() -> list[float]:
        async with httpx.AsyncClient(base_url=server.http, timeout=viewers.PATIENCE_S) as client:
            return [await viewers.session_start(server, client) for _ in range(count)]

    asyncio.run(all_of_them())
    before = processor_s(server.pid)
    found = viewers.spread(asyncio.run(all_of_them()))
    for name in ("p50", "p99"):
        show(f"session start ({viewers.SCENE}, {count}), {name}", found[name], "ms")
    each = 1e3 * (processor_s(server.pid) - before) / count
    show("processor time of a session, start to end", each, "ms")


def lags(client: httpx.Client) -> dict[float, float]:
    """How often the event loop woke at most so late [s]."""
    text = client.get("/metrics").text
    return {float(bound): float(times) for bound, times in LAG.findall(text)}


def stalls(server: Server) -> None:
    """The lag of the event loop under mixed load."""
    with httpx.Client(base_url=server.http, timeout=120.0) as client:
        large = bulk.scene_of(1)
        run = client.post("/v1/simulations", json=large, headers={"Prefer": "wait=30"}).json()
        batch, _ = bulk.post(client, 200, "beside")
        before = lags(client)
        until = time.perf_counter() + LOAD_S
        while time.perf_counter() < until:
            client.post("/v1/scenes:validate", json=heap()).raise_for_status()
            form = {"format": "json"}
            client.get(run["links"]["trajectory"], params=form).raise_for_status()
        after = lags(client)
        client.post(batch["links"]["self"] + ":cancel")
    seen = {bound: after[bound] - before.get(bound, 0.0) for bound in after}
    total = max(seen.values())
    for bound in (0.03, 0.1):
        show(
            f"event loop later than {bound:g} s, of {total:.0f} looks", total - seen[bound], "times"
        )


def heap() -> dict[str, Any]:
    """A scene of two thousand balls, checked and not simulated."""
    ball = {"mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
    bodies = [{"name": f"ball {i}", "position": [0.3 * i, 0, 1], **ball} for i in range(2000)]
    return {"version": 1, "simulation": {"dt": 0.001, "duration": 1.0}, "bodies": bodies}


def main() -> None:
    """Print every figure."""
    counts = [int(text) for text in sys.argv[1:]]
    count, runs = (counts + [30, 400][len(counts) :])[:2]
    about = machine.describe()
    print(f"{about['processor']}, {about['cores']} cores, {about['commit']}")
    show("load before", os.getloadavg()[0], "-")
    starts()
    with serving() as server:
        sessions(server, count)
        stalls(server)
    if runs:
        bulk.served(runs, bulk.bare_ms())
    show("load after", os.getloadavg()[0], "-")


if __name__ == "__main__":
    main()
