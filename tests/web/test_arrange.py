"""Arranging a scene: handles in the view and numbers change the text, which then runs."""

import json
import math
from typing import Any

import httpx
import pytest

from cardan.schemas import load_scene
from tests.web.conftest import new_context
from tests.web.modules import run_module
from tests.web.shown import FLOATING, PATIENCE, SMALL, Shown
from tests.web.test_axe import AXE, violations

# as a person lays it out
TEXT = """{"version": 1, "name": "floating",   "gravity": [0, 0, 0],
  "simulation": {"dt": 0.002, "duration": 600, "formulation": "auto"},
  "bodies": [
    {
      "name": "near",
      "mass": 1,
      "shapes": [{"type": "box", "size": [0.4, 0.4, 0.4]}]
    },
    {"name": "far", "mass": 1, "position": [0.0, 2.000000001, 0e0],
     "shapes": [{"type": "sphere", "radius": 0.2}]}
  ]}"""


def changed(node: str, text: str, pointer: str, fields: dict[str, Any]) -> str | None:
    body = "return withFields(...input)"
    change = run_module(node, "scene_fields.js", "withFields", body, [text, pointer, fields])
    if change is None:
        return None
    return text[: change["from"]] + str(change["insert"]) + text[change["to"] :]


def test_fields_are_set_and_nothing_else(node: str) -> None:
    """A value in its place, a new member like the others, none that says the default."""
    moved = changed(node, TEXT, "/bodies/1", {"position": [1, 2, 0.5]})
    assert moved == TEXT.replace("[0.0, 2.000000001, 0e0]", "[1, 2, 0.5]")
    added = changed(node, TEXT, "/bodies/0", {"position": [1, 0, 0]})
    last = "0.4, 0.4]}]"
    assert added == TEXT.replace(last, last + ',\n      "position": [1, 0, 0]')
    beside = changed(node, TEXT, "/bodies/1", {"orientation": [0, 1, 0, 0]})
    assert beside == TEXT.replace("0.2}]}", '0.2}], "orientation": [0, 1, 0, 0]}')
    both = changed(node, TEXT, "/bodies/1", {"position": [0, 0, 1], "orientation": [0, 0, 1, 0]})
    assert both is not None
    body = load_scene(json.loads(both)).bodies[1]
    assert (body.position, body.orientation) == ((0, 0, 1), (0, 0, 1, 0))
    assert changed(node, TEXT, "/bodies/0", {"position": [0, 0, 0]}) is None
    assert changed(node, TEXT, "/bodies/1", {"position": [0, 2.000000001, 0]}) is None


class Arranging:
    """The bar below the view, and the scene as it is written."""

    def __init__(self, page: Any, shown: Shown) -> None:
        self.page, self.shown = page, shown
        self.bar = page.get_by_role("group", name="Arrange the scene")

    def text(self) -> str:
        return str(self.page.evaluate("cardan.editor()")["text"])

    def place(self, name: str) -> tuple[list[float], list[float]]:
        bodies = json.loads(self.text())["bodies"]
        body = next(one for one in bodies if one["name"] == name)
        return body.get("position", [0, 0, 0]), body.get("orientation", [1, 0, 0, 0])

    def choose(self, name: str) -> None:
        self.page.locator("#outline").get_by_role("button", name=name).click()

    def drag(self, handle: str, right: float, up: float) -> None:
        """By a mouse that has to find the handle under it first."""
        self.shown.wait(f"cardan.handle('{handle}')")
        at = self.page.evaluate("(axis) => cardan.handle(axis)", handle)
        self.page.mouse.move(at["x"] + 30, at["y"] + 60)
        self.page.mouse.move(at["x"], at["y"])
        self.page.mouse.down()
        self.page.mouse.move(at["x"] + right / 2, at["y"] - up / 2)
        self.page.mouse.move(at["x"] + right, at["y"] - up)
        self.page.mouse.up()


