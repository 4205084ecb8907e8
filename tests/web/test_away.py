"""A service that is away for a while, and one that has no place left."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import serving
from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def test_an_outage_is_one_message_that_goes_with_it(tab: Any, tmp_path: Path) -> None:
    """Whatever is tried meanwhile, also a part of the page that was not loaded yet."""
    broken: list[str] = []
    tab.on("pageerror", lambda error: broken.append(str(error)))
    messages = tab.locator("#messages .message")
    with serving(tmp_path) as address:
        port = int(address.rpartition(":")[2])
        tab.goto(f"{address}/#scene=box-tower")
        shown = Shown(tab, address)
        shown.wait("cardan.shown().time > 0")
    # nobody has to try anything to be told
    playwright_api.expect(messages).to_contain_text("The connection is lost")
    for button in ("Forward one step", "Reset to the start", "Runs", "Share", "Back one step"):
        tab.get_by_role("button", name=button, exact=True).click()
    playwright_api.expect(tab.locator("#run-state")).to_have_text("reconnecting")
    playwright_api.expect(messages).to_have_count(1)
    with serving(tmp_path, port):
        shown.wait("sockets.at(-1).readyState === 1 && cardan.shown().edge.step > 0")
        playwright_api.expect(messages).to_have_count(0)
        tab.get_by_role("button", name="Runs", exact=True).click()
        playwright_api.expect(tab.get_by_role("dialog", name="Runs")).to_be_visible()
    assert broken == []


def test_a_service_that_comes_back_with_another_key_is_said_to_refuse(
    tab: Any, tmp_path: Path
) -> None:
    """It was away when the page asked first why there is no connection."""
    keys = ("the-first-of-the-keys", "the-second-of-the-keys")
    messages = tab.locator("#messages .message")
    with serving(tmp_path, api_key=keys[0]) as address:
        port = int(address.rpartition(":")[2])
        tab.goto(f"{address}/?key={keys[0]}")
        Shown(tab, address).wait("cardan.shown().time > 0")
    playwright_api.expect(messages).to_contain_text("tries to get the connection back by itself")
    with serving(tmp_path, port, api_key=keys[1]):
        playwright_api.expect(messages).to_contain_text("The service refuses it: An API key is")
        playwright_api.expect(messages).to_have_count(1)
        # with that key it goes on
        tab.goto(f"{address}/?key={keys[1]}")
        Shown(tab, address).wait("cardan.shown().time > 0")
        playwright_api.expect(messages).to_have_count(0)


def test_what_cannot_be_handed_on_meanwhile_is_told_where_it_was_asked_for(
    tab: Any, tmp_path: Path
) -> None:
    with serving(tmp_path) as address:
        tab.goto(f"{address}/#scene=incline")
        Shown(tab, address).wait("cardan.shown().time > 0")
        tab.get_by_role("button", name="Share", exact=True).click()
        dialog = tab.get_by_role("dialog", name="Share")
        playwright_api.expect(dialog).to_be_visible()
    for way in ("Numbers", "Web page", "View-only link"):
        dialog.get_by_role("button", name=way).click()
        playwright_api.expect(dialog.locator("p").first).to_contain_text("Is the service still")


def test_what_found_no_place_can_be_tried_again(tab: Any, tmp_path: Path) -> None:
    """Nothing is there to play with, and the page does not pretend so."""
    with serving(tmp_path, max_sessions="1") as address:
        made = httpx.post(f"{address}/v1/sessions", json={"scene": FLOATING}, timeout=60)
        tab.goto(f"{address}/#scene=incline")
        dialog = tab.get_by_role("dialog", name="Sessions")
        playwright_api.expect(dialog.get_by_role("listitem")).to_have_count(1)
        playwright_api.expect(tab.locator("#motors-pane")).to_be_hidden()
        tab.keyboard.press("Escape")
        message = tab.locator("#messages .message")
        playwright_api.expect(message).to_contain_text("No place is free")
        playwright_api.expect(tab.locator("#scene-name")).to_have_text("No scene")
        playwright_api.expect(tab.locator("#run-state")).to_have_text("no session")
        assert tab.locator("#bottom").evaluate("(bar) => bar.inert")
        # still none: the dialog once more
        message.get_by_role("button", name="Try again").click()
        playwright_api.expect(dialog).to_be_visible()
        tab.keyboard.press("Escape")
        httpx.delete(f"{address}/v1/sessions/{made.json()['id']}", timeout=60)
        message.get_by_role("button", name="Try again").click()
        Shown(tab, address).wait("cardan.shown().time > 0")
        playwright_api.expect(message).to_have_count(0)
        assert not tab.locator("#bottom").evaluate("(bar) => bar.inert")


def test_a_scene_that_is_written_survives_an_outage(tab: Any, server: str) -> None:
    """What is told is no fault of the text; once the service is back the same text runs."""
    shown = Shown(tab, server)
    shown.open("heavy-top", paused=True)
    tab.get_by_role("button", name="Open scene").click()
    tab.locator("#scene-text").fill(json.dumps(FLOATING))
    playwright_api.expect(tab.locator("#scene-preview")).to_contain_text("Degrees of freedom")
    tab.context.set_offline(True)
    run = tab.get_by_role("button", name="Check and run")
    run.click()
    told = tab.locator("#scene-faults li")
    playwright_api.expect(told).to_contain_text("No answer from")
    playwright_api.expect(told).not_to_contain_text("column")
    playwright_api.expect(tab.locator(".cm-lintRange-error")).to_have_count(0)
    tab.context.set_offline(False)
    run.click()
    playwright_api.expect(tab.locator("#scene-name")).to_have_text("floating")
    shown.close()
