"""The page end to end: a real service, a real worker, a real browser that draws in software.

Nothing here depends on frames per second: each step waits for a condition, with a limit.
"""

import json
from typing import Any

import httpx
import pytest

from tests.service.importing.models import BOB, SWING
from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

MAX_DRAW_CALLS = 30

# a stone falls off its hook onto the ground and goes to sleep there
FALLING = {
    "version": 1,
    "name": "falling",
    "simulation": {"dt": 0.002, "duration": 600, "sleeping": {"enabled": True, "time": 0.2}},
    "bodies": [
        {"name": "ground", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "stone", "mass": 1, "position": [0, 0, 0.4],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]},
    ],
    "joints": [{"name": "hook", "type": "fixed", "parent": "world", "child": "stone",
                "breaking_force": 20}],
    "triggers": [{"name": "landing", "when": {"type": "contact", "body": "stone"},
                  "do": [{"op": "apply_force", "body": "stone", "force": [0, 0, -1]}]}],
}  # fmt: skip

# two arms that look alike: what one sees of each is far from what it collides with
WEDGE = {"vertices": [[-0.3, -0.3, 0], [0.3, -0.3, 0], [0, 0.3, 0], [0, 0, 0.3]],
         "faces": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}  # fmt: skip
ROBOT = {
    "version": 1,
    "name": "robot",
    "gravity": [0, 0, 0],
    "simulation": {"dt": 0.002, "duration": 600},
    "meshes": {"arm": WEDGE},
    "bodies": [
        {"name": name, "mass": 1, "position": [x, 0, 0],
         "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1], "position": [0, 0, 0.8]}],
         "visuals": [{"type": "mesh", "mesh": "arm", "color": color},
                     {"type": "sphere", "radius": 0.1, "position": [0, 0.4, 0]}]}
        for name, x, color in (("left", -0.5, "#c04040"), ("right", 0.5, "#4060c0"))
    ],
}  # fmt: skip


def test_an_example_of_the_gallery_opens_and_moves(page: Any, server: str, shown: Shown) -> None:
    page.goto(f"{server}/")
    shown.wait("cardan.sessionId() !== null && cardan.shown().time > 0")
    first = page.evaluate("cardan.sessionId()")
    page.locator("#gallery").get_by_role("button", name="slider-crank").click()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("slider-crank")
    shown.wait("cardan.series(0).values[0].some((kinetic) => kinetic > 0.01)")
    assert "scene=slider-crank" in page.url
    # the session the page made before is closed with its scene
    gone = httpx.get(f"{server}/v1/sessions/{first}", timeout=60)
    assert gone.status_code in (404, 410)


def test_plays_pauses_and_scrubs(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum")
    start = shown.pose("lower")
    shown.wait(f"Math.abs(cardan.pose('lower')[2] - {start[2]}) > 0.01")  # it swings

    shown.pause()
    edge = shown.rest()
    assert edge["state"] == "paused"
    shown.wait(f"cardan.shown().step === {edge['step']}")
    paused = shown.pose("lower")
    told = shown.rest("/state")
    body = told["body_names"].index("lower")
    assert paused[:3] == pytest.approx(told["poses"][body][:3], abs=1e-5)

    # a click in the first third of the timeline: another moment is shown, the run stays where it is
    box = page.locator("#timeline").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)
    shown.wait("cardan.shown().mode === 'history'")
    shown.wait(f"cardan.shown().step < {0.5 * edge['step']}")
    step, drawn = page.evaluate("[cardan.shown().step, cardan.pose('lower')]")
    x, y, z, w, *turn = shown.rest(f"/frames/{step}")["poses"][body]
    assert drawn == pytest.approx([x, y, z, *turn, w], abs=1e-6)
    assert shown.rest()["step"] == edge["step"]
    assert shown.rest()["state"] == "paused"
    expected = page.locator("#run-state")
    playwright_api.expect(expected).to_have_text("history")

    page.get_by_role("button", name="Live").click()
    shown.wait(f"cardan.shown().mode === 'live' && cardan.shown().step === {edge['step']}")
    assert shown.pose("lower") == pytest.approx(paused, abs=1e-6)