@pytest.mark.e2e
def test_a_body_is_moved_by_its_handle_and_runs_from_there(page: Any, shown: Shown) -> None:
    """Drag, undo, numbers, a turn by keyboard; the text has it, and after Apply the service too."""
    page.set_viewport_size(SMALL)
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": FLOATING, "paused": False}, timeout=60
    )
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.shown().time > 0")
    before = page.evaluate("cardan.sessionId()")
    page.get_by_role("button", name="Open scene").click()
    dialog = page.get_by_role("dialog", name="Open a scene")
    page.locator("#scene-text").fill(TEXT)
    written = str(page.evaluate("cardan.editor()")["text"])
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Arrange", exact=True).click()
    arranging = Arranging(page, shown)
    arranging.bar.get_by_text("Choose a body").wait_for()
    arranging.choose("near")
    arranging.drag("X", 60, -10)
    # a handle that was dragged is one change of the text
    position, orientation = arranging.place("near")
    assert abs(position[0]) > 0.05
    assert (position[1:], orientation) == ([0, 0], [1, 0, 0, 0])
    assert arranging.text().replace(f',\n      "position": {json.dumps(position)}', "") == written
    assert page.evaluate("cardan.pose('near')")[0] == pytest.approx(position[0], abs=1e-6)
    arranging.bar.get_by_role("button", name="Undo").click()
    assert arranging.text() == written
    assert arranging.bar.get_by_role("button", name="Undo").is_disabled()
    page.keyboard.press("Control+y")
    assert arranging.place("near")[0] == position
    # the same by numbers, and a turn
    arranging.bar.get_by_label("y [m]").fill("-0.75")
    arranging.bar.get_by_label("y [m]").press("Tab")
    arranging.bar.get_by_role("button", name="Turn").click()
    arranging.bar.get_by_label("yaw").fill("90")
    arranging.bar.get_by_label("yaw").press("Enter")
    position, orientation = arranging.place("near")
    assert position[1] == -0.75
    assert orientation == pytest.approx([math.sqrt(0.5), 0, 0, math.sqrt(0.5)], abs=1e-6)
    assert '"position": [0.0, 2.000000001, 0e0]' in arranging.text()
    if AXE.exists():
        page.evaluate(AXE.read_text())
        assert violations(page, "#arrange-bar") == []
    arranging.bar.get_by_role("button", name="Apply").click()
    shown.wait(f"cardan.sessionId() !== '{before}' && cardan.shown().time > 0")
    assert arranging.bar.count() == 0
    told = shown.rest("/state")
    pose = told["poses"][told["body_names"].index("near")]
    assert pose == pytest.approx([*position, *orientation], abs=1e-6)
    # the inspector says what the run has made of `auto`
    taken = shown.rest("/summary")["solver"]["formulation"]
    page.locator("#inspector").get_by_text(f"auto: {taken}").wait_for()


@pytest.mark.e2e
def test_a_joint_is_moved_by_a_finger_and_turned_by_numbers(browser: Any, server: str) -> None:
    """Only its anchor and its axis change; Cancel shows the run again and keeps the text."""
    context = new_context(
        browser, viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True
    )
    phone = context.new_page()
    phone.set_default_timeout(PATIENCE)
    shown = Shown(phone, server)
    shown.open("double-pendulum", paused=True)
    running = shown.pose("lower")
    phone.get_by_role("button", name="Arrange", exact=True).tap()
    arranging = Arranging(phone, shown)
    arranging.bar.get_by_text("Choose a body").wait_for()
    before = json.loads(arranging.text())
    # in one task, so that no picture comes between: the handle is known before it is drawn
    at = (
        arranging.page.locator("#outline")
        .get_by_role("button", name="elbow")
        .evaluate("(one) => { one.click(); window.scrollTo(0, 0); return cardan.handle('X'); }")
    )
    finger = context.new_cdp_session(phone)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        listed = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": listed})

    touch("touchStart", (at["x"], at["y"]))
    touch("touchMove", (at["x"] + 20, at["y"]))
    touch("touchMove", (at["x"] + 40, at["y"]))
    touch("touchEnd")
    # a touch is answered before the page has seen it
    shown.wait_for(lambda: json.loads(arranging.text()) != before, "the text to change")
    anchor = json.loads(arranging.text())["joints"][1]["anchor"]
    assert anchor[0] > 0.55
    assert anchor[1:] == [0, 2]
    arranging.bar.get_by_role("button", name="Turn").click()
    arranging.bar.get_by_label("axis z").fill("1")
    arranging.bar.get_by_label("axis z").press("Enter")
    after = json.loads(arranging.text())
    elbow = {**before["joints"][1], "anchor": anchor, "axis": [0, 1, 1]}
    assert after == {**before, "joints": [before["joints"][0], elbow]}
    arranging.bar.get_by_role("button", name="Cancel").click()
    assert arranging.bar.count() == 0
    assert json.loads(arranging.text()) == after
    shown.wait(f"Math.abs(cardan.pose('lower')[0] - {running[0]}) < 1e-6")
    shown.close()
    context.close()
