"""Contrast where axe-core does not look: words in empty fields, and the editor's own panels."""

from typing import Any

import httpx
import pytest

from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# WCAG 2.1, 1.4.3
LEAST = 4.5
# of what a part of the page shows: words, and their contrast to the plain colours behind them;
# 0 where these are no plain ones
CONTRASTS = """(part) => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pixel = (colours) => {
    brush.clearRect(0, 0, 1, 1);
    for (const colour of colours) { brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1); }
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  const bright = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(one);
      if (backgroundImage !== "none") return null;
      layers.unshift(backgroundColor);
      if (pixel([backgroundColor])[3] === 255) break;
    }
    return layers;
  };
  const shown = [...document.querySelectorAll(part)]
    .flatMap((root) => [root, ...root.querySelectorAll("*")])
    .filter((one) => one.checkVisibility() && !one.disabled);
  const words = shown.flatMap((one) => [...one.childNodes]
    .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
    .map((node) => [one, node.data.trim(), getComputedStyle(one).color]));
  const hints = shown.filter((one) => one.placeholder)
    .map((one) => [one, one.placeholder, getComputedStyle(one, "::placeholder").color]);
  return [...words, ...hints].map(([element, text, ink]) => {
    const layers = behind(element);
    if (!layers) return [text, 0];
    const [low, high] = [pixel(layers), pixel([...layers, ink])].map(bright).sort((a, b) => a - b);
    return [text, (high + 0.05) / (low + 0.05)];
  });
}"""


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_fields_and_the_search_of_the_editor_are_read(
    page: Any, server: str, shown: Shown, theme: str
) -> None:
    page.set_viewport_size(SMALL)
    page.emulate_media(color_scheme=theme)
    made = httpx.post(f"{server}/v1/sessions", json={"scene": FLOATING, "paused": True}, timeout=60)
    page.goto(f"{server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('near')")
    found = page.evaluate(CONTRASTS, ".left")
    page.keyboard.press("Control+k")
    playwright_api.expect(page.get_by_role("combobox", name="Search commands")).to_be_visible()
    found += page.evaluate(CONTRASTS, "dialog[open]")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open scene").click()
    page.get_by_role("button", name="Insert the shown scene").click()
    page.locator("#scene-text").press("Control+f")
    field = page.locator(".cm-search [name=search]")
    playwright_api.expect(field).to_be_focused()
    found += page.evaluate(CONTRASTS, ".cm-search")
    field.press_sequentially("mass")
    playwright_api.expect(page.locator(".cm-searchMatch").first).to_be_visible()
    field.press("Enter")
    playwright_api.expect(page.locator(".cm-searchMatch-selected")).to_be_visible()
    found += page.evaluate(CONTRASTS, ".cm-searchMatch")
    words = {text for text, _ in found}
    assert {
        "Search bodies and joints",
        "Type a few letters",
        "Find",
        "replace all",
        "mass",
    } <= words
    assert [one for one in found if one[1] < LEAST] == []
