"""Work that is kept and handed on: stored runs, batches, links, files, plots, commands by name."""

import csv
import io
import json
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import new_context
from tests.web.shown import FLOATING, PATIENCE, SMALL, SPY, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

SHORT = {"/simulation/duration": 0.5}
# a force beyond all numbers takes the second body away at 0.2 s
BROKEN = {
    **FLOATING,
    "name": "broken",
    "simulation": {"dt": 0.002, "duration": 1},
    "forces": [
        {"type": "wrench", "body": "far", "force": {
            "times": [0, 0.2, 0.202], "values": [[0, 0, 0], [0, 0, 0], [1e40, 0, 0]]}}
    ],
}  # fmt: skip
# two boxes that overlap, of which one hangs on nothing
OVERLAP = {
    "version": 1,
    "simulation": {"dt": 0.002, "duration": 1},
    "bodies": [
        {"name": "left", "mass": 1, "shapes": [{"type": "box", "size": [1, 1, 1]}]},
        {"name": "right", "mass": 1, "position": [0.8, 0, 0],
         "shapes": [{"type": "box", "size": [1, 1, 1]}]},
    ],
}  # fmt: skip


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


@pytest.fixture(scope="module")
def runs(server: str) -> dict[str, str]:
    """Ids of a simulation that succeeded, one that failed, and a batch."""

    def post(path: str, body: Any) -> Any:
        answer = httpx.post(
            f"{server}/v1/{path}", json=body, headers={"Prefer": "wait=30"}, timeout=120
        )
        answer.raise_for_status()
        return answer.json()

    good = post(
        "simulations", {"scene": "double-pendulum", "overrides": SHORT, "name": "swings well"}
    )
    bad = post("simulations", {"scene": BROKEN})
    batch = post(
        "batches",
        {"scene": "incline", "name": "slopes", "metrics": ["energy.final", "steps"],
         "variations": {"/material_pairs/1/friction": [0.5, 0.3, 0.4],
                        "/simulation/duration": [0.05]}},
    )  # fmt: skip
    with httpx.Client(timeout=60) as client:
        for kind, made in (("simulations", good), ("simulations", bad), ("batches", batch)):
            info = made
            while info["finished_at"] is None:
                info = client.get(f"{server}/v1/{kind}/{made['id']}").json()
    return {"good": good["id"], "bad": bad["id"], "batch": batch["id"]}


def table(server: str, run: str) -> dict[str, np.ndarray]:
    """The columns of the bodies of a run."""
    url = f"{server}/v1/simulations/{run}/trajectory?format=npz"
    data = httpx.get(url, timeout=60).content
    with np.load(io.BytesIO(data)) as arrays:
        return {
            name.removeprefix("bodies/"): arrays[name]
            for name in arrays
            if name.startswith("bodies/")
        }


def press_in_stage(page: Any, key: str) -> None:
    page.locator("#stage canvas").focus()
    page.keyboard.press(key)


def test_stored_runs_are_listed_and_open_in_the_timeline(
    page: Any, server: str, runs: dict[str, str]
) -> None:
    page.goto(f"{server}/#run={runs['good']}")
    shown = Shown(page, server)
    shown.wait(f"cardan.sessionId() === '{runs['good']}' && cardan.pose('lower')")
    playwright_api.expect(page.locator("#run-state")).to_have_text("stored run")
    # any moment, as it was recorded
    recorded = table(server, runs["good"])
    lower = recorded["body"] == "lower"
    steps = recorded["step"][lower]
    slider = page.locator("#timeline")
    slider.evaluate(
        "(e, step) => { e.value = step; e.dispatchEvent(new Event('input')); }", int(steps[20])
    )
    shown.wait(f"cardan.shown().step === {steps[20]}")
    expected = [recorded[name][lower][20] for name in ("px", "py", "pz", "qx", "qy", "qz", "qw")]
    assert shown.pose("lower") == pytest.approx(expected, abs=1e-6)
    press_in_stage(page, "ArrowLeft")
    shown.wait(f"cardan.shown().step === {steps[19]}")
    # plots have the whole run, a click on a channel pins it
    total = page.evaluate("cardan.series(0)")
    assert total["times"][-1] == pytest.approx(0.5)
    page.locator("#outline").get_by_role("button", name="lower").first.click()
    page.get_by_role("button", name="Velocity [m/s]").click()
    shown.wait("cardan.pinned()[0]?.times.length > 10")
    pinned = page.evaluate("cardan.pinned()")[0]
    assert pinned["times"] == pytest.approx(list(recorded["time"][lower]))
    assert pinned["values"][2] == pytest.approx(list(recorded["vz"][lower]), abs=1e-6)

    # it failed: at its last second, with the body and the reason
    page.get_by_role("button", name="Runs").click()
    dialog = page.get_by_role("dialog", name="Runs")
    playwright_api.expect(dialog).to_contain_text("swings well")
    reason = httpx.get(f"{server}/v1/simulations/{runs['bad']}", timeout=60).json()["error"]
    playwright_api.expect(dialog.locator("li[data-status=failed]")).to_contain_text(
        reason["message"]
    )
    dialog.get_by_role("button", name="Open broken").click()
    playwright_api.expect(dialog).to_be_hidden()
    message = page.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("The simulation failed at 0.2")
    playwright_api.expect(message).to_contain_text(reason["message"])
    playwright_api.expect(page.locator(".inspector-name")).to_have_text("far")
    shown.wait("cardan.shown().time > 0.19")
    page.go_back()
    shown.wait(f"cardan.sessionId() === '{runs['good']}'")


