"""What axe-core finds: no violation in any panel, in both themes, wide and narrow."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import WEB
from tests.web.shown import PATIENCE, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
DIALOGS = ("open-runs", "open-share", "open-scene", "open-sessions", "help")


def violations(tab: Any, part: str = "html") -> list[str]:
    run = "([part, tags]) => axe.run(part, {runOnly: tags, resultTypes: ['violations']})"
    found = tab.evaluate(run, [part, RULES])["violations"]
    return [json.dumps([one["id"], [node["html"][:160] for node in one["nodes"]]]) for one in found]


@pytest.mark.parametrize(("theme", "width"), [("dark", 1280), ("light", 390)])
def test_no_panel_has_a_fault(browser: Any, server: str, theme: str, width: int) -> None:
    if not AXE.exists():
        pytest.skip("run `npm ci` in web/ to check the page with axe-core")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    made = httpx.post(f"{server}/v1/sessions", json={"scene": "slider-crank"}, timeout=60)
    tab.goto(f"{server}/#session={made.json()['id']}")
    shown = Shown(tab, server)
    shown.wait("cardan.pose('rod')")
    tab.locator("#outline").get_by_role("button", name="main").click()
    tab.get_by_role("button", name="Rate", exact=True).click()
    tab.get_by_text("Pose", exact=True).click()
    tab.locator("#modes").click()
    tab.locator("#modes-pane tbody button").first.click()
    tab.evaluate(Path(AXE).read_text())
    faults = violations(tab)
    for button in DIALOGS:
        tab.locator(f"#{button}").click()
        playwright_api.expect(tab.locator("dialog[open]")).to_be_visible()
        faults += violations(tab, "dialog[open]")
        tab.keyboard.press("Escape")
    tab.keyboard.press("Control+k")
    playwright_api.expect(tab.get_by_role("combobox", name="Search commands")).to_be_visible()
    faults += violations(tab, "dialog[open]")
    assert faults == []
    shown.close()
    context.close()
