"""What the address names on a first visit: an example, or a run that has not ended."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context, serving
from tests.web.shown import FLOATING, PATIENCE, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# it goes on until it is cancelled: as many steps as the service allows
ENDLESS = {
    "scene": "wheeled-cart",
    "overrides": {"/simulation/duration": 20_000, "/record": {"every": 1_000_000}},
}


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


@pytest.mark.parametrize(("address", "seconds"), [("#scene=double-pendulum", 10), ("", 120)])
def test_what_a_link_names_runs_as_its_scene_says(
    page: Any, shown: Shown, address: str, seconds: float
) -> None:
    """Only the scene that nobody named goes on for those who look around."""
    page.goto(f"{shown.server}/{address}")
    shown.wait("cardan.shown().time > 0")
    assert shown.rest("/scene")["simulation"]["duration"] == seconds
    playwright_api.expect(page.locator("#stage-hint")).to_be_visible()


def test_a_link_to_a_run_that_goes_on_opens_it_when_it_has_ended(page: Any, shown: Shown) -> None:
    made = httpx.post(f"{shown.server}/v1/simulations", json=ENDLESS, timeout=60)
    made.raise_for_status()
    run = made.json()["id"]
    page.goto(f"{shown.server}/#run={run}&select=body:chassis")
    waiting = page.locator("#waiting")
    playwright_api.expect(waiting).to_contain_text("The run is being simulated")
    playwright_api.expect(waiting).to_contain_text("It opens by itself when it has ended")
    # what comes is in the view, and nothing else was started in its place
    playwright_api.expect(page.locator("#scene-name")).to_have_text("wheeled-cart")
    assert httpx.get(f"{shown.server}/v1/sessions", timeout=60).json()["items"] == []

    httpx.post(f"{shown.server}/v1/simulations/{run}:cancel", timeout=60).raise_for_status()
    shown.wait("cardan.shown().state === 'stored'")
    playwright_api.expect(waiting).to_be_hidden()
    playwright_api.expect(page.locator("#inspector")).to_contain_text("chassis")
    assert page.url.endswith(f"#run={run}")


def test_a_run_is_shown_under_its_own_name(page: Any, shown: Shown) -> None:
    ask = {"scene": "incline", "name": "steeper", "overrides": {"/simulation/duration": 0.1}}
    made = httpx.post(
        f"{shown.server}/v1/simulations", json=ask, headers={"Prefer": "wait=30"}, timeout=60
    )
    made.raise_for_status()
    page.goto(f"{shown.server}/#run={made.json()['id']}")
    playwright_api.expect(page.locator("#scene-name")).to_have_text("steeper")
    playwright_api.expect(page).to_have_title(re.compile("^steeper "))


def test_who_opens_something_else_waits_for_the_run_no_longer(page: Any, shown: Shown) -> None:
    made = httpx.post(f"{shown.server}/v1/simulations", json=ENDLESS, timeout=60)
    made.raise_for_status()
    run = made.json()["id"]
    page.goto(f"{shown.server}/#run={run}&select=body:chassis")
    playwright_api.expect(page.locator("#waiting")).to_be_visible()
    page.locator("#gallery").get_by_role("button", name="slider-crank").click()
    shown.wait("cardan.shown().time > 0")
    playwright_api.expect(page.locator("#waiting")).to_be_hidden()
    session = page.evaluate("cardan.sessionId()")

    url = f"{shown.server}/v1/simulations/{run}:cancel"
    httpx.post(url, headers={"Prefer": "wait=30"}, timeout=60).raise_for_status()
    shown.wait(f"cardan.sessionId() === '{session}' && cardan.shown().time > 1")
    assert shown.now()["mode"] == "live"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#run=../examples/incline", "There is no /v1/simulations/../examples/incline here"),
        ("#session=../examples/incline", "There is no /v1/sessions/../examples/incline here"),
        ("#compare=nothing", "There is no comparison “nothing”."),
        ("#batch=bat_gone", "bat_gone"),
        ("#batch=../examples/incline", "There is no /v1/batches/../examples/incline"),
    ],
)
def test_what_an_address_names_wrongly_is_said(
    tab: Any, server: str, address: str, words: str
) -> None:
    """And what stands for an id leads to no other address of the API."""
    shown = Shown(tab, server)
    tab.set_viewport_size(SMALL)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{server}/{address}")
    shown.wait("cardan.shown().time > 0")
    playwright_api.expect(tab.locator("#messages")).to_contain_text(words)
    playwright_api.expect(tab.locator("#messages")).to_contain_text("is shown instead")
    assert f"{server}/v1/examples/incline" not in asked
    shown.close()


def test_who_has_no_key_is_asked_for_one_wherever_it_is_missed(
    browser: Any, tmp_path: Path
) -> None:
    secret = "a-secret-of-some-length-for-the-owner"
    headers = {"Authorization": f"Bearer {secret}"}
    with serving(tmp_path / "data", api_key=secret) as address:
        with httpx.Client(base_url=f"{address}/v1", timeout=60, headers=headers) as client:
            made = client.post("/sessions", json={"scene": FLOATING, "paused": True}).json()
            link = client.post(f"/sessions/{made['id']}/shares", json={"name": "guest"}).json()
        context = new_context(browser, viewport=SMALL)
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        field = tab.get_by_role("textbox", name="API key")
        messages = tab.locator("#messages")
        enter = tab.get_by_role("button", name="Enter a key")
        # an example that cannot be listed is not said to be none
        tab.goto(f"{address}/#scene=double-pendulum")
        playwright_api.expect(field).to_be_focused()
        playwright_api.expect(messages).to_be_empty()
        tab.keyboard.press("Escape")
        for name in ("runs", "sessions"):
            tab.locator(f"#open-{name}").click()
            tab.locator("dialog[open]").get_by_role("button", name="Enter a key").click()
            playwright_api.expect(field).to_be_focused()
            playwright_api.expect(tab.locator("dialog[open]")).to_have_count(1)
            tab.keyboard.press("Escape")
        for name in ("run=sim_a", "batch=bat_a", "scene=scene_a", f"session={made['id']}"):
            tab.goto("about:blank")
            tab.goto(f"{address}/#{name}")
            playwright_api.expect(
                messages.get_by_role("button", name="Enter a key")
            ).to_be_visible()
            playwright_api.expect(field).to_have_count(0)
        # who may watch one run, and asks for more
        tab.goto(f"{address}{link['url']}")
        Shown(tab, address).wait("cardan.pose('far')")
        for button, asked in (("open-share", "View-only link"), ("compare-with", "Half the step")):
            tab.locator(f"#{button}").click()
            dialog = tab.locator("dialog[open]")
            dialog.get_by_role("button", name=asked).click()
            playwright_api.expect(dialog.locator("p").first).to_contain_text("key")
            enter.click()
            playwright_api.expect(field).to_be_focused()
            tab.keyboard.press("Escape")
        context.close()