def test_a_batch_is_a_table_to_sort_and_a_plot(
    page: Any, server: str, runs: dict[str, str]
) -> None:
    page.goto(f"{server}/#run={runs['good']}")
    shown = Shown(page, server)
    shown.wait("cardan.sessionId() !== null")
    page.get_by_role("button", name="Runs").click()
    dialog = page.get_by_role("dialog", name="Runs")
    dialog.get_by_role("button", name="Open the batch slopes").click()
    body = dialog.locator("tbody tr")
    playwright_api.expect(body).to_have_count(3)
    header = dialog.get_by_role("columnheader", name="1/friction")
    header.get_by_role("button").click()
    playwright_api.expect(header).to_have_attribute("aria-sort", "ascending")
    order = [row.locator("td").first.inner_text() for row in body.all()]
    assert order == ["1", "2", "0"]
    header.get_by_role("button").click()
    playwright_api.expect(header).to_have_attribute("aria-sort", "descending")
    # the dots lie as the numbers do
    dots = dialog.locator("svg circle")
    playwright_api.expect(dots).to_have_count(3)
    x = [float(dot.get_attribute("cx")) for dot in dots.all()]
    assert (x[0] - x[1]) == pytest.approx(2 * (x[2] - x[1]), abs=1e-6)
    dialog.get_by_role("button", name="Open run 1").click()
    playwright_api.expect(dialog).to_be_hidden()
    shown.wait(f"cardan.sessionId() !== '{runs['good']}' && cardan.pose('slides')")
    playwright_api.expect(page.locator("#run-state")).to_have_text("stored run")


def test_an_address_opens_a_batch(page: Any, server: str, runs: dict[str, str]) -> None:
    page.goto(f"{server}/#batch={runs['batch']}")
    dialog = page.get_by_role("dialog", name="Batch")
    playwright_api.expect(dialog.locator("tbody tr")).to_have_count(3)
    dialog.get_by_role("button", name="Open run 1").click()
    playwright_api.expect(dialog).to_be_hidden()
    Shown(page, server).wait("cardan.sessionId()?.startsWith('sim_') && cardan.pose('slides')")
    playwright_api.expect(page.locator("#run-state")).to_have_text("stored run")


def test_a_moment_is_handed_on(page: Any, shown: Shown, browser: Any, tmp_path: Path) -> None:
    """A link, a picture, a video, numbers, the scene and the run as a script."""
    shown.open("slider-crank")
    shown.wait("cardan.shown().time > 0.3")
    shown.pause()
    page.locator("#outline").get_by_role("button", name="main").click()
    page.get_by_role("button", name="Rate", exact=True).click()
    shown.wait("cardan.pinned()[0]?.title === 'Rate of main [rad/s]'")
    press_in_stage(page, "w")
    page.get_by_role("button", name="View from plus x").press("Enter")
    # what is drawn follows the run a little behind: one step back from what is drawn
    shown.wait("cardan.shown().step === cardan.shown().edge.step")
    step = shown.now()["step"] - 1
    press_in_stage(page, "ArrowLeft")
    shown.wait(f"cardan.shown().mode === 'history' && cardan.shown().step === {step}")

    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Link to this moment").click()
    copied = dialog.get_by_label("What was copied")
    playwright_api.expect(copied).to_be_visible()
    link = copied.input_value()

    def saved(name: str) -> bytes:
        with page.expect_download() as download:
            dialog.get_by_role("button", name=name, exact=True).click()
        path = tmp_path / name
        download.value.save_as(path)
        return path.read_bytes()

    picture = saved("Picture")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 3000
    assert json.loads(saved("Scene")) == shown.rest("/scene")
    rows = list(csv.DictReader(io.StringIO(saved("Numbers").decode())))
    assert {row["coordinate"] for row in rows} == {"0"}
    assert float(rows[-1]["qd"]) == pytest.approx(12.566, abs=0.02)
    dialog.get_by_role("button", name="Start a video").click()
    page.wait_for_timeout(300)
    assert saved("Stop the video")[:4] == b"\x1a\x45\xdf\xa3"

    # somebody else opens the link: the same moment, seen the same way
    context = new_context(browser, viewport=SMALL)
    other = context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(link)
    theirs = Shown(other, shown.server)
    theirs.wait(f"cardan.shown().mode === 'history' && cardan.shown().step === {step}")
    assert theirs.pose("rod") == pytest.approx(shown.pose("rod"), abs=1e-6)
    playwright_api.expect(other.locator(".inspector-name")).to_have_text("main")
    playwright_api.expect(other.locator("[data-overlay=wireframe]")).to_be_checked()
    theirs.wait("cardan.pinned()[0]?.title === 'Rate of main [rad/s]'")
    here = page.evaluate("cardan.screen('rod')")
    for axis in "xy":
        theirs.wait(f"Math.abs(cardan.screen('rod').{axis} - {here[axis]}) < 1")
    context.close()


