"""Any step exactly, forks beside the run before, sessions that outlive the service."""

from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import new_context, serving
from tests.web.shown import FLOATING, SMALL, Shown, ended

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# an arm that a motor turns evenly
ARM = {
    **FLOATING,
    "name": "arm",
    "bodies": [{"name": "arm", "mass": 1, "position": [0.5, 0, 0],
                "shapes": [{"type": "box", "size": [1, 0.1, 0.1]}]}],
    "joints": [{"name": "axle", "type": "hinge", "parent": "world", "child": "arm",
                "anchor": [0, 0, 0], "axis": [0, 0, 1],
                "motor": {"type": "velocity", "target": 1.0, "max_force": 20}}],
}  # fmt: skip


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def exact(server: str, session: str, step: int) -> dict[str, Any]:
    url = f"{server}/v1/sessions/{session}/frames/{step}"
    answer = httpx.get(url, timeout=60)
    answer.raise_for_status()
    return answer.json()


def drawn_as(shown: Shown, frame: dict[str, Any], body: int, name: str) -> None:
    x, y, z, w, *turn = frame["poses"][body]
    assert shown.pose(name) == pytest.approx([x, y, z, *turn, w], abs=1e-6)


def test_back_is_one_step_and_a_fork_has_its_ghost(page: Any, shown: Shown) -> None:
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": ARM, "paused": True}, timeout=60
    )
    session = made.json()["id"]
    page.goto(f"{shown.server}/#session={session}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('arm')")
    shown.post("step", n=500)
    shown.wait("cardan.shown().step === 500")
    # one step, and two in a row, to the very step and as it was
    for presses, step in ((1, 499), (2, 497)):
        for _ in range(presses):
            page.get_by_role("button", name="Back one step").click()
        shown.wait(f"cardan.shown().step === {step}")
        drawn_as(shown, exact(shown.server, session, step), 0, "arm")
    page.get_by_role("button", name="Forward one step").click()
    shown.wait("cardan.shown().step === 498")

    # go on from step 200 with another speed; the run before is a ghost
    page.locator("#timeline").evaluate(
        "(e) => { e.value = 200; e.dispatchEvent(new Event('input'));"
        " e.dispatchEvent(new Event('change')); }"
    )
    shown.wait("cardan.shown().step === 200")
    page.locator("#outline").get_by_role("button", name="axle").click()
    page.get_by_role("button", name="Angle", exact=True).click()
    page.get_by_role("button", name="Fork here").click()
    shown.wait(f"cardan.sessionId() !== '{session}' && cardan.shown().step === 200")
    fork = page.evaluate("cardan.sessionId()")
    assert shown.rest()["forked_from"]["session"] == session
    drawn_as(shown, exact(shown.server, session, 200), 0, "arm")
    playwright_api.expect(page.locator("#compare-words")).to_contain_text("fork at 0.400 s")
    shown.post("set_motor", joint="axle", target=2.0)
    shown.post("step", n=200)
    shown.wait("cardan.shown().step === 400 && cardan.ghost('arm')")
    before = exact(shown.server, session, 400)["poses"][0][:3]
    assert page.evaluate("cardan.ghost('arm')") == pytest.approx(before, abs=2e-3)
    # the plot says how far apart: both are on a circle of 0.5 m
    shown.wait("cardan.pinned()[0].times.at(-1) === cardan.shown().time")
    plot = page.evaluate("cardan.pinned()")[0]
    assert plot["title"] == "Off the other run [m]"
    apart = float(np.hypot(*(np.array(shown.pose("arm")[:2]) - before[:2])))
    assert apart == pytest.approx(2 * 0.5 * np.sin(0.2), abs=5e-3)
    assert plot["values"][0][-1] == pytest.approx(apart, abs=2e-3)
    # reset, it begins before the fork: so does the other one
    shown.post("reset")
    shown.wait("cardan.shown().step === 0 && cardan.ghost('arm')")
    shown.post("set_motor", joint="axle", target=2.0)
    shown.post("step", n=100)
    shown.wait("cardan.shown().step === 100 && cardan.pinned()[0].times.at(-1) === 0.2")
    before = exact(shown.server, session, 100)["poses"][0][:3]
    apart = float(np.hypot(*(np.array(shown.pose("arm")[:2]) - before[:2])))
    assert apart > 0.05
    shown.wait(f"Math.abs(cardan.pinned()[0].values[0].at(-1) - {apart}) < 2e-3")
    # the original is as it was
    url = f"{shown.server}/v1/sessions/{session}"
    assert httpx.get(url, timeout=60).json()["step"] == 500
    # a reload knows the run before, and leads back to it
    page.reload()
    shown.wait(f"cardan.sessionId() === '{fork}' && cardan.ghost('arm')")
    page.get_by_role("button", name="Show it").click()
    shown.wait(f"cardan.sessionId() === '{session}'")
    httpx.delete(f"{shown.server}/v1/sessions/{fork}", timeout=60)


def test_ghosts_say_that_they_are_thinned(page: Any, shown: Shown) -> None:
    """A run of half a minute before a fork, and a recording with more moments than are fetched."""
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": ARM, "paused": True}, timeout=60
    )
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('arm')")
    shown.post("step", n=20_000)
    shown.wait("cardan.shown().step === 20000")
    page.locator("#timeline").evaluate(
        "(e) => { e.value = 200; e.dispatchEvent(new Event('input'));"
        " e.dispatchEvent(new Event('change')); }"
    )
    shown.wait("cardan.shown().step === 200")
    page.get_by_role("button", name="Fork here").click()
    words = page.locator("#compare-words")
    playwright_api.expect(words).to_contain_text("fork at 0.400 s, one of 2 of its moments")
    long = {**ARM, "name": "long", "simulation": {"dt": 1e-4, "duration": 26.0},
            "record": {"every": 1, "channels": ["pose"]}}  # fmt: skip
    run = ended(shown.server, "simulations", {"scene": long})
    assert run["status"] == "succeeded", run
    page.get_by_role("button", name="Runs").click()
    page.get_by_role("button", name="As a ghost long").click()
    note = page.get_by_text("The run of the ghost:")
    playwright_api.expect(note).to_contain_text("one of 2 of its moments is shown")
    playwright_api.expect(words).to_contain_text("Ghost: long")


def test_a_session_outlives_the_service(browser: Any, tmp_path: Path) -> None:
    context = new_context(browser, viewport=SMALL)
    tab = context.new_page()
    with serving(tmp_path) as address:
        port = int(address.rpartition(":")[2])
        made = httpx.post(f"{address}/v1/sessions", json={"scene": ARM, "paused": True}, timeout=60)
        session = made.json()["id"]
        tab.goto(f"{address}/#session={session}")
        shown = Shown(tab, address)
        shown.wait("cardan.pose('arm') && cardan.shown().state === 'paused'")
        shown.post("step", n=300)
        shown.wait("cardan.shown().step === 300")
        before = shown.pose("arm")
    playwright_api.expect(tab.locator("#run-state")).to_have_text("reconnecting")
    with serving(tmp_path, port) as address:
        # the open page goes on by itself, and so does a new one
        playwright_api.expect(tab.locator("#run-state")).to_have_text("paused")
        shown.wait("cardan.shown().step === 300")
        other = context.new_page()
        other.goto(f"{address}/#session={session}")
        theirs = Shown(other, address)
        theirs.wait("cardan.shown().step === 300 && cardan.pose('arm')")
        assert theirs.pose("arm") == before == shown.pose("arm")
    context.close()
