"""What axe-core finds: no violation in any panel, in both themes, on three widths; words apart."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import WEB, new_context
from tests.web.shown import PATIENCE, Shown
from tests.web.test_modes import PENDULA

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
# one by which the page is opened, then the others
WIDTHS = (1280, 390, 1920)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
DIALOGS = (
    "open-runs", "open-share", "open-scene", "open-sessions", "open-verification", "compare-with",
    "help",
)  # fmt: skip
# something that swings, and a motor
SCENE: dict[str, Any] = {
    **PENDULA,
    "bodies": [
        *PENDULA["bodies"],
        {"name": "wheel", "mass": 1, "position": [3, 0, 0],
         "shapes": [{"type": "sphere", "radius": 0.2}]},
    ],
    "joints": [
        *PENDULA["joints"],
        {"name": "axle", "type": "hinge", "parent": "world", "child": "wheel",
         "anchor": [3, 0, 0], "axis": [0, 1, 0],
         "motor": {"type": "velocity", "target": 1.5, "max_force": 20}},
    ],
}  # fmt: skip
BATCH = {
    "scene": SCENE,
    "name": "steps",
    "overrides": {"/simulation/duration": 0.1},
    "variations": {"/simulation/dt": [0.001, 0.002]},
}


OVERLAPS = """() => [...document.querySelectorAll('.facts dt')].filter((label) => {
  const words = document.createRange();
  words.selectNodeContents(label);
  return words.getBoundingClientRect().right > label.nextElementSibling.getBoundingClientRect().left;
}).map((label) => label.textContent)"""  # noqa: E501


def violations(tab: Any, part: str = "html") -> list[str]:
    """Of a part of the page, on every width; left as wide as it was."""
    run = "([part, tags]) => axe.run(part, {runOnly: tags, resultTypes: ['violations']})"
    size, told = tab.viewport_size, []
    for width in WIDTHS:
        tab.set_viewport_size({**size, "width": width})
        found = tab.evaluate(run, [part, RULES])["violations"]
        told += [
            json.dumps([width, one["id"], [node["html"][:160] for node in one["nodes"]]])
            for one in found
        ]
    tab.set_viewport_size(size)
    return told


def overlaps(tab: Any) -> list[str]:
    """Labels that reach into their values, on every width."""
    size, found = tab.viewport_size, []
    for width in WIDTHS:
        tab.set_viewport_size({**size, "width": width})
        found += tab.evaluate(OVERLAPS)
    tab.set_viewport_size(size)
    return found


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_no_panel_has_a_fault(browser: Any, server: str, theme: str) -> None:
    if not AXE.exists():
        pytest.skip("run `npm ci` in web/ to check the page with axe-core")
    context = new_context(browser, viewport={"width": WIDTHS[0], "height": 800}, color_scheme=theme)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    made = httpx.post(f"{server}/v1/sessions", json={"scene": SCENE}, timeout=60)
    wait = {"Prefer": "wait=30"}
    httpx.post(f"{server}/v1/batches", json=BATCH, headers=wait, timeout=60).raise_for_status()
    tab.goto(f"{server}/#session={made.json()['id']}")
    shown = Shown(tab, server)
    shown.wait("cardan.pose('left')")
    assert overlaps(tab) == []
    tab.locator("#outline").get_by_role("button", name="left pivot").click()
    tab.get_by_role("button", name="Rate", exact=True).click()
    assert overlaps(tab) == []
    tab.locator("#pose-pane summary").press("Enter")
    tab.locator("#modes").click()
    tab.locator("#modes-pane tbody button").first.click()
    tab.evaluate(Path(AXE).read_text())
    faults = violations(tab)
    for button in DIALOGS:
        tab.locator(f"#{button}").click()
        playwright_api.expect(tab.locator("dialog[open]")).to_be_visible()
        faults += violations(tab, "dialog[open]")
        tab.keyboard.press("Escape")
    tab.locator("#open-runs").click()
    tab.get_by_role("button", name="Open the batch steps").first.click()
    playwright_api.expect(tab.get_by_role("region", name="Runs of the batch")).to_be_visible()
    faults += violations(tab, "dialog[open]")
    tab.keyboard.press("Escape")
    tab.keyboard.press("Control+k")
    playwright_api.expect(tab.get_by_role("combobox", name="Search commands")).to_be_visible()
    faults += violations(tab, "dialog[open]")
    tab.keyboard.press("Escape")
    tab.locator("#arrange").click()
    playwright_api.expect(tab.locator(".arrange")).to_be_visible()
    faults += violations(tab)
    assert faults == []
    shown.close()
    context.close()