def test_the_script_runs(page: Any, shown: Shown) -> None:
    """What Share copies as Python is a program that prints a verdict."""
    made = httpx.post(
        f"{shown.server}/v1/sessions",
        json={"scene": {**FLOATING, "simulation": {"dt": 0.002, "duration": 0.02}}},
        timeout=60,
    )
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.sessionId() !== null")
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Python").click()
    script = dialog.get_by_label("What was copied").input_value()
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(script, "script", "exec"), {})
    assert said.getvalue().startswith("trusted")


def test_channels_are_pinned_and_have_tables(page: Any, shown: Shown) -> None:
    page.set_viewport_size({**SMALL, "height": 720})  # lower windows show no plots
    shown.open("double-pendulum")
    page.locator("#outline").get_by_role("button", name="lower").first.click()
    page.get_by_role("button", name="Position [m]").click()
    shown.wait("cardan.pinned()[0]?.times.length > 20")
    shown.pause()
    shown.wait("cardan.pinned()[0].times.at(-1) === cardan.shown().edge.time")
    pinned = page.evaluate("cardan.pinned()")[0]
    assert pinned["title"] == "Position of lower [m]"
    frames = shown.rest("/frames?stride=7")["frames"]
    body = shown.rest("/state")["body_names"].index("lower")
    known = dict(zip(pinned["times"], pinned["values"][2], strict=True))
    compared = [(known[f["time"]], f["poses"][body][2]) for f in frames if f["time"] in known]
    assert len(compared) > 1
    assert all(drawn == pytest.approx(kept, abs=1e-6) for drawn, kept in compared)

    page.get_by_role("button", name="Table and file of Position of lower").click()
    dialog = page.get_by_role("dialog", name="Position of lower")
    playwright_api.expect(dialog.locator("tbody tr").first).to_contain_text("0")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
    assert rows[0] == ["time [s]", "x", "y", "z"]
    # frames of the history may have arrived in between, thinned where the run has lasted long
    told = [float(row[0]) for row in rows[1:]]
    assert told in (pinned["times"], page.evaluate("cardan.pinned()")[0]["times"])
    assert float(rows[-1][3]) == pinned["values"][2][-1]
    dialog.get_by_label("Logarithmic axis").check()
    dialog.get_by_role("button", name="Close").click()
    pressed = page.get_by_role("button", name="Position [m]")
    playwright_api.expect(pressed).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Remove the plot of Position of lower").click()
    shown.wait("cardan.pinned().length === 0")
    playwright_api.expect(pressed).to_have_attribute("aria-pressed", "false")


