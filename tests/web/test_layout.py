"""What has long words or numbers stays readable, and within its pane."""

from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context
from tests.web.shown import FLOATING, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# by how much the content is wider than what holds it [px]
HIDDEN = "(one) => one.scrollWidth - one.clientWidth"
# whether there is a name behind a box
BEHIND = """({ x, y, width, height }) => {
  const names = [...document.querySelectorAll('.labels span')];
  return names.map((one) => one.getBoundingClientRect()).some(({ left, right, top, bottom }) =>
    right > x && left < x + width && bottom > y && top < y + height);
}"""


def test_a_body_of_many_shapes_keeps_its_name(page: Any, shown: Shown) -> None:
    capsule = {"type": "capsule", "radius": 0.05, "length": 0.2}
    kinds: list[dict[str, Any]] = [
        {"type": "sphere", "radius": 0.1}, {"type": "box", "size": [0.1, 0.1, 0.1]},
        {"type": "cylinder", "radius": 0.1, "length": 0.2},
        {"type": "ellipsoid", "radii": [1, 1, 2]},
    ]  # fmt: skip
    bodies = [
        {"name": "rear frame", "mass": 1, "shapes": 12 * [capsule]},
        {"name": "all that there is", "mass": 1, "shapes": [*kinds, *kinds]},
        {"name": 8 * "very " + "long", "mass": 1, "position": [0, 9, 0], "shapes": [capsule]},
    ]
    scene = {**FLOATING, "bodies": bodies}
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene}, timeout=60)
    made.raise_for_status()
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    rows = page.locator("#outline button")
    playwright_api.expect(rows).to_have_count(3)
    playwright_api.expect(rows.first).to_have_text("rear frame12 \N{MULTIPLICATION SIGN} capsule")
    for i in range(2):
        assert rows.nth(i).locator("span").first.evaluate(HIDDEN) <= 0
    for row in rows.all():
        assert row.evaluate(HIDDEN) <= 0


def test_findings_and_reports_are_within_a_phone(browser: Any, server: str) -> None:
    coarse = {"/simulation/dt": 0.02, "/simulation/duration": 2.0}
    run = httpx.post(
        f"{server}/v1/simulations",
        json={"scene": "double-pendulum", "overrides": coarse},
        headers={"Prefer": "wait=30"},
        timeout=60,
    ).json()
    context = new_context(
        browser, viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True
    )
    phone = context.new_page()
    shown = Shown(phone, server)
    phone.goto(f"{server}/#run={run['id']}")
    shown.wait(f"cardan.sessionId() === '{run['id']}'")
    phone.locator("#verdict summary").tap()
    box = phone.locator("#verdict-findings").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    # below the buttons, not over them
    actions = phone.get_by_role("button", name="Share").bounding_box()
    assert box["y"] >= actions["y"] + actions["height"]
    phone.get_by_role("button", name="Verification").tap()
    sections = phone.locator("#verification-sections details")
    sections.last.wait_for()
    for section in sections.all():
        section.evaluate("(one) => { one.open = true; }")
        # what is wider can be scrolled to
        assert section.evaluate(HIDDEN) <= 0 or section.evaluate(
            "(one) => { one.scrollLeft = 9999; return one.scrollLeft > 0; }"
        )
    context.close()


def test_small_values_of_sliders_stay_in_their_pane(page: Any, shown: Shown) -> None:
    scene = {
        **FLOATING,
        "joints": [{"name": "swing", "type": "hinge", "parent": "world", "child": "near",
                    "anchor": [0, 0, 0], "axis": [0, 1, 0],
                    "initial": {"position": -1.2345e-11}}],
    }  # fmt: skip
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene}, timeout=60)
    made.raise_for_status()
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    # before the first frame panes still move, and a click may miss
    shown.wait("cardan.pose('near') && cardan.shown().state === 'paused'")
    page.locator("#pose-pane summary").press("Enter")
    value = page.locator("#pose output")
    playwright_api.expect(value).to_contain_text("10⁻¹¹ rad")
    row = page.locator("#pose label").bounding_box()
    box = value.bounding_box()
    assert box["x"] + box["width"] <= row["x"] + row["width"] + 0.5
    assert value.evaluate(HIDDEN) <= 0


