"""Runs handed on: a web page that plays without a server, an animation for other programs."""

import json
import struct
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context
from tests.web.modules import run_module
from tests.web.shown import PATIENCE, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

# a name that would end a script, if it were not made harmless
NAME = "</script><b>pushed"
SCENE: dict[str, Any] = {
    "version": 1,
    "name": NAME,
    "simulation": {"dt": 0.002, "duration": 600},
    "meshes": {"chip": {"vertices": [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0]], "faces": [[0, 1, 2]]}},
    "bodies": [
        {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "box", "mass": 1, "position": [0, 0, 1], "angular_velocity": [1, 2, 3],
         "shapes": [{"type": "box", "size": [0.2, 0.3, 0.4]}]},
        {"name": "ball", "mass": 1, "position": [0.6, 0, 0.5],
         "shapes": [{"type": "sphere", "radius": 0.1}],
         "visuals": [{"type": "mesh", "mesh": "chip"}, {"type": "capsule", "radius": 0.05,
                      "length": 0.1, "color": [1, 0, 0], "opacity": 0.5}]},
    ],
}  # fmt: skip


def started(page: Any, shown: Shown) -> None:
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": SCENE, "paused": True}, timeout=60
    )
    page.set_viewport_size(SMALL)
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('box')")
    shown.post("apply_impulse", body="ball", impulse=[0.5, 0, 1])
    shown.post("step", n=200)
    shown.wait("cardan.shown().edge.step === 200")


def wait(tab: Any, condition: str) -> None:
    """Asked from outside: the policy of the file forbids eval."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not tab.evaluate(f"Boolean(window.cardan && ({condition}))"):
        assert time.monotonic() < deadline, condition
        tab.wait_for_timeout(50)


def saved(page: Any, label: str) -> Path:
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    with page.expect_download() as download:
        dialog.get_by_role("button", name=label).click()
    playwright_api.expect(dialog).to_contain_text("Saved")
    page.keyboard.press("Escape")
    return Path(download.value.path())


@pytest.mark.e2e
def test_a_run_is_a_web_page_that_plays_from_a_file(
    page: Any, shown: Shown, tmp_path: Path
) -> None:
    """Offline, in a browser that has never seen the server; with what was done to the run."""
    started(page, shown)
    file = tmp_path / "run.html"
    file.write_bytes(saved(page, "Web page").read_bytes())
    assert 500_000 < file.stat().st_size < 2_000_000
    states = shown.rest("/frames?from=0&stride=1")["frames"]
    order = shown.rest("/state")["body_names"]
    context = new_context(page.context.browser, viewport=SMALL, offline=True)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("console", lambda text: said.append(text.text) if text.type == "error" else None)
    tab.goto(file.as_uri())
    wait(tab, "cardan.calls() > 0")
    assert tab.locator("h1").text_content() == NAME
    assert tab.title().startswith(NAME)
    # the energy is plotted, as it is in the page, and the line is where the run is
    (plot,) = json.loads(tab.locator("#run").text_content())["plots"]
    kinetic = plot["curves"][0]
    assert (plot["title"], kinetic["label"]) == ("Energy [J]", "kinetic")
    assert plot["times"][-1] == pytest.approx(0.4)
    assert kinetic["values"][-1] == pytest.approx(
        shown.rest("/state")["energy"]["kinetic"], rel=1e-5
    )
    assert tab.locator("#plots path").count() == 4
    # alone it has the width of the window, whatever that is, and is no higher for that
    for width in (1400, SMALL["width"]):
        tab.set_viewport_size({**SMALL, "width": width})
        # it is drawn anew a moment after the window has another size
        box = "document.querySelector('#plots svg').getBoundingClientRect()"
        wait(tab, f"{box}.width > {0.95 * width} && {box}.height > 200 && {box}.height < 260")
    # it plays by itself, to the end
    playwright_api.expect(tab.get_by_role("button", name="Play")).to_be_visible()
    playwright_api.expect(tab.locator("#said")).to_have_text("0.400 s of 0.400 s")
    for state in states[:: max(1, len(states) // 5)]:
        tab.evaluate("(time) => cardan.seek(time)", state["time"])
        for name in ("box", "ball"):
            px, py, pz, qw, qx, qy, qz = state["poses"][order.index(name)]
            drawn = tab.evaluate("(name) => cardan.pose(name)", name)
            assert drawn == pytest.approx([px, py, pz, qx, qy, qz, qw], abs=2e-6)
    tab.get_by_label("Moment shown").fill("0")
    playwright_api.expect(tab.locator("#said")).to_have_text("0.000 s of 0.400 s")
    left = tab.locator("#plots .now").get_attribute("x1")
    tab.locator("#plots svg").click()
    wait(tab, "cardan.time() > 0.1 && cardan.time() < 0.3")
    assert float(tab.locator("#plots .now").get_attribute("x1")) > float(left) + 50
    tab.get_by_role("button", name="Play").click()
    wait(tab, "cardan.time() === 0.4")
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}
    assert said == []
    context.close()


def test_a_page_that_would_be_too_long_has_fewer_moments(node: str) -> None:
    body = "return input.map(([n, room]) => thinned([...Array(n).keys()], room))"
    given = [(5, 10), (10, 10), (11, 10), (95, 10), (1, 2)]
    for (count, room), kept in zip(
        given, run_module(node, "export_html.js", "thinned", body, given), strict=True
    ):
        assert kept["frames"] == list(range(0, count, kept["every"]))
        assert len(kept["frames"]) <= room
        assert kept["every"] == 1 or len(kept["frames"]) > room / 2


@pytest.mark.e2e
def test_a_web_page_follows_what_moves_away(page: Any, shown: Shown, tmp_path: Path) -> None:
    """What was kept at the end of a journey showed an empty floor until the traveller came."""
    traveller = {"name": "box", "mass": 1, "linear_velocity": [50, 0, 0],
                 "shapes": [{"type": "box", "size": [0.2, 0.3, 0.4]}]}  # fmt: skip
    scene = {"version": 1, "gravity": [0, 0, 0], "simulation": {"duration": 600},
             "bodies": [traveller]}  # fmt: skip
    made = httpx.post(
        f"{shown.server}/v1/sessions", json={"scene": scene, "paused": True}, timeout=60
    )
    page.set_viewport_size(SMALL)
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('box')")
    shown.post("step", n=200)
    shown.wait("cardan.shown().step === 200 && cardan.camera()[3] > 5")
    file = tmp_path / "run.html"
    file.write_bytes(saved(page, "Web page").read_bytes())
    context = new_context(page.context.browser, viewport=SMALL, offline=True)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto(file.as_uri())
    wait(tab, "cardan.calls() > 0")
    for moment in (0, 1, 0):
        tab.evaluate("(time) => cardan.seek(time)", moment)
        (at, looked) = tab.evaluate("[cardan.pose('box')[0], cardan.target()[0]]")
        assert abs(at - looked) < 0.5, moment
    assert abs(tab.evaluate("cardan.pose('box')[0]")) < 1e-6
    context.close()


@pytest.mark.e2e
def test_a_run_is_an_animation_for_other_programs(page: Any, shown: Shown) -> None:
    started(page, shown)
    data = saved(page, "glTF animation").read_bytes()
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    assert {"floor", "box", "ball"} <= {node.get("name") for node in document["nodes"]}
    times = document["accessors"][document["animations"][0]["samplers"][0]["input"]]
    assert times["max"][0] == pytest.approx(0.4, abs=1 / 60)
