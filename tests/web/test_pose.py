"""Sliders pose a mechanism while it is paused, within its limits; a session that ends early."""

import re
import time
from math import cos, sin
from typing import Any

import httpx
import pytest

from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# two arms in a row, 1 m long, of which the first reaches from -1 to 0.5 rad
ARMS = {
    **FLOATING,
    "name": "arms",
    "bodies": [
        {"name": name, "mass": 1, "position": [x, 0, 0],
         "shapes": [{"type": "box", "size": [1, 0.1, 0.1]}]}
        for name, x in (("upper", 0.5), ("lower", 1.5))
    ],
    "joints": [
        {"name": "shoulder", "type": "hinge", "parent": "world", "child": "upper",
         "anchor": [0, 0, 0], "axis": [0, 0, 1], "limits": {"lower": -1.0, "upper": 0.5},
         "initial": {"position": -0.25}},
        {"name": "elbow", "type": "hinge", "parent": "upper", "child": "lower",
         "anchor": [1, 0, 0], "axis": [0, 0, 1]},
    ],
}  # fmt: skip

# frames wait in `late` while there is such a list; what is answered does not
LATE = """window.late = null; window.WebSocket = class extends WebSocket {
  set onmessage(hear) {
    super.onmessage = (told) => {
      if (window.late && typeof told.data !== "string") window.late.push(() => hear(told));
      else hear(told);
    };
  }
};"""


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def made(server: str, scene: dict[str, Any], *, paused: bool) -> str:
    wanted = {"scene": scene, "paused": paused}
    answer = httpx.post(f"{server}/v1/sessions", json=wanted, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["id"])


def posed(shown: Shown, shoulder: float, elbow: float) -> None:
    """The service has these angles, and the page draws what the service has."""
    x, y = cos(shoulder), sin(shoulder)
    middle = [x + 0.5 * cos(shoulder + elbow), y + 0.5 * sin(shoulder + elbow), 0]
    until = time.monotonic() + 60
    while True:
        told = shown.rest("/state")
        lower = told["poses"][told["body_names"].index("lower")][:3]
        if lower == pytest.approx(middle, abs=1e-6) or time.monotonic() > until:
            break
    assert lower == pytest.approx(middle, abs=1e-6)
    assert told["step"] == 0
    shown.wait(f"Math.abs(cardan.pose('lower')[0] - {middle[0]}) < 1e-5")
    shown.wait(f"Math.abs(cardan.pose('lower')[1] - {middle[1]}) < 1e-5")


def test_sliders_pose_the_arms_within_their_limits(page: Any, server: str, shown: Shown) -> None:
    session = made(server, ARMS, paused=True)
    page.goto(f"{server}/#session={session}")
    shown.wait("cardan.pose('lower') && cardan.shown().state === 'paused'")
    # panes above it may still grow between the two halves of a click, which then opens nothing
    page.locator("#pose-pane summary").press("Enter")
    shoulder, elbow = (page.get_by_label(f"Pose of {name}") for name in ("shoulder", "elbow"))
    playwright_api.expect(shoulder).to_be_enabled()
    shoulder.press("End")  # as far as the joint lets it
    posed(shown, 0.5, 0.0)
    step = float(elbow.get_attribute("step"))
    for _ in range(3):
        elbow.press("ArrowRight")
    posed(shown, 0.5, 3 * step)
    page.get_by_role("button", name="Home").click()
    posed(shown, -0.25, 0.0)
    playwright_api.expect(page.locator("#messages")).to_be_empty()
    # a run that moves is not posed; its sliders show where the joints are
    page.get_by_role("button", name="Play", exact=True).click()
    playwright_api.expect(shoulder).to_be_disabled()


def test_a_locked_axis_has_no_slider_and_rounding_is_no_number(
    page: Any, server: str, shown: Shown
) -> None:
    shoulder, elbow = ARMS["joints"]
    cross = {**shoulder, "type": "universal", "axis2": [0, 1, 0], "initial": None}
    scene = {**ARMS, "joints": [{**cross, "limits2": {"lower": 0, "upper": 0}}, elbow]}
    page.goto(f"{server}/#session={made(server, scene, paused=True)}")
    shown.wait("cardan.pose('lower') && cardan.shown().state === 'paused'")
    page.locator("#pose-pane summary").press("Enter")
    sliders = page.locator("#pose").get_by_role("slider")
    playwright_api.expect(sliders).to_have_count(2)
    first, second = sliders.nth(0), sliders.nth(1)
    assert [one.get_attribute("aria-label") for one in (first, second)] == [
        "Pose of shoulder", "Pose of elbow",
    ]  # fmt: skip
    playwright_api.expect(second).to_be_enabled()
    # there and back: what is left of zero is what the steps of a slider round to
    second.press("ArrowRight")
    step = float(second.get_attribute("step"))
    posed(shown, 0.0, step)
    second.press("ArrowLeft")
    posed(shown, 0.0, 0.0)
    playwright_api.expect(second).to_have_attribute("aria-valuetext", "0 rad")
    playwright_api.expect(page.locator("#pose output").nth(1)).to_have_text("0 rad")
    # the free axis of a joint moves beside its locked one
    first.press("End")
    posed(shown, 0.5, 0.0)
    playwright_api.expect(page.locator("#messages")).to_be_empty()


