"""What is beside the view, and what is drawn in it of bodies that come and go."""

import time
from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context
from tests.web.shown import PATIENCE, SMALL, Shown

pytestmark = pytest.mark.e2e

# a bob on a rod below a second one on a hinge: both have rods in the view
STRINGS: dict[str, Any] = {
    "version": 1,
    "name": "strings",
    "simulation": {"dt": 0.002, "duration": 600, "formulation": "maximal"},
    "bodies": [
        {"name": "upper", "mass": 1, "position": [0, 0, 1],
         "shapes": [{"type": "sphere", "radius": 0.1}]},
        {"name": "lower", "mass": 1, "shapes": [{"type": "sphere", "radius": 0.1}]},
    ],
    "joints": [
        {"name": "pivot", "type": "hinge", "parent": "world", "child": "upper",
         "anchor": [0, 0, 2], "axis": [0, 1, 0]},
        {"name": "rod", "type": "distance", "parent": "upper", "child": "lower",
         "anchor": [0, 0, 1], "anchor2": [0, 0, 0]},
    ],
}  # fmt: skip

# one contact
RESTING: dict[str, Any] = {
    "version": 1,
    "name": "resting",
    "simulation": {"dt": 0.002, "duration": 600},
    "bodies": [
        {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "ball", "mass": 1, "position": [0, 0, 0.1],
         "shapes": [{"type": "sphere", "radius": 0.1}]},
    ],
}  # fmt: skip


def opened(page: Any, server: str, scene: dict[str, Any] | str) -> None:
    wanted = {"scene": scene, "paused": False}
    made = httpx.post(f"{server}/v1/sessions", json=wanted, timeout=60)
    made.raise_for_status()
    page.goto(f"{server}/#session={made.json()['id']}")


# counts the frames of the screen that the page asks for
COUNTED = """
  window.asked = 0;
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (then) => { window.asked += 1; return ask(then); };
"""
IN_A_SECOND = """() => new Promise((done) => {
  const before = window.asked;
  window.setTimeout(() => done(window.asked - before), 1000);
})"""
ON_A_SIGN = """() => {
  const before = window.asked;
  window.dispatchEvent(new PointerEvent("pointermove"));
  return window.asked - before;
}"""


def test_a_page_at_rest_asks_for_few_frames_and_wakes_at_once(tab: Any, server: str) -> None:
    tab.add_init_script(COUNTED)
    tab.set_viewport_size(SMALL)
    shown = Shown(tab, server)
    shown.open("incline", paused=True)
    deadline = time.monotonic() + PATIENCE / 1000
    while tab.evaluate(IN_A_SECOND) > 12:
        assert time.monotonic() < deadline, "the page does not come to rest"
    # it may be looking just now: then it has asked already
    while tab.evaluate(ON_A_SIGN) == 0:
        assert time.monotonic() < deadline, "the page does not wake"
    shown.close()


def test_what_holds_a_vanished_body_is_not_drawn(page: Any, server: str, shown: Shown) -> None:
    """Its rods and the marks of its joints go with it, and come back with it."""
    page.set_viewport_size(SMALL)
    opened(page, server, STRINGS)
    shown.wait("cardan.shown().time > 0")
    page.locator("[data-overlay=joints]").check()
    shown.wait("cardan.drawn().rods === 2 && cardan.drawn().anchors === 3")
    shown.post("vanish", body="lower")
    shown.wait("cardan.drawn().rods === 1 && cardan.drawn().anchors === 1")
    shown.post("vanish", body="upper")
    shown.wait("cardan.drawn().rods === 0 && cardan.drawn().anchors === 0")
    shown.post("appear", body="upper")
    shown.wait("cardan.drawn().rods === 1")


def test_what_is_counted_has_whole_ticks(page: Any, server: str, shown: Shown) -> None:
    opened(page, server, RESTING)
    shown.wait("cardan.series(2).values[0].some((count) => count > 0)")
    # drawn anew with what was counted
    shown.wait("cardan.ticks(2).some((tick) => +tick > 0)")
    assert all(float(tick).is_integer() for tick in page.evaluate("cardan.ticks(2)"))


def test_the_bar_of_a_comparison_covers_nothing_of_the_view(
    page: Any, server: str, shown: Shown
) -> None:
    """It lies between the view and the timeline, at all widths."""
    page.goto(f"{server}/#compare=two-impacts")
    bar = page.locator("#compare")
    bar.wait_for()
    shown.wait("cardan.ghost('ball-5')")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        view, box = page.locator("#stage").bounding_box(), bar.bounding_box()
        assert box["y"] >= view["y"] + view["height"]
        assert box["x"] + box["width"] <= width


def test_on_a_phone_the_numbers_of_arrange_stay_in_sight(browser: Any, server: str) -> None:
    """While the page scrolls by a finger on them, and where the outline is."""
    context = new_context(
        browser, viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True
    )
    phone = context.new_page()
    phone.set_default_timeout(PATIENCE)
    shown = Shown(phone, server)
    shown.open("double-pendulum", paused=True)
    phone.get_by_role("button", name="Arrange", exact=True).tap()
    bar = phone.get_by_role("group", name="Arrange the scene")
    bar.wait_for()
    at = bar.bounding_box()
    finger = context.new_cdp_session(phone)

    def touch(kind: str, *points: dict[str, float]) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = at["x"] + 200, at["y"] + 20
    touch("touchStart", {"x": x, "y": y})
    for moved in range(20, 220, 20):
        touch("touchMove", {"x": x, "y": y - moved})
    touch("touchEnd")
    shown.wait("scrollY > 100")
    phone.locator("#outline button", has_text="elbow").tap()
    phone.evaluate("document.getElementById('outline').scrollIntoView()")
    box = bar.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 760
    shown.close()
    context.close()


def test_nothing_is_cut_off_on_a_common_screen(page: Any, server: str, shown: Shown) -> None:
    """Legends end before their buttons, values of the inspector within it."""
    page.set_viewport_size({"width": 1280, "height": 800})
    ball = {**RESTING["bodies"][1], "position": [-12.5, -20.25, 30]}
    opened(page, server, {**RESTING, "gravity": [0, 0, 0], "bodies": [RESTING["bodies"][0], ball]})
    shown.wait("cardan.pose('ball') && document.querySelector('.chart canvas')")
    page.locator("#outline").get_by_role("button", name="ball").click()
    page.get_by_text("12.500", exact=False).first.wait_for()
    cut = page.evaluate(
        """() => {
          const legends = [...document.querySelectorAll(".chart header")].flatMap((header) => {
            const end = header.querySelector(".tools").getBoundingClientRect().left;
            const words = [...header.querySelectorAll(".legend > span")];
            return words.filter((one) => one.getBoundingClientRect().right > end);
          });
          const values = [...document.querySelectorAll(".facts dd")];
          const short = values.filter((one) => one.scrollWidth > one.clientWidth);
          return [...legends, ...short].map((one) => one.textContent);
        }"""
    )
    assert cut == []
