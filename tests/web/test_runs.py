"""Runs that fail, end or are not there; scenes others look at; what the page subscribes to."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context, serving
from tests.web.shown import FLOATING, PATIENCE, SMALL, SPY, Shown, ended

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

SHORT = {**FLOATING, "name": "short", "simulation": {"dt": 0.002, "duration": 0.2}}
# two balls that fly apart for good
APART = {
    **FLOATING,
    "name": "apart",
    "bodies": [
        {"name": "left", "mass": 1, "position": [-0.3, 0, 0], "linear_velocity": [-1, 0, 0],
         "shapes": [{"type": "sphere", "radius": 0.2}]},
        {"name": "right", "mass": 1, "position": [0.3, 0, 0], "linear_velocity": [1, 0, 0],
         "shapes": [{"type": "sphere", "radius": 0.2}]},
    ],
}  # fmt: skip
# a wheel with a motor
WHEEL: dict[str, Any] = {
    "version": 1,
    "name": "wheel",
    "simulation": {"dt": 0.002, "duration": 600},
    "bodies": [
        {"name": "wheel", "mass": 1, "shapes": [{"type": "sphere", "radius": 0.2}]},
    ],
    "joints": [{"name": "axle", "type": "hinge", "parent": "world", "child": "wheel",
                "anchor": [0, 0, 0], "axis": [0, 1, 0],
                "motor": {"type": "velocity", "target": 1.5, "max_force": 20}}],
}  # fmt: skip


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


@pytest.fixture
def tab(tab: Any) -> Any:
    tab.set_viewport_size(SMALL)
    return tab


def create(server: str, scene: Any, **more: Any) -> str:
    made = httpx.post(f"{server}/v1/sessions", json={"scene": scene, **more}, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def test_a_run_that_failed_before_anybody_looked_says_why(page: Any, shown: Shown) -> None:
    table = {"times": [0, 0.01, 0.02], "values": [[0, 0, 0], [0, 0, 0], [1e40, 0, 0]]}
    scene = {**FLOATING, "forces": [{"type": "wrench", "body": "near", "force": table}]}
    session = create(shown.server, scene)
    url = f"{shown.server}/v1/sessions/{session}:step"
    httpx.post(url, json={"n": 20}, timeout=60)
    info = httpx.get(f"{shown.server}/v1/sessions/{session}", timeout=60).json()
    assert info["state"] == "failed"
    page.goto(f"{shown.server}/#session={session}")
    message = page.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("The simulation failed")
    playwright_api.expect(message).to_contain_text(info["failure"]["message"])
    playwright_api.expect(message).to_have_count(1)
    shown.wait("cardan.shown().state === 'failed'")
    # the last moment at which the body was still there
    shown.wait("cardan.shown().mode === 'history' && cardan.shown().step === 5")
    # it can be started again
    page.get_by_role("button", name="Reset to the start").click()
    shown.wait("cardan.shown().state === 'paused'")


def test_a_stored_run_says_when_it_failed(page: Any, shown: Shown) -> None:
    """Which may be after the last moment that was recorded."""
    force = {"type": "wrench", "body": "near", "force": [1e40, 0, 0]}
    wanted = {"scene": {**SHORT, "forces": [force]}}
    made = ended(shown.server, "simulations", wanted)
    assert (made["status"], made["step"]) == ("failed", 1)
    page.goto(f"{shown.server}/#run={made['id']}")
    message = page.locator("#messages .message b")
    playwright_api.expect(message).to_have_text("The simulation failed at 0.002 s")
    url = f"{shown.server}{made['links']['self']}"
    httpx.delete(url, timeout=60).raise_for_status()


def test_what_ended_early_says_why(page: Any, shown: Shown) -> None:
    """A run that took too long and a batch that was stopped: their results look like others."""
    endless = {**FLOATING, "simulation": {"dt": 0.001, "duration": 10_000}}
    made = ended(shown.server, "simulations", {"scene": endless, "timeout_s": 1})
    assert made["status"] == "timed_out"
    # whose last label has exponents
    masses = [{"/bodies/0/mass": mass} for mass in (1e-9, 1.5e-9)]
    runs = [{"/gravity": [1e40, 0, 0]}, *masses]
    wanted = {"scene": SHORT, "name": "stopped", "mode": "list", "runs": runs, "on_failure": "stop"}
    batch = ended(shown.server, "batches", wanted)
    page.goto(f"{shown.server}/#run={made['id']}")
    words = f"The run ended early, at step {made['step']} of 10000000. {made['error']['message']}"
    playwright_api.expect(page.locator("#messages")).to_contain_text(words)
    page.get_by_role("button", name="Runs").click()
    row = page.locator("#runs-dialog li", has_text="stopped")
    playwright_api.expect(row).to_contain_text(batch["error"]["message"])
    row.get_by_role("button", name="Open the batch").click()
    plot = page.locator("#runs-dialog .scatter")
    playwright_api.expect(plot.locator("text").first).to_be_visible()
    # no label is cut off
    over = """(plot) => [...plot.querySelectorAll("text")].map((text) =>
      text.getBBox().x + text.getBBox().width - plot.viewBox.baseVal.width)"""
    assert max(plot.evaluate(over)) <= 0


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"channels": ["energy"]}, "The poses of near, far were not recorded"),
        ({"channels": ["pose"], "bodies": ["near"]}, "The poses of far were not recorded"),
        ({"channels": ["pose"]}, ""),
    ],
)
def test_bodies_that_stand_for_want_of_poses_are_named(
    page: Any, shown: Shown, record: dict[str, Any], words: str
) -> None:
    scene = {**FLOATING, "simulation": {"dt": 0.01, "duration": 0.1}, "record": record}
    made = ended(shown.server, "simulations", {"scene": scene})
    assert made["status"] == "succeeded"
    page.goto(f"{shown.server}/#run={made['id']}")
    playwright_api.expect(page.locator("#run-state")).to_have_text("stored run")
    if words:
        playwright_api.expect(page.locator("#messages")).to_contain_text(words)
    else:
        playwright_api.expect(page.locator("#messages")).to_be_empty()


def test_a_message_says_each_fault_once(tab: Any, server: str) -> None:
    tab.goto(f"{server}/#scene=incline")
    shown = Shown(tab, server)
    shown.wait("cardan.sessionId() !== null")
    problem = tab.evaluate(
        """async () => {
          const sent = JSON.stringify({ scene: { bodies: [{ name: "a", mass: -1 }] } });
          const headers = { "Content-Type": "application/json" };
          const answer = await fetch("/v1/simulations", { method: "POST", headers, body: sent });
          const { showProblem } = await import("/messages.js");
          const problem = await answer.json();
          showProblem(problem);
          return problem;
        }"""
    )
    message = tab.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("/bodies/0/mass")
    assert problem["errors"][0]["message"] in problem["detail"]
    assert message.text_content().count(problem["errors"][0]["message"].replace("`", "")) == 1
    shown.close()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#session=ses_nobody", ["There is no session 'ses_nobody'", "is shown instead"]),
        ("#scene=cuckoo-clock", ["There is no example “cuckoo-clock”", "is shown instead"]),
        ("#scene=incline&session=ses_nobody", ["no session", "The example “incline” is shown"]),
    ],
)
def test_a_link_to_what_is_not_there_says_so(
    tab: Any, server: str, address: str, words: list[str]
) -> None:
    tab.goto(f"{server}/{address}")
    for text in words:
        playwright_api.expect(tab.locator("#messages")).to_contain_text(text)
    shown = Shown(tab, server)
    shown.wait("cardan.sessionId() !== null")
    shown.close()


def test_another_example_leaves_the_scene_to_those_who_look_at_it(tab: Any, server: str) -> None:
    shown = Shown(tab, server)
    tab.goto(f"{server}/#scene=incline")
    shown.wait("cardan.shown().time > 0")
    session = tab.evaluate("cardan.sessionId()")
    other = tab.context.new_page()
    other.add_init_script(SPY)
    other.goto(f"{server}/#session={session}")
    Shown(other, server).wait(f"cardan.sessionId() === '{session}' && cardan.shown().time > 0")
    assert httpx.get(f"{server}/v1/sessions/{session}", timeout=60).json()["viewers"] == 2
    with tab.expect_response(lambda answer: answer.request.method == "DELETE") as refused:
        tab.locator("#gallery").get_by_role("button", name="slider-crank").click()
    assert refused.value.status == 409
    shown.wait(f"cardan.sessionId() !== '{session}'")
    assert httpx.get(f"{server}/v1/sessions/{session}", timeout=60).status_code == 200
    assert other.evaluate("sockets.at(-1).readyState") == 1
    other.close()
    shown.close()
    httpx.delete(f"{server}/v1/sessions/{session}", timeout=60)


def test_an_example_opens_once_the_server_is_back(tab: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        port = int(address.rpartition(":")[2])
        tab.goto(f"{address}/#scene=incline")
        shown = Shown(tab, address)
        shown.wait("cardan.shown().time > 0")
    tab.locator("#gallery").get_by_role("button", name="slider-crank").click()
    playwright_api.expect(tab.locator("#messages")).to_contain_text("does not answer")
    playwright_api.expect(tab.locator("#scene-name")).to_have_text("incline")
    # that the run before has lost its connection, too, takes nothing away
    shown.wait("sockets.length > 5")
    with serving(tmp_path, port):
        tab.get_by_role("button", name="Try again").click()
        playwright_api.expect(tab.locator("#scene-name")).to_have_text("slider-crank")
        shown.wait("cardan.shown().time > 0")


def test_contacts_are_sent_only_while_something_shows_them(page: Any, shown: Shown) -> None:
    channels = "JSON.parse(said.filter((text) => text.includes('\"subscribe\"')).at(-1)).channels"
    shown.open("box-tower")
    shown.wait("cardan.series(2).times.length > 3")  # the plot of contacts is of the solver
    asked = page.evaluate(channels)
    assert "contacts" not in asked
    assert "joints" not in asked
    page.locator("[data-overlay=forces]").check()
    shown.wait(f"'contacts' in {channels}")
    # by keyboard: what is shown now moves the panes, and a click may miss
    page.locator("[data-overlay=forces]").press("Space")
    shown.wait(f"!('contacts' in {channels})")
    page.locator("#outline").get_by_role("button", name="box").first.click()
    shown.wait(f"'contacts' in {channels}")
    playwright_api.expect(page.locator("#inspector")).to_contain_text("Normal forces")
    # also of a moment of the history that was kept with them
    since = shown.now()["step"]
    shown.wait(f"cardan.contacts() > 0 && cardan.shown().step > {since + 60}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    shown.wait("cardan.shown().mode === 'history'")
    page.keyboard.press("Escape")
    shown.wait(f"!('contacts' in {channels}) && cardan.contacts() === null")
    page.locator("[data-overlay=contacts]").check()
    shown.wait("cardan.contacts() !== null && cardan.shown().mode === 'history'")


def test_gravity_that_a_trigger_sets_is_shown(page: Any, shown: Shown) -> None:
    do = [{"op": "gravity", "value": [0, 0, -1.62]}]
    trigger = {"name": "on the moon", "when": {"type": "time", "at": 0.01}, "do": do}
    session = create(shown.server, {**FLOATING, "triggers": [trigger]}, paused=True)
    page.goto(f"{shown.server}/#session={session}")
    inspector = page.locator("#inspector")
    playwright_api.expect(inspector).to_contain_text("0.00 m/s²")
    shown.wait("cardan.pose('far')")
    shown.post("step", n=10)
    playwright_api.expect(inspector).to_contain_text("1.62 m/s²")
    # also to those who come later
    page.reload()
    playwright_api.expect(inspector).to_contain_text("1.62 m/s²")


def test_the_motor_panel_says_what_is_true(page: Any, shown: Shown) -> None:
    session = create(shown.server, WHEEL, paused=True)
    page.goto(f"{shown.server}/#session={session}")
    shown.wait("sockets.at(-1)?.readyState === 1")
    said = page.locator("#motors output")
    playwright_api.expect(said).to_have_text("1.500 rad/s")
    slider = page.locator("#motors input")
    slider.focus()
    page.keyboard.press("End")
    playwright_api.expect(said).to_have_text("3 rad/s")
    log = f"/v1/sessions/{session}/commands"
    page.wait_for_function(
        f"async () => (await (await fetch('{log}')).text()).includes('set_motor')"
    )
    # a reload shows what was commanded, a reset what the scene says, and others are followed
    page.reload()
    playwright_api.expect(said).to_have_text("3 rad/s")
    page.get_by_role("button", name="Reset to the start").click()
    playwright_api.expect(said).to_have_text("1.500 rad/s")
    playwright_api.expect(slider).to_have_js_property("value", "1.5")
    shown.post("set_motor", joint="axle", target=-2)
    playwright_api.expect(said).to_have_text("\u22122 rad/s")


def test_a_command_on_a_finished_run_says_that_nothing_moves(page: Any, shown: Shown) -> None:
    session = create(shown.server, {**WHEEL, "simulation": SHORT["simulation"]}, paused=False)
    page.goto(f"{shown.server}/#session={session}")
    playwright_api.expect(page.locator("#run-state")).to_have_text("finished")
    shown.wait("sockets.at(-1)?.readyState === 1")
    page.locator("#motors input").focus()
    page.keyboard.press("End")
    playwright_api.expect(page.locator("#messages")).to_contain_text("reached its end at 0.200 s")


def test_follow_widens_when_the_bodies_spread(page: Any, shown: Shown) -> None:
    session = create(shown.server, APART, paused=True)
    page.goto(f"{shown.server}/#session={session}")
    shown.wait("cardan.pose('left') && sockets.at(-1)?.readyState === 1")
    shown.post("step", n=5000)  # 10 s: 20 m apart, where the first view shows 1 m
    shown.wait("cardan.shown().step === 5000")
    box = page.locator("#stage").bounding_box()
    for body in ("left", "right"):
        at = page.evaluate("(name) => cardan.screen(name)", body)
        assert box["x"] < at["x"] < box["x"] + box["width"]
        assert box["y"] < at["y"] < box["y"] + box["height"]


def test_text_that_is_not_json_is_marked_by_line_and_column(page: Any, shown: Shown) -> None:
    shown.open("heavy-top")
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill('{\n  "version": 1,\n  "bodies": [1, 2,]\n}')
    page.get_by_role("button", name="Check and run").click()
    fault = page.locator("#scene-faults li")
    playwright_api.expect(fault).to_contain_text("line 3, column 18")
    playwright_api.expect(fault).to_contain_text("the comma before ] is one too many")
    assert page.evaluate("cardan.editor()")["from"] == 35


def test_a_long_outline_says_what_it_lists(page: Any, shown: Shown) -> None:
    """Five hundred bodies and a joint: the first 399 and the joint."""
    bodies = [
        {"name": f"ball {i}", "mass": 1, "position": [i % 25, i // 25, 0],
         "shapes": [{"type": "sphere", "radius": 0.2}]}
        for i in range(500)
    ]  # fmt: skip
    joint = {"name": "hook", "type": "hinge", "parent": "world", "child": "ball 0",
             "anchor": [0, 0, 0], "axis": [0, 0, 1]}  # fmt: skip
    scene = {**FLOATING, "bodies": bodies, "joints": [joint], "simulation": {"duration": 1}}
    session = create(shown.server, scene)
    page.goto(f"{shown.server}/#session={session}")
    outline = page.locator("#outline")
    playwright_api.expect(outline).to_contain_text("The first 400 of 501 are listed")
    playwright_api.expect(outline.get_by_role("button")).to_have_count(400)
    playwright_api.expect(outline.get_by_role("button", name="hook")).to_have_count(1)


@pytest.fixture
def phone(browser: Any, server: str) -> Any:
    context = new_context(
        browser, viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script(SPY)
    yield tab
    context.close()


def test_on_a_phone_examples_are_a_strip_below_the_plots(phone: Any, server: str) -> None:
    phone.goto(f"{server}/#scene=heavy-top")
    shown = Shown(phone, server)
    shown.wait("cardan.shown().time > 0")
    boxes = {name: phone.locator(f"#{name}").bounding_box() for name in ("gallery", "inspector")}
    assert boxes["gallery"]["y"] < boxes["inspector"]["y"]
    assert boxes["gallery"]["height"] < 200
    # the one that is shown is in sight, and another is one swipe and one tap away
    chosen = phone.locator("#gallery button[aria-current=true]").bounding_box()
    assert chosen["x"] >= 0
    assert chosen["x"] + chosen["width"] <= 390
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.locator("#gallery button", has_text="Dominoes").tap()
    shown.wait("cardan.pose('ground')")
    shown.close()


def test_on_a_phone_a_tap_selects_and_the_page_stays(phone: Any, server: str) -> None:
    bodies = [*FLOATING["bodies"], *({"name": f"x {i}", "type": "static"} for i in range(80))]
    session = create(server, {**FLOATING, "bodies": bodies[::-1]})
    phone.goto(f"{server}/#session={session}")
    shown = Shown(phone, server)
    shown.wait("cardan.pose('far') && sockets.at(-1)?.readyState === 1")
    shown.wait("cardan.screen('far').x > 0")
    at = phone.evaluate("cardan.screen('far')")
    phone.touchscreen.tap(at["x"], at["y"])
    playwright_api.expect(phone.locator("#inspector")).to_contain_text("far")
    chosen = phone.locator("#outline button[aria-pressed=true]")
    playwright_api.expect(chosen).to_have_count(1)
    assert phone.evaluate("scrollY") == 0
    # the list has scrolled to the entry, inside itself
    place = "(() => { const [l, c] = [document.querySelector('#outline'),"
    place += " document.querySelector('#outline [aria-pressed=true]')]"
    place += ".map((e) => e.getBoundingClientRect());"
    place += " return c.top >= l.top - 1 && c.bottom <= l.bottom + 1; })()"
    shown.wait(place)
    shown.close()


def test_a_finger_pulls_a_body(phone: Any, server: str) -> None:
    session = create(server, FLOATING, paused=False)
    phone.goto(f"{server}/#session={session}")
    shown = Shown(phone, server)
    shown.wait("cardan.shown().time > 0")
    phone.get_by_role("button", name="Pull").tap()
    at = phone.evaluate("cardan.screen('far')")
    finger = phone.context.new_cdp_session(phone)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        listed = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": listed})

    touch("touchStart", (at["x"], at["y"]))
    playwright_api.expect(phone.locator("#grab-force")).to_be_visible()
    # away from the other body: on a slow machine it is pulled for long, and must not meet it
    other = phone.evaluate("cardan.screen('near')")
    away = (at["x"] - other["x"], at["y"] - other["y"])
    share = 40 / max(map(abs, away))
    touch("touchMove", (at["x"] + share * away[0], at["y"] + share * away[1]))
    shown.wait("Math.hypot(cardan.pose('far')[0], cardan.pose('far')[1] - 2) > 0.05")
    touch("touchEnd")
    playwright_api.expect(phone.locator("#grab-force")).to_be_hidden()
    assert shown.rest("/state")["grab"] is None
    assert phone.evaluate("cardan.pose('near')")[:3] == [0, 0, 0]
    shown.close()


def test_a_study_is_listed_and_its_best_scene_opens(page: Any, shown: Shown) -> None:
    """A ball whose speed shall be least: it is found, told, and runs."""
    ball = {
        "name": "ball", "mass": 1, "linear_velocity": [1, 0, 0],
        "shapes": [{"type": "sphere", "radius": 0.2}],
    }  # fmt: skip
    study = {
        "scene": {**SHORT, "name": "slowest", "bodies": [ball]},
        "variables": [{"pointers": ["/bodies/0/linear_velocity/0"], "lower": -1, "upper": 2}],
        "objective": {"type": "signal", "body": "ball", "column": "vx", "reduce": "rms"},
        "max_evaluations": 14,
    }
    made = ended(shown.server, "studies", study)
    assert made["status"] == "succeeded"
    page.goto(f"{shown.server}/#run={made['best']['simulation']}")
    shown.wait("cardan.pose('ball')")
    page.get_by_role("button", name="Runs").click()
    row = page.locator("#runs-dialog li", has_text="slowest").filter(has_text="Best:")
    playwright_api.expect(row).to_contain_text("of at most 14 · nelder mead")
    playwright_api.expect(row).to_contain_text("linear_velocity/0 = ")
    row.get_by_role("button", name="Table").click()
    page.get_by_role("button", name="objective", exact=True).click()
    best = page.locator("#runs-dialog tbody tr").first.get_by_role("button")
    playwright_api.expect(best).to_have_text(str(made["best"]["run"]))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Runs").click()
    row.get_by_role("button", name="Best scene").click()
    playwright_api.expect(page.locator("#runs-dialog")).to_be_hidden()
    shown.wait("cardan.sessionId()?.startsWith('ses')")
    value = made["best"]["values"]["/bodies/0/linear_velocity/0"]
    assert abs(value) < 0.2
    assert shown.rest("/scene")["bodies"][0]["linear_velocity"] == [value, 0, 0]


def test_help_leads_to_the_manual_where_there_is_one(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum")
    manual = httpx.get(f"{shown.server}/v1/version", timeout=60).json()["manual"]
    page.get_by_role("button", name="Keys and help").click()
    links = page.locator("#help-links a")
    playwright_api.expect(links.last).to_have_text("API")
    for link in links.all():
        address = str(link.get_attribute("href"))
        assert httpx.get(f"{shown.server}{address}", timeout=60).status_code == 200, address
    assert (links.count() > 1) == (manual is not None)
