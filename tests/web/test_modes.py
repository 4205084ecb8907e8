"""The modes of two pendula that a spring couples: in phase and against each other."""

from math import pi, sqrt
from typing import Any

import httpx
import pytest

from tests.web.shown import SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

MASS, LENGTH, RADIUS, STIFFNESS, GRAVITY = 1.0, 1.0, 0.1, 4.0, 9.81
PENDULA: dict[str, Any] = {
    "version": 1,
    "name": "coupled pendula",
    "simulation": {"duration": 60},
    "bodies": [
        {"name": name, "mass": MASS, "position": [x, 0, -LENGTH],
         "shapes": [{"type": "sphere", "radius": RADIUS}]}
        for name, x in (("left", 0.0), ("right", 1.0))
    ],
    "joints": [
        {"name": f"{name} pivot", "type": "hinge", "parent": "world", "child": name,
         "anchor": [x, 0, 0], "axis": [0, -1, 0]}
        for name, x in (("left", 0.0), ("right", 1.0))
    ],
    "forces": [
        {"name": "spring", "type": "spring", "parent": "left", "child": "right",
         "anchor": [0, 0, -LENGTH], "anchor2": [1, 0, -LENGTH],
         "stiffness": STIFFNESS}
    ],
}  # fmt: skip
# about the pivots; the spring acts on both at the distance LENGTH
INERTIA = MASS * (LENGTH**2 + 0.4 * RADIUS**2)
TOGETHER = sqrt(MASS * GRAVITY * LENGTH / INERTIA) / (2 * pi)
AGAINST = sqrt((MASS * GRAVITY * LENGTH + 2 * STIFFNESS * LENGTH**2) / INERTIA) / (2 * pi)


AMPLITUDE = 0.2


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def opened(page: Any, server: str, shown: Shown, scene: object, body: str = "left") -> Any:
    """The panel of the modes of a scene that has such a body."""
    answer = httpx.post(f"{server}/v1/sessions", json={"scene": scene, "paused": True}, timeout=60)
    answer.raise_for_status()
    page.goto(f"{server}/#session={answer.json()['id']}")
    # before the first frame panes still move, and a click may miss
    shown.wait(f"cardan.pose('{body}') && cardan.shown().state === 'paused'")
    page.locator("#pose-pane summary").press("Enter")
    page.get_by_role("button", name="Modes", exact=True).click()
    return page.get_by_role("region", name="Modes")


def test_two_pendula_swing_together_and_against_each_other(
    page: Any, server: str, shown: Shown
) -> None:
    expect = playwright_api.expect
    panel = opened(page, server, shown, PENDULA)
    expect(panel.get_by_role("status").first).to_contain_text("About the equilibrium.")
    rows = panel.locator("tbody tr")
    expect(rows).to_have_count(2)
    for row, frequency, words, sign in (
        (0, TOGETHER, "with it", 1),
        (1, AGAINST, "against it", -1),
    ):
        button = rows.nth(row).get_by_role("button")
        assert float(button.inner_text().split()[0]) == pytest.approx(frequency, rel=2e-3)
        assert float(rows.nth(row).locator("td").nth(1).inner_text()) == pytest.approx(0, abs=1e-9)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(panel.locator("#modes-words")).to_contain_text(f"1.00 {words}.")
        # as far as the amplitude says, and through the middle to the other side
        for side in (1, -1):
            shown.wait(f"cardan.mode('left')[0] * {side} > {0.8 * AMPLITUDE * LENGTH}")
        left, right = page.evaluate("['left', 'right'].map((name) => cardan.mode(name)[0])")
        assert right - 1.0 == pytest.approx(sign * left, abs=1e-6)
        assert abs(left) <= AMPLITUDE * LENGTH * (1 + 1e-6)
    # the scene itself is where it was
    assert shown.pose("left")[0] == 0.0
    assert shown.now()["step"] == 0
    panel.get_by_role("button", name="Close modes").click()
    expect(panel).to_have_count(0)


def test_modes_of_an_example_are_those_about_where_it_hangs(
    page: Any, server: str, shown: Shown
) -> None:
    panel = opened(page, server, shown, "double-pendulum", "upper")
    rows = panel.locator("tbody tr")
    playwright_api.expect(rows).to_have_count(2)
    for row, words in ((0, "with it"), (1, "against it")):
        rows.nth(row).get_by_role("button").click()
        playwright_api.expect(panel.locator("#modes-words")).to_contain_text(words)
