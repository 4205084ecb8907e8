"""The process that simulates is killed while somebody looks on."""

import signal
from typing import Any

import httpx
import psutil
import pytest

from tests.web.shown import SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


def kill_workers_of_sessions() -> int:
    """End the processes that simulate sessions for servers of these tests; how many there were."""
    killed = 0
    for process in psutil.Process().children(recursive=True):
        if process.name() == "sessions":
            process.send_signal(signal.SIGKILL)
            killed += 1
    return killed


def test_a_watched_run_goes_on_in_the_same_state(page: Any, shown: Shown) -> None:
    """The page says what happened, and the run ends in the bits of one that nobody disturbed."""
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum")
    shown.wait("cardan.shown().time > 0.5")
    before = shown.now()["step"]
    killed = kill_workers_of_sessions()
    assert killed > 0
    messages = page.locator("#messages")
    playwright_api.expect(messages).to_contain_text("process was lost")
    playwright_api.expect(messages).to_contain_text("goes on in a new process")
    shown.wait(f"cardan.shown().state === 'running' && cardan.shown().step > {before} + 50")
    shown.pause()
    session = shown.rest()
    # more than once where the process that was ready for it was killed as well
    assert 1 <= session["restarts"] <= killed
    assert session["epoch"] == 0
    shown.wait(f"cardan.shown().step === {session['step']}")
    # the moment in the view is that of the server, and of a run that nobody disturbed
    state = shown.rest("/state")
    lower = state["poses"][state["body_names"].index("lower")]
    assert shown.pose("lower")[:3] == pytest.approx(lower[:3], abs=1e-5)
    wanted = {
        "scene": "double-pendulum", "paused": True, "overrides": {"/simulation/duration": 600},
    }  # fmt: skip
    sessions = f"{shown.server}/v1/sessions"
    other = httpx.post(sessions, json=wanted, timeout=60).json()["id"]
    step = {"op": "step", "n": session["step"]}
    httpx.post(f"{sessions}/{other}/commands", json=step, timeout=60).raise_for_status()
    undisturbed = httpx.get(f"{sessions}/{other}/state", timeout=60).json()
    assert undisturbed["step"] == state["step"]
    assert undisturbed["state_hash"] == state["state_hash"]
