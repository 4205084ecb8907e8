"""The page by keys alone: what has the focus gets the keys that it needs, before the run does."""

from typing import Any

import pytest

from tests.web.shown import Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


def test_a_space_opens_what_has_the_focus_and_leaves_the_run(page: Any, shown: Shown) -> None:
    shown.open("wheeled-cart", paused=True)
    shown.wait("cardan.pose('chassis')")
    pane = page.locator("#pose-pane")
    for state in (True, False):
        pane.locator("summary").press("Space")
        playwright_api.expect(pane).to_have_js_property("open", state)
    # the axes are buttons too
    page.evaluate("window.before = String(cardan.camera())")
    page.get_by_role("button", name="View from plus z").press("Space")
    shown.wait("String(cardan.camera()) !== window.before")
    assert shown.rest()["state"] == "paused"


def test_findings_of_the_verdict_are_put_away(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum", paused=True)
    page.locator("#outline button").first.click()
    badge = page.locator("#verdict")
    playwright_api.expect(badge).to_be_visible()
    for put_away in ("Escape", "click elsewhere"):
        badge.locator("summary").press("Enter")
        playwright_api.expect(badge).to_have_js_property("open", True)
        if put_away == "Escape":
            page.keyboard.press("Escape")
            playwright_api.expect(badge.locator("summary")).to_be_focused()
        else:
            page.locator("#scene-name").click()
        playwright_api.expect(badge).to_have_js_property("open", False)
    # Escape was for them alone
    playwright_api.expect(page.locator("#outline [aria-pressed=true]")).to_have_count(1)


def test_a_box_to_tick_in_a_dialog_leaves_the_run_and_escape_closes(
    page: Any, shown: Shown
) -> None:
    """Ticks of the page itself let all keys but the space through to the run."""
    shown.open("double-pendulum", paused=True)
    shown.post("step", n=1)
    shown.wait("cardan.shown().step === 1")
    page.get_by_role("button", name="Open scene").click()
    dialog = page.locator("#scene-dialog")
    tick = dialog.get_by_label("Add a ground")
    tick.press("r")
    tick.press("Space")
    playwright_api.expect(tick).to_be_checked()
    tick.press("Escape")
    playwright_api.expect(dialog).to_be_hidden()
    state = shown.rest()
    assert (state["epoch"], state["step"], state["state"]) == (0, 1, "paused")


def test_the_outline_is_one_stop_of_tab_and_arrows_lead_through_it(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum", paused=True)
    shown.post("step", n=1)
    shown.wait("cardan.shown().step === 1")
    outline = page.locator("#outline")
    entries = outline.get_by_role("button")
    last = entries.count() - 1
    assert last > 1
    stops = outline.locator("button:not([tabindex='-1'])")
    playwright_api.expect(stops).to_have_count(1)
    page.locator("#outline-search").press("Tab")
    for key, at in (
        ("", 0), ("ArrowUp", 0), ("ArrowDown", 1), ("End", last), ("ArrowDown", last),
        ("Home", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1),
    ):  # fmt: skip
        if key:
            page.keyboard.press(key)
        playwright_api.expect(entries.nth(at)).to_be_focused()
        playwright_api.expect(stops).to_have_count(1)
    # the next stop is outside, and Tab comes back to where it was
    page.keyboard.press("Tab")
    assert outline.evaluate("(one) => !one.contains(document.activeElement)")
    page.keyboard.press("Shift+Tab")
    playwright_api.expect(entries.nth(1)).to_be_focused()
    # what is chosen is the stop; also where a search leaves others
    page.evaluate("window.name_ = document.activeElement.firstChild.textContent")
    page.keyboard.press("Enter")
    playwright_api.expect(entries.nth(1)).to_have_attribute("aria-pressed", "true")
    page.locator("#outline-search").fill(page.evaluate("name_"))
    playwright_api.expect(stops).to_have_attribute("aria-pressed", "true")
    # keys of the run are those of the list here
    assert shown.now()["mode"] == "live"
    assert shown.rest()["step"] == 1


def test_arrows_scroll_the_plots_that_have_the_focus(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum", paused=True)
    shown.wait("cardan.pose('lower')")
    plots = page.locator("#charts")
    assert plots.evaluate("(one) => one.scrollWidth > one.clientWidth")
    plots.press("ArrowRight")
    shown.wait("document.getElementById('charts').scrollLeft > 0")
    assert shown.rest()["step"] == 0