def test_commands_are_found_by_a_few_letters(page: Any, shown: Shown) -> None:
    shown.open("box-tower")
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search commands")
    search.fill("box-3 body")
    page.keyboard.press("Enter")
    playwright_api.expect(page.locator(".inspector-name")).to_have_text("box-3")
    # a field for searches would empty itself first, and keep what is typed next
    page.keyboard.press("Control+k")
    search.fill("box")
    page.keyboard.press("Escape")
    playwright_api.expect(search).to_be_hidden()
    for key, name in (("b", "boxes"), ("l", "trails"), ("i", "islands"), ("w", "wireframe")):
        press_in_stage(page, key)
        playwright_api.expect(page.locator(f"[data-overlay={name}]")).to_be_checked()
    # the bar says how many newtons its length is: those of the weight that stands on the ground
    page.locator("[data-overlay=forces]").check()
    legend = page.locator("#force-legend")
    playwright_api.expect(legend).to_contain_text("N, largest")
    assert legend.locator("i").bounding_box()["width"] > 10
    assert page.evaluate("cardan.stats()")["calls"] <= 30
    page.keyboard.press("Control+k")
    search.fill("example heavy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    playwright_api.expect(page.locator("#scene-name")).to_have_text("heavy-top")


def test_a_scene_is_judged_before_it_runs(page: Any, shown: Shown) -> None:
    shown.open("heavy-top")
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill(json.dumps(OVERLAP))
    preview = page.locator("#scene-preview")
    playwright_api.expect(preview).to_contain_text("Degrees of freedom12")
    playwright_api.expect(preview).to_contain_text("left and right by 200.0 mm")
    page.locator("#scene-text").fill("{")
    playwright_api.expect(preview).to_be_empty()


def test_what_happened_before_the_page_came_is_shown(page: Any, shown: Shown) -> None:
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": FLOATING, "paused": True}, timeout=60
    )
    session = made.json()["id"]
    url = f"{shown.server}/v1/sessions/{session}"
    push = {"op": "apply_impulse", "body": "near", "impulse": [0, 0, 1]}
    httpx.post(f"{url}/commands", json=push, timeout=60).raise_for_status()
    httpx.post(f"{url}:step", json={"n": 50}, timeout=60).raise_for_status()
    page.goto(f"{shown.server}/#session={session}")
    marks = page.locator("#markers [data-type=command]")
    playwright_api.expect(marks.first).to_have_attribute("title", "apply impulse at step 0")


def test_a_finger_that_rests_pulls_and_one_that_moves_turns(browser: Any, server: str) -> None:
    context = new_context(
        browser, viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True
    )
    phone = context.new_page()
    phone.set_default_timeout(PATIENCE)
    phone.add_init_script(SPY)
    made = httpx.post(
        f"{server}/v1/sessions", json={"scene": FLOATING, "paused": False}, timeout=60
    )
    phone.goto(f"{server}/#session={made.json()['id']}")
    shown = Shown(phone, server)
    shown.wait("cardan.shown().time > 0")
    finger = context.new_cdp_session(phone)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        listed = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": listed})

    # one that moves at once turns the view; on a slow machine it may rest before it moves
    for _ in range(20):
        at, began = phone.evaluate("cardan.screen('far')"), time.monotonic()
        touch("touchStart", (at["x"], at["y"]))
        touch("touchMove", (at["x"] - 60, at["y"]))
        seconds = time.monotonic() - began
        touch("touchEnd")
        if seconds < 0.3:
            break
        playwright_api.expect(phone.locator("#grab-force")).to_be_hidden()
    assert phone.locator("#grab-force").is_hidden()
    shown.wait(f"Math.abs(cardan.screen('far').x - {at['x']}) > 2")
    at = phone.evaluate("cardan.screen('far')")
    touch("touchStart", (at["x"], at["y"]))
    playwright_api.expect(phone.locator("#grab-force")).to_be_visible()
    touch("touchMove", (at["x"] - 40, at["y"] + 40))
    shown.wait("Math.hypot(cardan.pose('far')[0], cardan.pose('far')[1] - 2) > 0.05")
    touch("touchEnd")
    playwright_api.expect(phone.locator("#grab-force")).to_be_hidden()
    shown.close()
    context.close()


def test_another_setting_is_compared_as_a_ghost(page: Any, shown: Shown) -> None:
    """Maximal and joint coordinates: the ghost is where the other run was at this time."""
    made = httpx.post(
        f"{shown.server}/v1/sessions",
        json={"scene": "double-pendulum", "overrides": SHORT, "paused": True},
        timeout=60,
    )
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('lower')")
    shown.post("step", n=200)
    shown.wait("cardan.shown().step === 200")
    page.get_by_role("button", name="Compare", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compare with")
    dialog.get_by_role("button", name="Joint coordinates").click()
    playwright_api.expect(dialog).to_be_hidden()
    playwright_api.expect(page.locator("#compare-words")).to_contain_text("Joint coordinates")
    newest = httpx.get(f"{shown.server}/v1/simulations", timeout=60).json()["items"][0]
    scene = httpx.get(f"{shown.server}/v1/simulations/{newest['id']}/scene", timeout=60).json()
    assert scene["simulation"]["formulation"] == "reduced"
    recorded = table(shown.server, newest["id"])
    lower = recorded["body"] == "lower"
    time = shown.now()["time"]
    expected = [
        np.interp(time, recorded["time"][lower], recorded[k][lower]) for k in ("px", "py", "pz")
    ]
    shown.wait("cardan.ghost('lower')")
    assert page.evaluate("cardan.ghost('lower')") == pytest.approx(expected, abs=1e-6)
    page.get_by_role("button", name="Hide").click()
    shown.wait("cardan.ghost('lower') === null")
