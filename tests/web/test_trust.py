"""How far curves can be believed, as bands and a horizon; friction as arrows; links to batches."""

from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context
from tests.web.shown import SMALL, Shown, ended

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# opaque pixels of a plot between two moments, as a share
INK = """([from, to]) => {
  const canvas = document.querySelector('[data-pin="position:lower"] canvas');
  const over = document.querySelector('[data-pin="position:lower"] .u-over');
  const scale = canvas.width / canvas.clientWidth;
  const x = (share) => Math.round((over.offsetLeft + share * over.clientWidth) * scale);
  const [left, width] = [x(from), x(to) - x(from)];
  const height = Math.round(over.clientHeight * scale);
  const top = over.offsetTop * scale;
  const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
  let seen = 0;
  for (let i = 3; i < data.length; i += 4) seen += data[i] > 0 ? 1 : 0;
  return seen / (width * height);
}"""

# where the horizon is on the timeline
MARK = "document.getElementById('markers').style.getPropertyValue('--horizon')"


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size({"width": 940, "height": 800})
    return page


def simulated(server: str, **overrides: Any) -> dict[str, Any]:
    """A long step makes the double pendulum depend on it."""
    wanted = {
        "scene": "double-pendulum",
        "overrides": {"/simulation/duration": 8, "/simulation/dt": 0.01, **overrides},
    }
    return ended(server, "simulations", wanted)


def test_a_verified_run_shows_its_horizon_and_its_errors(
    page: Any, server: str, shown: Shown
) -> None:
    run = simulated(server, **{"/simulation/verify": True})
    told = httpx.get(f"{server}/v1/simulations/{run['id']}/summary", timeout=60).json()
    verified = told["verification"]
    assert not verified["within"]
    assert 0 < verified["horizon"] < 6
    page.goto(f"{server}/#run={run['id']}")
    shown.wait("cardan.trust()")
    trust = page.evaluate("cardan.trust()")
    assert trust["horizon"] == verified["horizon"]
    assert trust["errors"]["position"] == verified["position_error"]
    # on the timeline
    shown.wait(f"{MARK} !== '100%'")
    mark = page.evaluate(MARK)
    assert float(mark.removesuffix("%")) == pytest.approx(100 * verified["horizon"] / 8, abs=0.5)
    # on the plot: beyond the horizon everything is under a veil
    page.locator("#outline").get_by_role("button", name="lower").click()
    page.get_by_role("button", name="Position [m]", exact=True).click()
    page.locator('[data-pin="position:lower"] canvas').scroll_into_view_if_needed()
    share = verified["horizon"] / 8
    shown.wait(f"({INK})([{share + 0.05}, 0.98]) > 0.99")
    assert page.evaluate(INK, [0.02, share - 0.02]) < 0.6


def test_a_run_that_nobody_verified_has_neither(page: Any, server: str, shown: Shown) -> None:
    run = simulated(server)
    page.goto(f"{server}/#run={run['id']}")
    playwright_api.expect(page.locator("#verdict")).to_be_visible()
    shown.wait("cardan.shown().state")
    assert page.evaluate("cardan.trust()") is None
    assert page.evaluate(MARK) == "100%"


def test_friction_is_asked_for_while_it_is_drawn(page: Any, server: str, shown: Shown) -> None:
    """The block that sticks on the slope is held by friction alone, along the slope."""
    page.set_viewport_size(SMALL)
    shown.open("incline", paused=True)
    shown.post("step", n=300)
    shown.wait("cardan.shown().step === 300 && cardan.stats().calls > 0")
    page.evaluate("window.before = cardan.stats().calls")
    page.locator('[data-overlay="friction"]').check()
    # arrows and cones are two calls, of the picture after the numbers
    shown.wait("cardan.friction()?.length && cardan.stats().calls >= window.before + 2")
    subscribed = [text for text in page.evaluate("window.said") if '"subscribe"' in text][-1]
    assert '"friction"' in subscribed
    assert '"contacts"' not in subscribed
    state = shown.rest("/state")
    found = page.evaluate("cardan.friction()")
    rows = [found[i : i + 4] for i in range(0, len(found), 4)]
    for contact, row in zip(state["contacts"], rows, strict=True):
        force = [contact[f"friction_{axis}"] for axis in "xyz"]
        assert row[:3] == pytest.approx(force, rel=1e-5, abs=1e-6)
        assert contact["friction_force"] <= row[3] * contact["normal_force"] * (1 + 1e-5)
    calls = page.evaluate("cardan.stats().calls")
    page.locator('[data-overlay="friction"]').uncheck()
    shown.wait("cardan.friction() === null")
    shown.wait(f"cardan.stats().calls <= {calls - 2}")
    subscribed = [text for text in page.evaluate("window.said") if '"subscribe"' in text][-1]
    assert '"friction"' not in subscribed


def test_a_run_of_a_batch_that_is_wrong_stands_out(page: Any, server: str) -> None:
    """Its result is no better than that of a run that failed."""
    rod = {"name": "rod", "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0]}
    pin: dict[str, Any] = {"name": "pin", "type": "hinge", "parent": "world", "child": "rod"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0], "motor": {"type": "velocity", "target": 5.0}}
    simulation = {"dt": 0.002, "duration": 0.2}
    scene = {"simulation": simulation, "bodies": [rod], "joints": [pin]}
    # a drive that nothing stops, against a stop that nothing moves
    limits = [{"lower": -x, "upper": x} for x in (3.0, 0.05)]
    wanted = {"scene": scene, "variations": {"/joints/0/limits": limits}}
    made = httpx.post(
        f"{server}/v1/batches", json=wanted, headers={"Prefer": "wait=30"}, timeout=60
    )
    made.raise_for_status()
    page.goto(f"{server}/#batch={made.json()['id']}")
    dialog = page.locator("#runs-dialog")
    playwright_api.expect(dialog.locator(".scatter circle.good")).to_have_count(1)
    playwright_api.expect(dialog.locator(".scatter circle.bad")).to_have_count(1)
    row = dialog.locator("tr[data-status=failed]")
    playwright_api.expect(row).to_have_count(1)
    playwright_api.expect(row).to_contain_text("wrong")


def test_a_link_to_a_batch_opens_its_table(page: Any, server: str, shown: Shown) -> None:
    wanted = {
        "scene": "double-pendulum",
        "name": "three steps to share",
        "overrides": {"/simulation/duration": 0.1},
        "variations": {"/simulation/dt": [0.0004, 0.002, 0.1]},
    }
    made = httpx.post(
        f"{server}/v1/batches", json=wanted, headers={"Prefer": "wait=30"}, timeout=60
    )
    made.raise_for_status()
    page.goto(f"{server}/")
    page.get_by_role("button", name="Runs", exact=True).click()
    page.get_by_role("button", name="View-only link to three steps to share").click()
    link = page.locator("dialog[open] a[href*='share']")
    address = link.get_attribute("href")
    context = new_context(page.context.browser, viewport=SMALL)
    tab = context.new_page()
    tab.goto(address)
    table = tab.get_by_role("region", name="Runs of the batch")
    playwright_api.expect(table.locator("tbody tr")).to_have_count(3)
    # values over two decades: the axis is logarithmic, and its labels are powers of ten
    across = tab.get_by_label("Horizontal axis of the scatter plot")
    playwright_api.expect(across).to_have_value("/simulation/dt")
    playwright_api.expect(tab.locator(".scatter")).to_contain_text("logarithmic")
    context.close()
