"""What the page shows, read from outside, and a scene of one's own for it."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

SIZE = {"width": 1400, "height": 860}
# where the picture does not matter: software draws it in a third of the time
SMALL = {"width": 940, "height": 600}
# a loaded machine that draws in software; less where somebody waits for a failure [ms]
PATIENCE = int(os.environ.get("CARDAN_PATIENCE_MS", "300000"))

FLOATING: dict[str, Any] = {
    "version": 1,
    "name": "floating",
    "gravity": [0, 0, 0],
    "simulation": {"dt": 0.002, "duration": 600},
    "bodies": [
        {"name": "near", "mass": 1, "shapes": [{"type": "box", "size": [0.4, 0.4, 0.4]}]},
        {"name": "far", "mass": 1, "position": [0, 2, 0],
         "shapes": [{"type": "sphere", "radius": 0.2}]},
    ],
}  # fmt: skip

# keeps the sockets of the page at hand, and what was sent through them
SPY = """
  window.sockets = []; window.said = [];
  window.WebSocket = class extends WebSocket {
    constructor(...a) { super(...a); window.sockets.push(this); }
    send(data) { window.said.push(data); super.send(data); }
  };
"""


def end_sessions(server: str) -> None:
    """End all sessions of a server, unless it is gone: each takes a good part of a processor."""
    with suppress(httpx.TransportError):
        sessions = f"{server}/v1/sessions"
        for session in httpx.get(f"{sessions}?page_size=1000", timeout=60).json()["items"]:
            httpx.delete(f"{sessions}/{session['id']}", timeout=60)


def ended(server: str, kind: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a simulation, a batch or a study is when it has ended, however long that takes."""
    until = time.monotonic() + PATIENCE / 1000
    with httpx.Client(base_url=server, timeout=120, headers={"Prefer": "wait=30"}) as client:
        info = client.post(f"/v1/{kind}", json=wanted).raise_for_status().json()
        while info["finished_at"] is None:
            assert time.monotonic() < until, info
            info = client.get(info["links"]["self"]).raise_for_status().json()
    return dict(info)


class Shown:
    """What the page shows, by the hooks of web/hooks.js, and what the server says about it."""

    def __init__(self, page: Any, server: str) -> None:
        self.page = page
        self.server = server

    def open(self, example: str, paused: bool = False) -> None:
        """By a link to a session that lasts: a slow browser must not miss the end of the run."""
        wanted = {"scene": example, "paused": paused, "overrides": {"/simulation/duration": 600}}
        made = httpx.post(f"{self.server}/v1/sessions", json=wanted, timeout=60)
        made.raise_for_status()
        self.page.goto(f"{self.server}/#scene={example}&session={made.json()['id']}")
        self.wait("cardan.shown().state === 'paused'" if paused else "cardan.shown().time > 0")

    def close(self) -> None:
        """Leave the page, and end all sessions of the server."""
        self.page.goto("about:blank")
        end_sessions(self.server)

    def wait(self, condition: str) -> None:
        """Until the condition holds; asked from outside, as the page's policy forbids eval."""
        self.wait_for(
            lambda: bool(self.page.evaluate(f"Boolean(window.cardan && ({condition}))")), condition
        )

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        """Until a condition holds that is asked in Python."""
        deadline = time.monotonic() + PATIENCE / 1000
        while not holds():
            told = f"{what} after {PATIENCE} ms: {self.page.evaluate('cardan.shown()')}"
            assert time.monotonic() < deadline, told
            self.page.wait_for_timeout(50)

    def now(self) -> dict[str, Any]:
        return self.page.evaluate("cardan.shown()")

    def pose(self, body: str) -> list[float]:
        return self.page.evaluate("(name) => cardan.pose(name)", body)

    def rest(self, path: str = "") -> dict[str, Any]:
        session = self.page.evaluate("cardan.sessionId()")
        answer = httpx.get(f"{self.server}/v1/sessions/{session}{path}", timeout=60)
        answer.raise_for_status()
        return answer.json()

    def post(self, op: str, **fields: object) -> None:
        session = self.page.evaluate("cardan.sessionId()")
        url = f"{self.server}/v1/sessions/{session}/commands"
        httpx.post(url, json={"op": op, **fields}, timeout=60).raise_for_status()

    def pause(self) -> None:
        self.page.get_by_role("button", name="Pause", exact=True).click()
        self.wait("cardan.shown().state === 'paused'")
