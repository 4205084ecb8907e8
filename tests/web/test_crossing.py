"""What is asked for twice, too soon or at a bad moment, and what another answer overtakes."""

import re
from typing import Any

import httpx
import pytest

from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

SCENE_OF = re.compile(r"/v1/sessions/(\w+)/scene$")


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def create(server: str, **more: Any) -> str:
    wanted = {"scene": FLOATING, "paused": True, **more}
    made = httpx.post(f"{server}/v1/sessions", json=wanted, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def alive(server: str) -> set[str]:
    items = httpx.get(f"{server}/v1/sessions?page_size=1000", timeout=60).json()["items"]
    return {str(one["id"]) for one in items}


def test_going_back_while_another_scene_opens_ends_nothing_that_is_shown(
    page: Any, server: str, shown: Shown
) -> None:
    page.goto(f"{server}/#scene=incline")
    shown.wait("cardan.shown().time > 0")
    own = page.evaluate("cardan.sessionId()")
    other = create(server)
    page.evaluate("(id) => { location.hash = `session=${id}`; }", other)
    shown.wait(f"cardan.sessionId() === '{other}'")
    held: list[Any] = []

    def hold(route: Any) -> None:
        found = SCENE_OF.search(route.request.url)
        if found and found.group(1) in (own, other):
            route.continue_()
        else:
            held.append(route)

    page.route(SCENE_OF, hold)
    with page.expect_request(lambda request: request.url.endswith("/scene")):
        page.locator("#gallery").get_by_role("button", name="slider-crank").click()
    page.go_back()
    shown.wait(f"cardan.sessionId() === '{own}'")
    late = held[0].request.url.split("/")[-2]
    with page.expect_request(lambda request: request.method == "DELETE") as ended:
        held[0].continue_()
    # what came too late ends, and not what is looked at
    assert f"/sessions/{late}?" in ended.value.url
    ended.value.response()
    assert alive(server) == {own, other}
    assert page.evaluate("cardan.sessionId()") == own


def test_what_is_asked_for_last_is_shown_and_the_history_keeps_it(tab: Any, server: str) -> None:
    """A second click, and a second step back, while the first one still opens."""
    shown = Shown(tab, server)
    tab.goto(f"{server}/#scene=incline")
    shown.wait("cardan.shown().time > 0")
    gallery, name = tab.locator("#gallery"), tab.locator("#scene-name")

    def click(*examples: str) -> None:
        for example in examples:
            gallery.get_by_role("button", name=example).click()

    # sessions are not made before something else is asked for
    held: list[Any] = []
    tab.route(
        "**/v1/sessions",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )

    def let_go(count: int) -> None:
        shown.wait_for(lambda: len(held) == count, f"{count} requests")
        # the first one comes last
        while held:
            held.pop().continue_()

    for examples in (["slider-crank"], ["newtons-cradle"], ["dominoes", "heavy-top"]):
        click(*examples)
        let_go(len(examples))
        playwright_api.expect(name).to_have_text(examples[-1])
        shown.wait("cardan.shown().time > 0")
    tab.go_back()
    shown.wait_for(lambda: len(held) == 1, "a request")
    tab.go_back()
    let_go(2)
    playwright_api.expect(name).to_have_text("slider-crank")
    shown.wait("cardan.shown().time > 0")
    # no entry was written over by what came late
    tab.go_forward()
    let_go(1)
    playwright_api.expect(name).to_have_text("newtons-cradle")
    shown.wait("cardan.shown().time > 0")
    # what came late has ended
    shown.wait_for(lambda: alive(server) == {tab.evaluate("cardan.sessionId()")}, "one session")
    shown.close()


def test_a_part_that_did_not_come_is_asked_for_again(tab: Any, server: str) -> None:
    shown = Shown(tab, server)
    tab.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    part = re.compile(r"/scene_dialog\b")
    tab.route(part, lambda route: route.abort())
    button = tab.get_by_role("button", name="Open scene")
    button.click()
    playwright_api.expect(tab.locator("#messages")).to_contain_text("does not answer")
    tab.unroute(part)
    button.click()
    playwright_api.expect(tab.get_by_role("dialog", name="Open a scene")).to_be_visible()
    shown.close()


def test_of_dialogs_that_are_on_their_way_the_last_one_opens(
    page: Any, server: str, shown: Shown
) -> None:
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    held: list[Any] = []
    page.route(re.compile(r"/(scene|share|runs)_dialog\b"), lambda route: held.append(route))
    opened = page.locator("dialog[open]")

    def click(name: str, more: int = 1) -> None:
        count = len(held) + more
        page.get_by_role("button", name=name, exact=True).click()
        shown.wait_for(lambda: len(held) == count, f"{count} requests")

    def come_late(title: str) -> None:
        while held:
            # the one that was asked for first comes last
            with page.expect_event("requestfinished"):
                held.pop().continue_()
        playwright_api.expect(opened).to_have_accessible_name(title)
        page.evaluate("() => new Promise((done) => setTimeout(done))")
        playwright_api.expect(opened).to_have_accessible_name(title)

    click("Open scene…")
    click("Keys and help", more=0)
    come_late("Keys and mouse")
    page.keyboard.press("Escape")
    click("Runs")
    click("Share")
    come_late("Share")
    # one that opens by what is no click takes the place of what is open
    files = page.evaluate_handle(
        """() => { const all = new DataTransfer();
          all.items.add(new File(['{"version": 1}'], "dropped.json")); return all; }"""
    )
    page.dispatch_event("dialog[open]", "drop", {"dataTransfer": files})
    playwright_api.expect(opened).to_have_accessible_name("Open a scene")


def test_a_double_click_arranges_once(page: Any, server: str, shown: Shown) -> None:
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    page.locator("#arrange").dblclick()
    bars = page.locator(".arrange")
    playwright_api.expect(bars).to_have_count(1)
    bars.get_by_role("button", name="Cancel").click()
    playwright_api.expect(bars).to_have_count(0)


def test_a_session_that_cannot_be_asked_for_now_is_not_replaced(tab: Any, server: str) -> None:
    shown = Shown(tab, server)
    session = create(server)
    address = re.compile(rf"/v1/sessions/{session}$")
    problem = {"title": "Too many requests", "status": 429, "code": "quota_exceeded"}
    tab.route(address, lambda route: route.fulfill(status=429, json=problem))
    tab.goto(f"{server}/#scene=incline&session={session}")
    message = tab.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("Too many requests")
    tab.unroute(address)
    again = message.get_by_role("button", name="Try again")
    playwright_api.expect(again).to_be_visible()
    assert alive(server) == {session}
    again.click()
    shown.wait(f"cardan.sessionId() === '{session}' && cardan.pose('near')")
    playwright_api.expect(message).to_have_count(0)
    shown.close()


def test_a_verdict_of_the_run_before_is_not_shown(page: Any, server: str, shown: Shown) -> None:
    first, second = create(server), create(server)
    held: list[Any] = []
    page.route(re.compile(r"/summary$"), lambda route: held.append(route))
    with page.expect_request(lambda request: request.url.endswith("/summary")):
        page.goto(f"{server}/#session={first}")
    page.evaluate("(id) => { location.hash = `session=${id}`; }", second)
    shown.wait(f"cardan.sessionId() === '{second}'")
    told = httpx.get(f"{server}/v1/sessions/{first}/summary", timeout=60).json()
    told["verdict"]["status"] = "doubtful"
    # the next one is asked for when this one has come
    with page.expect_request(lambda request: f"{second}/summary" in request.url):
        held[0].fulfill(json=told)
    playwright_api.expect(page.locator("#verdict")).to_be_hidden()
    held[1].continue_()
    playwright_api.expect(page.locator("#verdict-word")).to_have_text("trusted")


def test_what_happens_does_not_push_out_what_went_wrong(
    page: Any, server: str, shown: Shown
) -> None:
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    page.evaluate(
        """async () => {
          const { src } = document.querySelector("script[type=module][src]");
          const { showNote, showProblem } = await import(new URL("./messages.js", src));
          showProblem({ title: "The session is over" }, { label: "Run it again", run() {} });
          for (let joint = 1; joint <= 12; joint += 1) showNote(`joint ${joint} broke`);
        }"""
    )
    messages = page.locator("#messages")
    playwright_api.expect(messages.get_by_role("button", name="Run it again")).to_be_visible()
    playwright_api.expect(messages).to_contain_text("joint 12 broke")
    playwright_api.expect(messages.locator(".note")).to_have_count(4)


def test_a_note_counts_its_seconds_from_the_picture_that_shows_it(
    page: Any, server: str, shown: Shown
) -> None:
    """A page that was hidden, or busy, took away what nobody had seen."""
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    counted = page.evaluate(
        """async () => {
          const { src } = document.querySelector("script[type=module][src]");
          const { showNote } = await import(new URL("./messages.js", src));
          const { requestAnimationFrame, setTimeout } = window, frames = [], timers = [];
          window.requestAnimationFrame = (draw) => frames.push(draw);
          window.setTimeout = (run) => timers.push(run);
          showNote("seen late");
          const before = timers.length;
          for (const draw of frames) draw(performance.now());
          Object.assign(window, { requestAnimationFrame, setTimeout });
          timers.forEach((run) => run());
          return [before, timers.length];
        }"""
    )
    assert counted == [0, 1]
    playwright_api.expect(page.locator("#messages")).to_be_empty()


def test_choices_that_cannot_be_read_are_none(page: Any, server: str, shown: Shown) -> None:
    page.add_init_script(
        """if (location.protocol === "http:") {
          for (const of of ["keys", "overlays"]) localStorage.setItem(`cardan.${of}`, '{"off": tr');
        }"""
    )
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")


def test_what_was_undone_in_the_text_is_not_done_again_in_the_view(
    page: Any, server: str, shown: Shown
) -> None:
    """It may be half a word, and no scene."""
    page.goto(f"{server}/#session={create(server)}")
    shown.wait("cardan.pose('near')")
    page.get_by_role("button", name="Open scene").click()
    page.get_by_role("button", name="Insert the shown scene").click()
    page.locator("#scene-text").press("Control+End")
    page.keyboard.type("x")
    page.keyboard.press("Control+z")
    dialog = page.get_by_role("dialog", name="Open a scene")
    playwright_api.expect(dialog.get_by_role("button", name="Redo")).to_be_enabled()
    dialog.get_by_role("button", name="Cancel").click()
    page.locator("#arrange").click()
    bar = page.get_by_role("group", name="Arrange the scene")
    redo = bar.get_by_role("button", name="Redo")
    playwright_api.expect(redo).to_be_disabled()
    page.locator("#stage canvas").focus()
    page.keyboard.press("Control+y")
    # what is moved here is undone and done again as ever
    page.locator("#outline").get_by_role("button", name="far").click()
    field = bar.get_by_role("spinbutton").first
    for press, value in (("", "1.5"), ("Undo", "0"), ("Redo", "1.5")):
        if press:
            bar.get_by_role("button", name=press).click()
        else:
            field.fill(value)
            field.press("Enter")
        playwright_api.expect(field).to_have_value(value)
