"""What is beside the view, and what is drawn in it of bodies that come and go."""

import time
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import UNPAINTED, new_context
from tests.web.shown import PATIENCE, SMALL, SPY, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

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
# the second of a busy page is longer
IN_A_SECOND = """() => new Promise((done) => {
  const before = window.asked, began = performance.now();
  const rate = () => (1000 * (window.asked - before)) / (performance.now() - began);
  window.setTimeout(() => done(rate()), 1000);
})"""
ON_A_SIGN = """() => {
  const before = window.asked;
  window.dispatchEvent(new PointerEvent("pointermove"));
  return window.asked - before;
}"""


def test_a_page_at_rest_asks_for_few_frames_and_wakes_at_once(browser: Any, server: str) -> None:
    context = new_context(browser, [UNPAINTED, SPY, COUNTED], viewport=SMALL)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    shown = Shown(tab, server)
    shown.open("incline", paused=True)
    deadline = time.monotonic() + PATIENCE / 1000
    woken = 0
    while woken == 0:
        assert time.monotonic() < deadline, "the page does not wake"
        while tab.evaluate(IN_A_SECOND) > 12:
            assert time.monotonic() < deadline, "the page does not come to rest"
        # it may be looking just now, and has asked already: the sign then keeps it from its rest
        woken = tab.evaluate(ON_A_SIGN)
    shown.close()
    context.close()


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


def held(scene: dict[str, Any], server: str) -> str:
    made = httpx.post(f"{server}/v1/sessions", json={"scene": scene, "paused": True}, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def test_what_has_no_shape_is_said_and_can_be_seen(page: Any, server: str, shown: Shown) -> None:
    page.set_viewport_size(SMALL)
    mass = {"name": "mass", "mass": 1, "inertia": [1, 1, 1], "position": [40, 0, 0]}
    page.goto(f"{server}/#session={held({'version': 1, 'bodies': [mass]}, server)}")
    shown.wait("cardan.shown().state === 'paused'")
    playwright_api.expect(page.locator("#stage-note")).to_contain_text("No body has a shape")
    assert page.evaluate("cardan.camera()")[3:] == pytest.approx([40, 0, 0])


BALL: dict[str, Any] = {"name": "ball", "mass": 1}
FLOOR: dict[str, Any] = {
    "name": "floor",
    "type": "static",
    "shapes": [{"type": "plane", "normal": [0, 0, 1]}],
}


@pytest.mark.parametrize(
    ("radius", "height", "middle", "reach"),
    [
        (4e-4, 4e-4, 4e-4, 6.928e-4),  # lies
        (0.2, 0.3, 0.3, 0.3464),  # falls a little
        (0.1, 3.0, 1.55, 1.5564),  # falls from high: the floor is in the view
        (0.1, 300.0, 300.0, 0.1732),  # the floor is out of sight
    ],
)
def test_a_scene_of_any_size_fills_the_view(
    page: Any, server: str, shown: Shown, radius: float, height: float, middle: float, reach: float
) -> None:
    page.set_viewport_size(SMALL)
    ball = {**BALL, "position": [0, 0, height], "shapes": [{"type": "sphere", "radius": radius}]}
    page.goto(f"{server}/#session={held({'version': 1, 'bodies': [FLOOR, ball]}, server)}")
    shown.wait("cardan.shown().state === 'paused'")
    camera = np.array(page.evaluate("cardan.camera()"))
    assert camera[3:] == pytest.approx([0, 0, middle], rel=0.01, abs=1e-6)
    distance = float(np.linalg.norm(camera[:3] - camera[3:]))
    # the ball about it just fits into the view, which is 38 degrees high, and a tenth is left
    aspect = page.locator("#stage canvas").evaluate("(it) => it.clientWidth / it.clientHeight")
    half = np.deg2rad(19)
    across = np.arctan(np.tan(half) * aspect)
    assert distance == pytest.approx(1.1 * reach / np.sin(min(half, across)), rel=0.01)


def test_a_word_that_names_no_colour_is_drawn_as_none(page: Any, server: str, shown: Shown) -> None:
    """Nothing is said in the console; white was drawn, which no other format does."""
    warnings: list[str] = []
    page.on("console", lambda said: warnings.append(said.text) if said.type == "warning" else None)
    box = {"type": "box", "size": [1, 1, 1]}
    bodies = [
        {**BALL, "name": name, "position": [k, 0, 0], "shapes": [{**box, "color": color}]}
        for k, (name, color) in enumerate({"a": "blurple", "b": "rebeccapurple"}.items())
    ]
    page.goto(f"{server}/#session={held({'version': 1, 'bodies': bodies}, server)}")
    shown.wait("cardan.shown().state === 'paused'")
    assert [text for text in warnings if "olor" in text] == []


def test_nobody_steers_what_is_over(tab: Any, browser: Any, server: str) -> None:
    tab.set_viewport_size(SMALL)
    session = held({"version": 1, "bodies": [FLOOR]}, server)
    context = new_context(browser, viewport=SMALL)
    try:
        for one in (tab, context.new_page()):
            one.goto(f"{server}/#session={session}")
        playwright_api.expect(tab.get_by_role("button", name="Take control")).to_be_visible()
        httpx.delete(f"{server}/v1/sessions/{session}", timeout=60).raise_for_status()
        playwright_api.expect(tab.locator("#run-state")).to_have_text("closed")
        playwright_api.expect(tab.locator("#role")).to_be_hidden()
    finally:
        context.close()


def test_a_page_on_a_slow_line_says_that_it_loads(page: Any, server: str, shown: Shown) -> None:
    waiting: list[Any] = []
    page.set_viewport_size(SMALL)
    session = held({"version": 1, "name": "far away", "bodies": [FLOOR]}, server)
    address = f"**/v1/sessions/{session}"
    page.route(address, lambda route: waiting.append(route), times=1)
    with page.expect_request(address):
        page.goto(f"{server}/#session={session}")
    playwright_api.expect(page.locator("#scene-name")).to_have_text("Loading…")
    playwright_api.expect(page.locator("#run-state")).to_have_text("loading")
    for route in waiting:
        route.continue_()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("far away")
