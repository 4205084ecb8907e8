"""Coming back to the page: a reload, another tab, a restarted browser, a session that has ended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import SOFTWARE_RENDERING, UNPAINTED, serving
from tests.web.shown import FLOATING, PATIENCE, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

NAVIGATION = "performance.getEntriesByType('navigation')[0].transferSize"
STYLED = "getComputedStyle(document.querySelector('.top')).display === 'flex'"


class Profile:
    """A browser with a profile on disk, which can be restarted."""

    def __init__(self, playwright: Any, chromium: str, folder: Path) -> None:
        self._start = lambda: playwright.chromium.launch_persistent_context(
            folder, executable_path=chromium, args=SOFTWARE_RENDERING, viewport=SMALL
        )
        self.context = self._launch()
        self.errors: list[str] = []

    def _launch(self) -> Any:
        context = self._start()
        context.add_init_script(UNPAINTED)
        return context

    def restart(self) -> None:
        self.context.close()
        self.context = self._launch()

    def tab(self) -> Any:
        tab = self.context.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.on("pageerror", lambda error: self.errors.append(str(error)))
        tab.on(
            "console",
            lambda text: self.errors.append(text.text) if text.type == "error" else None,
        )
        return tab


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


@pytest.fixture
def profile(playwright: Any, chromium: str, tmp_path: Path) -> Iterator[Profile]:
    made = Profile(playwright, chromium, tmp_path / "profile")
    yield made
    made.context.close()


# as browsers do that block site data, and those that have no room
BLOCKED = """for (const name of ["localStorage", "sessionStorage", "indexedDB"])
  Object.defineProperty(window, name, {
    get() { throw new DOMException("", "SecurityError"); },
  });"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("", "QuotaExceededError");
};"""


def run_own_scene(page: Any, shown: Shown) -> str:
    """Paste a scene, run it for a moment, pause; its session."""
    shown.open("double-pendulum")
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill(json.dumps(FLOATING))
    page.get_by_role("button", name="Check and run").click()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("floating")
    shown.wait("cardan.shown().time > 0.1")
    shown.pause()
    return str(page.evaluate("cardan.sessionId()"))


def end(server: str, session: str) -> None:
    httpx.delete(f"{server}/v1/sessions/{session}", timeout=60).raise_for_status()


def expect_note(page: Any, *words: str) -> None:
    for text in words:
        playwright_api.expect(page.locator("#messages")).to_contain_text(text)


def test_every_visit_after_the_first_has_style_and_script(profile: Profile, server: str) -> None:
    tab = profile.tab()
    first = tab.goto(f"{server}/")
    assert first.status == 200
    first_text = first.text()
    policy = first.headers["content-security-policy"]
    assert "script-src 'self' 'sha256-" in policy
    Shown(tab, server).wait(f"cardan.shown().time > 0 && {STYLED}")

    tab.reload()
    Shown(tab, server).wait(f"cardan.shown().time > 0 && {STYLED}")
    second = profile.tab()
    second.goto(f"{server}/")
    Shown(second, server).wait(f"cardan.sessionId() !== null && {STYLED}")
    sent = [one.evaluate(NAVIGATION) for one in (tab, second)]
    profile.restart()
    third = profile.tab()
    third.goto(f"{server}/")
    Shown(third, server).wait(f"cardan.shown().time > 0 && {STYLED}")

    # all but the first were revalidated: a 304 without the text, whose headers replace the old ones
    sent.append(third.evaluate(NAVIGATION))
    assert all(0 < size < 0.2 * len(first_text) for size in sent), sent
    assert profile.errors == []


def test_a_reload_returns_to_the_session_and_its_moment(page: Any, shown: Shown) -> None:
    session = run_own_scene(page, shown)
    step = shown.rest()["step"]
    for _ in range(2):
        page.reload()
        shown.wait(f"cardan.sessionId() === '{session}' && cardan.shown().step === {step}")
        playwright_api.expect(page.locator("#scene-name")).to_have_text("floating")
        playwright_api.expect(page.locator("#run-state")).to_have_text("paused")


@pytest.mark.parametrize("storage", [BLOCKED, FULL])
def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(
    page: Any, shown: Shown, storage: str
) -> None:
    page.add_init_script(storage)
    page.goto(f"{shown.server}/#scene=incline")
    shown.wait("cardan.shown().time > 0")
    # what is chosen lasts as long as the page
    page.get_by_label("Contacts", exact=True).check()
    root = page.locator("html")
    for theme in ("light", "dark"):
        page.locator("#theme").click()
        playwright_api.expect(root).to_have_attribute("data-theme", theme)


def test_a_closed_tab_opens_where_it_was(page: Any, shown: Shown) -> None:
    session = run_own_scene(page, shown)
    step = shown.rest()["step"]
    address, context = page.url, page.context
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    # with the address, and by the root alone
    for url in (address, f"{shown.server}/"):
        tab = context.new_page()
        tab.goto(url)
        other = Shown(tab, shown.server)
        other.wait(f"cardan.sessionId() === '{session}' && cardan.shown().step === {step}")
        tab.close()
    shown.page = context.new_page()
    end(shown.server, session)


def test_a_session_that_has_ended_starts_again_from_its_scene(tab: Any, server: str) -> None:
    shown = Shown(tab, server)
    session = run_own_scene(tab, shown)
    address, context = tab.url, tab.context
    tab.close()
    end(server, session)
    tab = context.new_page()
    tab.goto(address)
    again = Shown(tab, server)
    again.wait("cardan.shown().time > 0")
    assert tab.evaluate("cardan.sessionId()") != session
    playwright_api.expect(tab.locator("#scene-name")).to_have_text("floating")
    expect_note(tab, "was deleted", "Its scene starts again from the beginning")
    assert session not in tab.url
    again.close()


def test_a_session_that_ends_before_ones_eyes_can_be_run_again(tab: Any, server: str) -> None:
    shown = Shown(tab, server)
    session = run_own_scene(tab, shown)
    end(server, session)
    tab.get_by_role("button", name="Run its scene again").click()
    shown.wait(f"cardan.sessionId() !== '{session}' && cardan.shown().time > 0")
    playwright_api.expect(tab.locator("#scene-name")).to_have_text("floating")
    playwright_api.expect(tab.locator("#messages")).to_be_empty()
    shown.close()


def test_back_returns_to_the_scene_before(page: Any, shown: Shown) -> None:
    session = run_own_scene(page, shown)
    page.locator("#gallery").get_by_role("button", name="slider-crank").click()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("slider-crank")
    example = page.evaluate("cardan.sessionId()")
    page.go_back()
    shown.wait(f"cardan.sessionId() === '{session}'")
    playwright_api.expect(page.locator("#scene-name")).to_have_text("floating")
    page.go_forward()
    shown.wait(f"cardan.sessionId() === '{example}'")
    end(shown.server, session)


def test_a_full_server_offers_a_way_out(tab: Any, tmp_path: Path) -> None:
    with serving(tmp_path, max_sessions="2") as address:
        for name in ("first", "second"):
            scene = {**FLOATING, "name": name}
            made = httpx.post(f"{address}/v1/sessions", json={"scene": scene}, timeout=60)
            made.raise_for_status()
        tab.goto(f"{address}/#scene=incline")
        dialog = tab.get_by_role("dialog", name="Sessions")
        playwright_api.expect(dialog).to_contain_text("2 sessions are alive")
        playwright_api.expect(dialog.get_by_role("listitem")).to_have_count(2)
        dialog.get_by_role("button", name="End first").click()
        playwright_api.expect(dialog).to_be_hidden()
        Shown(tab, address).wait("cardan.shown().time > 0")
        playwright_api.expect(tab.locator("#scene-name")).to_have_text("incline")
        items = httpx.get(f"{address}/v1/sessions", timeout=60).json()["items"]
        assert [one["name"] for one in items] == ["second", "incline"]


def test_sessions_nobody_uses_end_by_themselves(tab: Any, tmp_path: Path) -> None:
    """Visits that leave their session behind never fill the two places there are."""
    # nobody has used a session either while a slow page is on its way to it
    with serving(tmp_path, max_sessions="2", session_idle_s="6") as address:
        for visit in range(3):
            tab.goto(f"{address}/#scene=incline&visit={visit}")
            Shown(tab, address).wait("cardan.shown().time > 0")
            tab.evaluate("sessionStorage.clear()")
            tab.goto("about:blank")
            _no_sessions(tab, address)


def _no_sessions(tab: Any, address: str) -> None:
    for _ in range(PATIENCE // 100):
        if not httpx.get(f"{address}/v1/sessions", timeout=60).json()["items"]:
            return
        tab.wait_for_timeout(100)
    pytest.fail("a session without viewers lives on")
