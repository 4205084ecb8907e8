"""Sliders of joints that broke, of commands that are refused, of runs that were forked."""

from typing import Any

import httpx
import pytest

from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# two arms that motors turn, each about its own end
ARMS = {
    **FLOATING,
    "name": "arms",
    "bodies": [{"name": name, "mass": 1, "position": [0.5, y, 0],
                "shapes": [{"type": "box", "size": [1, 0.1, 0.1]}]}
               for name, y in (("near", 0), ("far", 2))],
    "joints": [{"name": f"{name} axle", "type": "hinge", "parent": "world", "child": name,
                "anchor": [0, y, 0], "axis": [0, 0, 1],
                "motor": {"type": "velocity", "target": 1.0, "max_force": 20}}
               for name, y in (("near", 0), ("far", 2))],
}  # fmt: skip
HIDDEN = """(hidden) => {
  Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});
  document.dispatchEvent(new Event('visibilitychange'));
}"""
# a viewer that steers alone until its socket is closed
TEACHER = """(session) => new Promise((resolve) => {
  const address = `ws://${location.host}/v1/sessions/${session}/stream`;
  window.teacher = new WebSocket(address, 'cardan.v1');
  teacher.onopen = () => teacher.send(JSON.stringify({op: 'hello', client_id: 'teacher'}));
  teacher.onmessage = ({data}) => {
    const told = typeof data === 'string' ? JSON.parse(data) : {};
    if (told.op === 'welcome') teacher.send(JSON.stringify({op: 'take_control', id: 'take'}));
    if (told.id === 'take') resolve(told.op);
  };
})"""


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


def opened(page: Any, shown: Shown, *, paused: bool = True) -> str:
    wanted = {"scene": ARMS, "paused": paused}
    made = httpx.post(f"{shown.server}/v1/sessions", json=wanted, timeout=60)
    made.raise_for_status()
    session = str(made.json()["id"])
    page.goto(f"{shown.server}/#session={session}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('near')")
    return session


def slider(page: Any, arm: str) -> Any:
    return page.get_by_role("slider", name=f"velocity target of {arm} axle")


def test_a_joint_that_broke_has_no_slider(page: Any, shown: Shown) -> None:
    """Neither of its motor nor of its pose, also for who comes later, until a reset."""
    opened(page, shown)
    page.locator("#pose-pane summary").press("Enter")
    near, far = slider(page, "near"), slider(page, "far")
    pose = page.get_by_role("slider", name="Pose of near axle")
    for one in (near, far, pose):
        playwright_api.expect(one).to_be_visible()
    shown.post("break_joint", joint="near axle")
    shown.post("step", n=5)
    for visit in range(2):
        playwright_api.expect(near).to_be_hidden()
        playwright_api.expect(far).to_be_visible()
        if visit == 0:
            playwright_api.expect(pose).to_be_hidden()
            page.reload()
    shown.post("break_joint", joint="far axle")
    shown.post("step", n=5)
    playwright_api.expect(page.locator("#motors-pane")).to_be_hidden()
    shown.post("reset")
    for one in (near, far):
        playwright_api.expect(one).to_be_visible()


def test_what_a_hidden_page_was_not_sent_is_there_when_somebody_looks(
    page: Any, shown: Shown
) -> None:
    """Nobody has to pause the run for it."""
    opened(page, shown)
    # the longer a run has lasted, the less dense is its plot when it is filled again
    shown.post("resume")
    page.evaluate(HIDDEN, True)
    shown.wait("!('poses' in JSON.parse(said.findLast((text) => /subscribe/.test(text))).channels)")
    shown.post("break_joint", joint="near axle")
    begin = shown.rest()["time"]
    end = begin + 2
    shown.wait(f"cardan.shown().edge.time > {end}")
    known = f"cardan.series(0).times.filter((at) => {begin} < at && at < {end}).length"
    few = page.evaluate(known)
    page.evaluate(HIDDEN, False)
    playwright_api.expect(slider(page, "near")).to_be_hidden()
    shown.wait(f"{known} > 5 * {few}")
    playwright_api.expect(page.locator("#happenings")).to_contain_text("near axle broke")
    assert shown.now()["state"] == "running"


def test_what_happened_while_somebody_looked_back_is_there_at_the_live_edge(
    page: Any, shown: Shown
) -> None:
    opened(page, shown, paused=False)
    shown.wait("cardan.shown().time > 0.5")
    page.get_by_role("button", name="Back 10 steps").click()
    shown.wait("cardan.shown().mode === 'history'")
    shown.post("resume")
    shown.post("break_joint", joint="near axle")
    begin = shown.rest()["time"]
    shown.wait(f"cardan.shown().edge.time > {begin + 1}")
    page.locator("#live").click()
    playwright_api.expect(page.locator("#happenings")).to_contain_text("near axle broke")

    def share(since: float, to: float) -> str:
        return f"cardan.series(0).times.filter((at) => {since} < at && at < {to}).length"

    # the plot of a long run is thinned: half as dense as what was seen before, 30 of 60 at first
    before = share(0.0, begin)
    shown.wait(f"{share(begin, begin + 1)} > 0.5 * {before} / {begin} && {before} > 0")
    assert shown.now()["state"] == "running"


