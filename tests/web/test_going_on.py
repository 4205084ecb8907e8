"""The list of runs, and tables of batches, while they go on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import serving
from tests.web.shown import SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# it goes on until it is cancelled: as many steps as the service allows
LONG = 20_000
ENDLESS = {
    "scene": "wheeled-cart",
    "name": "endless",
    "overrides": {"/simulation/duration": LONG, "/record": {"every": 1_000_000}},
}


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def post(server: str, path: str, body: Any = None) -> dict[str, Any]:
    answer = httpx.post(f"{server}/v1/{path}", json=body, timeout=60)
    answer.raise_for_status()
    return dict(answer.json())


@pytest.fixture
def batch(server: str) -> Iterator[str]:
    """One run that ends at once, and one that does not."""
    wanted = {
        **ENDLESS,
        "name": "one of two",
        "variations": {"/simulation/duration": [0.05, LONG]},
        "metrics": ["energy.final"],
    }
    made = post(server, "batches", wanted)["id"]
    yield made
    httpx.post(f"{server}/v1/batches/{made}:cancel", timeout=60)


def test_a_list_follows_what_it_shows(page: Any, shown: Shown) -> None:
    run = post(shown.server, "simulations", ENDLESS)["id"]
    shown.open("incline", paused=True)
    page.get_by_role("button", name="Runs", exact=True).click()
    row = page.locator("#runs-dialog li").filter(has_text="endless").first
    playwright_api.expect(row).to_contain_text("running, ")
    opener = row.get_by_role("button", name="Open endless", exact=True)
    playwright_api.expect(opener).to_be_disabled()
    post(shown.server, f"simulations/{run}:cancel")
    playwright_api.expect(row).to_contain_text("cancelled")
    opener.click()
    shown.wait(f"cardan.sessionId() === '{run}'")


def test_a_table_follows_its_runs(page: Any, shown: Shown, batch: str) -> None:
    shown.open("incline", paused=True)
    page.get_by_role("button", name="Runs", exact=True).click()
    dialog = page.locator("#runs-dialog")
    dialog.get_by_role("button", name="Open the batch one of two").first.click()
    rows, note = dialog.locator("tbody tr"), dialog.locator("p").first
    playwright_api.expect(note).to_have_text("one of two: 2 runs, 1 done, 1 running.")
    playwright_api.expect(dialog.locator("circle.going")).to_have_count(0)
    # sorted either way, what has no value comes last, and the heading keeps the focus
    heading = dialog.get_by_role("columnheader", name="energy.final").get_by_role("button")
    heading.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        assert [row.locator("td").first.inner_text() for row in rows.all()] == ["0", "1"]
        playwright_api.expect(heading).to_be_focused()
    up = dialog.get_by_label("Vertical axis of the scatter plot")
    up.select_option("steps")
    playwright_api.expect(dialog.locator("circle.good")).to_have_count(1)
    playwright_api.expect(dialog.locator("circle.going")).to_have_count(1)
    running = dialog.get_by_role("button", name="Open run 1")
    running.focus()
    post(shown.server, f"batches/{batch}:cancel")
    playwright_api.expect(note).to_have_text("one of two: 2 runs, 1 done, 1 cancelled.")
    row = rows.filter(has=page.get_by_role("button", name="Open run 1"))
    playwright_api.expect(row).to_contain_text("cancelled")
    playwright_api.expect(running).to_be_focused()
    playwright_api.expect(up).to_have_value("steps")


def test_a_run_of_a_table_that_goes_on_is_waited_for_in_sight(
    page: Any, shown: Shown, batch: str
) -> None:
    page.goto(f"{shown.server}/#batch={batch}")
    dialog = page.locator("#runs-dialog")
    dialog.get_by_role("button", name="Open run 1").click()
    playwright_api.expect(dialog).to_be_hidden()
    playwright_api.expect(page.locator("#waiting")).to_contain_text("is being simulated")
    post(shown.server, f"batches/{batch}:cancel")
    shown.wait("cardan.shown().state === 'stored'")


def test_lists_come_back_with_the_service(tab: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        post(address, "simulations", ENDLESS)
        tab.goto(f"{address}/#scene=incline")
        Shown(tab, address).wait("cardan.shown().time > 0")
        tab.get_by_role("button", name="Runs", exact=True).click()
        note = tab.locator("#runs-dialog p").first
        playwright_api.expect(note).to_contain_text("Kept on this server: 1 simulation")
    playwright_api.expect(note).to_contain_text("No answer")
    with serving(tmp_path, int(address.rpartition(":")[2])):
        playwright_api.expect(note).to_contain_text("Kept on this server: 1 simulation")
        playwright_api.expect(tab.locator("#runs-dialog li").first).to_contain_text("endless")