def test_replays_the_history_up_to_the_edge(page: Any, shown: Shown) -> None:
    shown.open("box-tower")
    shown.wait("cardan.shown().time > 0.2")
    shown.pause()
    step = shown.rest()["step"]
    page.keyboard.press("Home")
    shown.wait("cardan.shown().mode === 'history' && cardan.shown().step === 0")
    page.get_by_role("button", name="Replay from here").click()
    shown.wait(f"cardan.shown().mode === 'live' && cardan.shown().step === {step}")
    assert shown.rest()["state"] == "paused"


def test_the_keyboard_alone_steers(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum")
    page.keyboard.press("Space")
    shown.wait("cardan.shown().state === 'paused'")
    step = shown.rest()["step"]
    page.keyboard.press("ArrowRight")
    shown.wait(f"cardan.shown().edge.step === {step + 1}")
    page.keyboard.press("Shift+ArrowRight")
    shown.wait(f"cardan.shown().edge.step === {step + 11}")
    page.keyboard.press("Shift+ArrowLeft")
    shown.wait(f"cardan.shown().step <= {step + 1} && cardan.shown().mode === 'history'")
    page.keyboard.press("End")
    shown.wait(f"cardan.shown().mode === 'live' && cardan.shown().step === {step + 11}")
    page.keyboard.press("r")
    shown.wait("cardan.shown().edge.step === 0 && cardan.shown().time === 0")
    assert shown.rest()["epoch"] == 1
    page.keyboard.press("?")
    playwright_api.expect(page.locator("#help-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    playwright_api.expect(page.locator("#help-dialog")).to_be_hidden()


def test_a_scene_of_ones_own_with_faults_then_grabbed(page: Any, shown: Shown) -> None:
    shown.open("heavy-top")
    page.get_by_role("button", name="Open scene").click()
    wrong = json.loads(json.dumps(FLOATING))
    wrong["bodies"][0]["mass"] = -1
    page.locator("#scene-text").fill(json.dumps(wrong, indent=1))
    page.get_by_role("button", name="Check and run").click()
    fault = page.locator("#scene-faults li").first
    playwright_api.expect(fault).to_contain_text("/bodies/0/mass")
    # the place is selected in the text
    assert page.evaluate("cardan.editor()")["selected"] == "-1"

    page.locator("#scene-text").fill(json.dumps(FLOATING))
    page.get_by_role("button", name="Check and run").click()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("floating")
    shown.wait("cardan.shown().time > 0.1 && cardan.pose('far')")

    def away() -> float:
        told = shown.rest("/state")
        x, y, z = told["poses"][told["body_names"].index("far")][:3]
        return float((x**2 + (y - 2) ** 2 + z**2) ** 0.5)

    assert away() == 0
    at = page.evaluate("cardan.screen('far')")
    page.keyboard.down("Control")
    page.mouse.move(at["x"], at["y"])
    page.mouse.down()
    playwright_api.expect(page.locator("#grab-force")).to_be_visible()
    # away from the other body: on a slow machine it is pulled for long, and must not meet it
    other = page.evaluate("cardan.screen('near')")
    across, down = at["x"] - other["x"], at["y"] - other["y"]
    share = 60 / max(abs(across), abs(down))
    page.mouse.move(at["x"] + share * across, at["y"] + share * down, steps=4)
    shown.wait("parseFloat(document.getElementById('grab-force').textContent) > 0")
    assert page.locator("#grab-force").text_content().endswith("N")
    assert shown.rest("/state")["grab"] is not None
    shown.wait("Math.hypot(cardan.pose('far')[0], cardan.pose('far')[1] - 2) > 0.05")
    page.mouse.up()
    page.keyboard.up("Control")
    playwright_api.expect(page.locator("#grab-force")).to_be_hidden()
    assert shown.rest("/state")["grab"] is None
    assert away() > 0.05
    assert page.evaluate("cardan.pose('near')")[:3] == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_robot_with_its_mesh_becomes_a_scene(page: Any, shown: Shown) -> None:
    shown.open("double-pendulum")
    page.get_by_role("button", name="Open scene").click()
    page.get_by_label("Add a ground").check()
    page.locator("#scene-file").set_input_files(
        [
            {"name": "swing.xml", "mimeType": "application/xml", "buffer": SWING.encode()},
            {"name": "bob.obj", "mimeType": "text/plain", "buffer": BOB.encode()},
        ]
    )
    playwright_api.expect(page.locator("#scene-faults")).to_contain_text("convex hulls")
    assert '"name": "swing"' in page.evaluate("cardan.editor()")["text"]
    page.get_by_role("button", name="Check and run").click()
    playwright_api.expect(page.locator("#scene-name")).to_have_text("swing")
    shown.wait("cardan.shown().time > 0")


def test_a_robot_is_shown_by_its_visuals(page: Any, shown: Shown) -> None:
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": ROBOT, "paused": True}, timeout=60
    )
    made.raise_for_status()
    page.set_viewport_size(SMALL)
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.shown().state === 'paused' && cardan.stats().triangles > 0")
    # a click on the wedge, where no shape is
    place = page.evaluate("cardan.screen('right')")
    page.mouse.click(place["x"], place["y"] - 2)
    playwright_api.expect(page.locator("#inspector")).to_contain_text("right")
    page.keyboard.press("Escape")
    # one call each for the ground, both balls and both wedges
    shown.wait("cardan.stats().calls === 3")
    page.keyboard.press("g")
    # and one for both boxes
    shown.wait("cardan.stats().calls === 4")
    page.keyboard.press("g")
    shown.wait("cardan.stats().calls === 3")


def test_selecting_in_the_outline_fills_the_inspector(page: Any, shown: Shown) -> None:
    shown.open("slider-crank")
    page.get_by_label("Search bodies and joints").fill("crank")
    page.locator("#outline").get_by_role("button", name="crank").click()
    inspector = page.locator("#inspector")
    playwright_api.expect(inspector).to_contain_text("0.2000 kg")
    page.get_by_label("Search bodies and joints").fill("main")
    page.locator("#outline").get_by_role("button", name="main").click()
    playwright_api.expect(inspector).to_contain_text("rad/s")

    motor = page.locator("#motors input").first
    motor.focus()
    page.keyboard.press("Home")  # the smallest target of the slider
    # the command is in the log once the simulation has accepted it
    page.wait_for_function(
        """async () => {
          const log = await fetch(`/v1/sessions/${cardan.sessionId()}/commands`);
          return (await log.text()).includes("set_motor");
        }"""
    )


@pytest.mark.parametrize("code", [3000, 4408])
def test_a_lost_socket_comes_back(page: Any, shown: Shown, code: int) -> None:
    """Also one that the server has closed since the page was too busy to say hello in time."""
    last = "said.filter((text) => text.includes('\"%s\"')).at(-1)"
    shown.open("double-pendulum")
    # what a slow page shows first need not have come through the socket: nothing to go on from
    shown.wait(last % "ack")
    acknowledged = json.loads(page.evaluate(last % "ack"))["sequence"]
    hellos = "said.filter((text) => text.includes('\"hello\"')).length"
    # a socket may be open before the page has heard so and says hello
    once_more = 1 + page.evaluate(hellos)
    page.evaluate("(code) => sockets.at(-1).close(code, 'lost for a test')", code)
    shown.wait(f"{hellos} >= {once_more} && sockets.at(-1).readyState === 1")
    hello = json.loads(page.evaluate(last % "hello"))
    assert hello["resume"]["sequence"] >= acknowledged
    before = shown.now()["step"]
    shown.wait(f"cardan.shown().step > {before}")


def test_a_hidden_page_asks_for_no_poses(page: Any, shown: Shown) -> None:
    shown.open("box-tower")
    hide = "Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s});"
    changed = "document.dispatchEvent(new Event('visibilitychange'));"
    asked = "JSON.parse(said.filter((text) => text.includes('\"subscribe\"')).at(-1)).channels"
    page.evaluate(hide % "true" + changed)
    assert "poses" not in page.evaluate(asked)
    # nobody else may collect what happens meanwhile
    assert "events" in page.evaluate(asked)
    page.evaluate(hide % "false" + changed)
    assert "poses" in page.evaluate(asked)


def test_two_hundred_bodies_are_few_draw_calls(page: Any, shown: Shown) -> None:
    # software draws a heap slowly: a small picture, everything on from the start, and few frames
    page.set_viewport_size({"width": 940, "height": 420})
    overlays = dict.fromkeys(("contacts", "normals", "forces", "joints", "centers"), True)
    keep = f"localStorage.setItem('cardan.overlays', '{json.dumps(overlays)}')"
    page.add_init_script(f"if (location.host) {keep}")
    shown.open("pile", paused=True)
    shown.post("step", n=450)
    shown.wait("cardan.shown().step === 450 && cardan.series(2).times.length > 0")
    page.locator("#outline").get_by_role("button", name="box-1 ").first.click()
    shown.wait("cardan.stats().calls > 8")
    stats = page.evaluate("cardan.stats()")
    assert stats["calls"] <= MAX_DRAW_CALLS, stats
    energy = page.evaluate("cardan.series(0)")
    kinetic, potential, total, _ = (column[-1] for column in energy["values"])
    assert total == pytest.approx(kinetic + potential, rel=1e-9)


def test_the_verification_report_is_shown_and_printed(page: Any, server: str, shown: Shown) -> None:
    report = httpx.get(f"{server}/v1/verification", timeout=60).json()
    shown.open("double-pendulum")
    page.get_by_role("button", name="Verification").click()
    dialog = page.locator("#verification-dialog")
    rows = sum(len(section["rows"]) for section in report["sections"])
    playwright_api.expect(dialog.locator("#verification-note")).to_contain_text(f"{rows} checks")
    playwright_api.expect(dialog.locator("tbody tr")).to_have_count(rows)
    joints = dialog.locator("details[data-section=joints]")
    joints.locator("summary").click()
    playwright_api.expect(joints.get_by_role("cell", name="Revolute_Case01")).to_be_visible()
    picture = joints.get_by_role("img", name="Position errors")
    picture.scroll_into_view_if_needed()
    playwright_api.expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("(img) => img.naturalWidth") > 100
    # on paper alone, from its first to its last line, dark on white
    page.emulate_media(media="print")
    assert dialog.evaluate("(one) => one.clientHeight >= one.scrollHeight && one.scrollTop === 0")
    assert dialog.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#stage").is_hidden()
    close = dialog.get_by_role("button", name="Close")
    assert close.is_hidden()
    page.emulate_media(media="screen")
    close.click()
    playwright_api.expect(dialog).to_be_hidden()


def test_a_dead_address_is_told_in_words(tab: Any, server: str) -> None:
    tab.route("**/v1/sessions", lambda route: route.abort())
    tab.goto(f"{server}/#scene=incline")
    alert = tab.get_by_role("alert")
    playwright_api.expect(alert).to_contain_text("does not answer")


def test_contacts_breaks_and_sleep_are_shown(page: Any, shown: Shown) -> None:
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": FALLING, "paused": True}, timeout=60
    )
    made.raise_for_status()
    session = made.json()["id"]
    page.goto(f"{shown.server}/#session={session}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.shown().state === 'paused'")
    listed = page.locator("#happenings li")
    playwright_api.expect(listed).to_have_text("None yet.")
    # a push of one step is more than the hook holds
    shown.post("apply_force", body="stone", force=[0, 0, -100])
    shown.post("step", n=1)
    playwright_api.expect(page.locator("#happenings [data-kind=break]")).to_contain_text(
        "hook broke"
    )
    playwright_api.expect(page.locator("#messages")).to_contain_text("hook broke at 0.002 s")
    shown.wait("cardan.flashes().break === 1")
    page.locator("[data-overlay=events]").uncheck()
    shown.post("step", n=400)
    shown.wait("cardan.shown().step === 401")
    fired = page.locator("#happenings [data-kind=trigger]")
    playwright_api.expect(fired).to_contain_text("landing fired")
    assert page.locator("#markers [data-type=trigger]").count() == 1
    touches = page.locator("#happenings [data-kind=begin]").first
    playwright_api.expect(touches).to_contain_text("stone touches ground")
    assert page.evaluate("cardan.flashes()") == {"begin": 0, "break": 1}
    shown.wait("cardan.asleep('stone') && !cardan.asleep('ground')")
    assert shown.rest("/state")["asleep"] == [False, True]
    shown.post("apply_impulse", body="stone", impulse=[0, 0, 2])
    shown.post("step", n=2)
    shown.wait("!cardan.asleep('stone')")