def test_panels_keep_their_shape_while_a_button_is_pressed(page: Any, shown: Shown) -> None:
    """One that grew or shrank took the button from under the finger: the click was lost."""
    wanted = {"scene": FLOATING, "paused": False}
    made = httpx.post(f"{shown.server}/v1/sessions", json=wanted, timeout=60)
    made.raise_for_status()
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.shown().time > 0.2")
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme)
    step = page.locator("#read-step")
    page.locator("#theme").hover()
    page.mouse.down()
    pressed = step.text_content()
    shown.wait(f"cardan.shown().step > {int(pressed) + 500}")
    assert step.text_content() == pressed
    page.mouse.up()
    playwright_api.expect(step).not_to_have_text(pressed)
    assert page.evaluate(theme) != before


def test_times_of_small_steps_are_read(page: Any, shown: Shown) -> None:
    scene = {**FLOATING, "simulation": {"dt": 1e-5, "duration": 100}}
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene}, timeout=60)
    made.raise_for_status()
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('near')")
    shown.post("step", n=12)
    for place in ("#read-time", "#shown-time"):
        playwright_api.expect(page.locator(place)).to_have_text("0.00012 s")
    page.locator("#open-sessions").click()
    row = page.locator("#sessions-list li", has_text="shown here")
    playwright_api.expect(row).to_contain_text("at 0.00012 s")


def test_plots_are_there_on_small_and_on_enlarged_screens(page: Any, shown: Shown) -> None:
    """Where the page is scrolled there is room for them, however low the window is."""
    shown.open("double-pendulum", paused=True)
    # a small phone, and a window of 1400 x 860 at 200 %
    for width, height in ((320, 568), (700, 430)):
        page.set_viewport_size({"width": width, "height": height})
        playwright_api.expect(page.locator("#charts .chart").first).to_be_visible()


def test_messages_lie_over_names(page: Any, shown: Shown) -> None:
    bodies = [
        {"name": f"a body at {x} {z}", "mass": 1, "position": [x, 0, z],
         "shapes": [{"type": "sphere", "radius": 0.05}]}
        for x in range(6) for z in range(6)
    ]  # fmt: skip
    scene = {**FLOATING, "bodies": bodies}
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene}, timeout=60)
    made.raise_for_status()
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('a body at 0 0')")
    # names all over the view
    for _ in range(4):
        page.keyboard.press("+")
    page.evaluate(
        "import('./messages.js').then(({ showNote }) => showNote('Over names.', { stays: true }))"
    )
    message = page.locator(".message")
    box = message.bounding_box()
    without = page.screenshot(clip=box)
    page.keyboard.press("d")
    shown.wait("document.querySelectorAll('.labels span:not([hidden])').length > 20")
    assert page.evaluate(BEHIND, box)
    assert page.screenshot(clip=box) == without


def test_names_that_are_cut_off_are_said_in_full_at_the_pointer(page: Any, shown: Shown) -> None:
    long = "front left leg of the robot, " * 4
    joint = {"name": f"{long}knee", "type": "hinge", "parent": "world", "child": "near",
             "anchor": [0, 0, 0], "axis": [0, 1, 0],
             "motor": {"type": "velocity", "target": 1, "max_force": 1}}  # fmt: skip
    near, far = FLOATING["bodies"]
    bodies = [near, {**far, "name": f"{long}foot"}]
    scene = {**FLOATING, "name": f"{long}robot", "bodies": bodies, "joints": [joint]}
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene}, timeout=60)
    made.raise_for_status()
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('near')")
    outline = page.locator("#outline")
    for name, place in (
        ("robot", page.locator("#scene-name")),
        ("foot", outline.get_by_text("foot")),
        ("knee", outline.get_by_text("knee")),
        ("knee", page.locator(".motor-name")),
    ):
        place.hover()
        playwright_api.expect(place).to_have_attribute("title", f"{long}{name}")
    # what is there in full is not said twice
    whole = outline.get_by_text("near", exact=True)
    whole.hover()
    playwright_api.expect(whole).to_have_attribute("title", "")