@pytest.mark.parametrize("sent", [False, True])
def test_a_slider_that_was_moved_is_not_moved_back(page: Any, shown: Shown, sent: bool) -> None:
    """By an answer about targets that was asked for before, however late it comes."""
    session = opened(page, shown)
    shown.post("set_motor", joint="far axle", target=1.5)
    held: list[Any] = []
    page.route(f"**/{session}/state", lambda route: held.append((route, route.fetch())))
    page.reload()
    near, far = slider(page, "near"), slider(page, "far")
    shown.wait("sockets.at(-1)?.readyState === 1")
    playwright_api.expect(near).to_be_visible()
    while not held:
        page.wait_for_timeout(20)
    near.focus()
    page.keyboard.press("End")
    set_motor = "said.find((text) => text.includes('set_motor'))"
    if sent:
        shown.wait(set_motor)
    route, answer = held[0]
    route.fulfill(response=answer)
    playwright_api.expect(far).to_have_value("1.5")
    playwright_api.expect(near).to_have_value("2")
    shown.wait(set_motor)
    assert '"target":2' in page.evaluate(set_motor)


def test_targets_that_did_not_come_are_asked_for_again(tab: Any, server: str) -> None:
    """The browser tells the console of what did not come."""
    tab.set_viewport_size(SMALL)
    shown = Shown(tab, server)
    session = opened(tab, shown)
    shown.post("set_motor", joint="near axle", target=1.5)
    tab.route(f"**/{session}/state", lambda route: route.abort(), times=1)
    tab.reload()
    playwright_api.expect(slider(tab, "near")).to_have_value("1.5")
    shown.close()


def test_a_target_that_is_refused_is_not_shown(page: Any, shown: Shown) -> None:
    session = opened(page, shown)
    assert page.evaluate(TEACHER, session) == "result"
    near = slider(page, "near")
    near.focus()
    page.keyboard.press("End")
    playwright_api.expect(page.locator("#messages")).to_contain_text("Another viewer steers")
    playwright_api.expect(near).to_have_value("1")
    speed = page.locator("#speed")
    speed.focus()
    speed.select_option("4")
    playwright_api.expect(speed).to_have_value("1")
    page.evaluate("teacher.close()")


def test_a_pose_that_is_refused_is_not_shown(page: Any, shown: Shown) -> None:
    session = opened(page, shown)
    page.locator("#pose-pane summary").press("Enter")
    pose = page.get_by_role("slider", name="Pose of near axle")
    playwright_api.expect(pose).to_be_enabled()
    assert page.evaluate(TEACHER, session) == "result"
    pose.focus()
    page.keyboard.press("End")
    playwright_api.expect(page.locator("#messages")).to_contain_text("Another viewer steers")
    # the slider still has the focus
    playwright_api.expect(pose).to_have_attribute("aria-valuetext", "0 rad")
    page.evaluate("teacher.close()")


def test_a_fork_shows_the_targets_it_has_and_is_pulled_by_no_hand(page: Any, shown: Shown) -> None:
    session = opened(page, shown)
    shown.post("set_motor", joint="near axle", target=1.5)
    shown.post("grab", body="far", point=[1, 2, 0])
    shown.post("grab_move", target=[1, 2.5, 1])
    shown.post("step", n=50)
    shown.wait("cardan.shown().step === 50")
    playwright_api.expect(page.locator("#grab-force")).to_be_visible()
    page.get_by_role("button", name="Fork here").click()
    shown.wait(f"cardan.sessionId() !== '{session}' && cardan.shown().step === 50")
    playwright_api.expect(slider(page, "near")).to_have_value("1.5")
    playwright_api.expect(slider(page, "far")).to_have_value("1")
    playwright_api.expect(page.locator("#grab-force")).to_be_hidden()
    assert shown.rest("/state")["grab"] is None
    page.reload()
    playwright_api.expect(slider(page, "near")).to_have_value("1.5")


def test_a_fork_keeps_its_targets_though_the_run_before_has_ended(tab: Any, server: str) -> None:
    """The browser tells the console of the run that is asked for and is gone."""
    tab.set_viewport_size(SMALL)
    shown = Shown(tab, server)
    session = opened(tab, shown)
    shown.post("set_motor", joint="near axle", target=1.5)
    sessions = f"{server}/v1/sessions"
    fork = httpx.post(f"{sessions}/{session}:fork", json={}, timeout=60).json()["id"]
    httpx.delete(f"{sessions}/{session}", timeout=60).raise_for_status()
    tab.goto(f"{server}/#session={fork}")
    playwright_api.expect(slider(tab, "near")).to_have_value("1.5")
    playwright_api.expect(slider(tab, "far")).to_have_value("1")