def test_both_axes_of_a_joint_are_posed_before_a_frame_has_told_of_the_first(
    page: Any, server: str, shown: Shown
) -> None:
    """They are sent together: the first one was taken back where frames came late."""
    shoulder, elbow = ARMS["joints"]
    cross = {**shoulder, "type": "universal", "axis2": [0, 1, 0], "initial": None}
    page.add_init_script(LATE)
    session = made(server, {**ARMS, "joints": [cross, elbow]}, paused=True)
    page.goto(f"{server}/#session={session}")
    shown.wait("cardan.pose('lower') && cardan.shown().state === 'paused'")
    page.locator("#pose-pane summary").press("Enter")
    first, second = (page.locator("#pose").get_by_role("slider").nth(k) for k in range(2))
    shown.post("set_state", q={"shoulder": [-0.5, 0.0]})
    playwright_api.expect(first).to_have_attribute("aria-valuetext", re.compile("0.5"))
    page.evaluate("window.late = []")

    def angles() -> list[float]:
        return [row["q"] for row in shown.rest("/state")["joints"] if row["joint"] == 0]

    first.press("End")
    shown.wait_for(lambda: abs(angles()[0] - 0.5) < 1e-9, "the first axis")
    # panels are drawn meanwhile, from what came before
    page.evaluate("window.since = performance.now()")
    shown.wait("late.length > 0 && performance.now() > since + 400")
    second.press("ArrowRight")
    step = float(second.get_attribute("step"))
    shown.wait_for(lambda: abs(angles()[1] - step) < 1e-9, "the second axis")
    assert angles()[0] == pytest.approx(0.5, abs=1e-9)
    page.evaluate("(() => { const all = late; late = null; all.forEach((one) => one()); })()")
    shown.wait("document.querySelector('#pose output').textContent.startsWith('0.5')")
    playwright_api.expect(page.locator("#messages")).to_be_empty()


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_home_poses_a_mechanism_that_is_a_loop(
    page: Any, server: str, shown: Shown, formulation: str
) -> None:
    """The joint that closes it is told as well, and rests as the others do."""
    wanted = {
        "scene": "slider-crank", "paused": True,
        "overrides": {"/simulation/formulation": formulation},
    }  # fmt: skip
    answer = httpx.post(f"{server}/v1/sessions", json=wanted, timeout=60)
    answer.raise_for_status()
    page.goto(f"{server}/#session={answer.json()['id']}")
    shown.wait("cardan.pose('crank') && cardan.shown().state === 'paused'")
    start = shown.pose("piston")
    shown.post("step", n=100)
    shown.wait("cardan.shown().step === 100")
    assert shown.pose("piston") != pytest.approx(start, abs=1e-3)
    page.locator("#pose-pane summary").press("Enter")
    page.get_by_role("button", name="Home").click()
    shown.wait(f"Math.abs(cardan.pose('piston')[0] - {start[0]}) < 1e-6")
    assert shown.rest("/state")["velocities"][0] == pytest.approx([0] * 6, abs=1e-9)
    playwright_api.expect(page.locator("#messages")).to_be_empty()


def test_a_session_that_ended_before_its_welcome_is_not_shown_as_running(
    tab: Any, server: str
) -> None:
    """It reaches its end, then is deleted, while the page is too busy to say hello."""
    short = {**FLOATING, "simulation": {"dt": 0.002, "duration": 0.5}}
    session = made(server, short, paused=True)
    url = f"{server}/v1/sessions/{session}"
    tab.add_init_script(
        "window.held = []; window.WebSocket = class extends WebSocket {"
        " send(d) { if (!window.held) super.send(d);"
        " else window.held.push(() => super.send(d)); } };"
    )
    release = "(() => { const all = held; held = null; all.forEach((one) => one()); })()"
    shown = Shown(tab, server)
    tab.goto(f"{server}/#session={session}")
    shown.wait("held.length > 0")
    httpx.post(f"{url}/commands", json={"op": "resume"}, timeout=60).raise_for_status()
    until = time.monotonic() + 60
    while httpx.get(url, timeout=60).json()["state"] != "finished":
        assert time.monotonic() < until
    tab.evaluate(release)
    shown.wait("cardan.shown().state === 'finished' && cardan.shown().step === 250")
    playwright_api.expect(tab.locator("#run-state")).to_have_text("finished")

    tab.reload()
    shown.wait("held.length > 0")
    httpx.delete(url, timeout=60).raise_for_status()
    tab.evaluate(release)
    playwright_api.expect(tab.locator("#run-state")).to_have_text("closed")
    again = tab.get_by_role("button", name="Run its scene again")
    playwright_api.expect(again).to_be_visible()
