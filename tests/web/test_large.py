"""Thousands of bodies, long runs, who may only look, how the camera moves, what a floor mirrors."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import new_context, serving
from tests.web.shown import FLOATING, PATIENCE, SMALL, SPY, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# one more than are drawn in full
MANY = 2001
# of a ball, a capsule, a box and a cylinder among thousands
MOST_TRIANGLES = 130
MAX_HEAP_BYTES = 64e6
TINY = {"width": 640, "height": 400}
SHAPES = (
    {"type": "sphere", "radius": 0.2},
    {"type": "box", "size": [0.3, 0.3, 0.3]},
    {"type": "capsule", "radius": 0.1, "length": 0.2},
    {"type": "cylinder", "radius": 0.1, "length": 0.2},
)
CROWD: dict[str, Any] = {
    **FLOATING,
    "name": "crowd",
    "simulation": {"dt": 0.002, "duration": 10},
    "bodies": [
        {"name": f"body {i}", "mass": 1, "position": [i % 50, i // 50, 0],
         "shapes": [SHAPES[i % len(SHAPES)]]}
        for i in range(MANY)
    ],
}  # fmt: skip


def test_a_large_scene_says_how_far_it_is_and_is_drawn_with_few_triangles(
    page: Any, shown: Shown
) -> None:
    page.set_viewport_size(TINY)
    shown.open("incline", paused=True)
    page.get_by_role("button", name="Open scene").click()
    asked: list[Any] = []

    def hold(route: Any) -> None:
        asked.append(route)

    page.route("**/v1/scenes:validate*", hold)
    file = {"name": "crowd.json", "mimeType": "application/json"}
    page.locator("#scene-file").set_input_files([file | {"buffer": json.dumps(CROWD).encode()}])
    page.locator("#scene-run").click()
    # whatever the answer waits for, it says what is done and for how long
    told = page.locator("#scene-dialog .working")
    playwright_api.expect(told).to_contain_text(re.compile(rf"Checking {MANY} bodies… [1-9]\d* s"))
    for route in asked:
        route.continue_()
    shown.wait(f"cardan.pose('body {MANY - 1}')")
    # a text is judged once, by whoever asks first
    assert len(asked) == 1
    shown.wait(f"cardan.stats().triangles > {10 * MANY}")
    stats = page.evaluate("cardan.stats()")
    # drawn once: the sun throws shadows as soon as pictures come quickly
    assert stats["triangles"] < 2 * MOST_TRIANGLES * MANY, stats
    assert stats["calls"] <= 30, stats


def test_a_long_run_keeps_little(page: Any, shown: Shown) -> None:
    """Everything that is collected on the way is bounded: plots, events, trails, frames."""
    page.set_viewport_size(TINY)
    keep = "localStorage.setItem('cardan.overlays', '{\"trails\": true}')"
    page.add_init_script(f"if (location.host) {keep}")
    shown.open("bouncing-balls")
    shown.post("speed", factor=10.0)
    shown.wait("cardan.shown().time > 120 && cardan.series(0).times.length > 200")
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    assert devtools.send("Runtime.getHeapUsage")["usedSize"] <= MAX_HEAP_BYTES


def test_who_has_a_link_looks_and_does_not_steer(browser: Any, tmp_path: Path) -> None:
    secret = "a-secret-of-some-length-for-the-owner"
    headers = {"Authorization": f"Bearer {secret}"}
    with (
        serving(tmp_path / "data", api_key=secret) as address,
        httpx.Client(base_url=f"{address}/v1", timeout=60, headers=headers) as client,
    ):
        made = client.post("/sessions", json={"scene": FLOATING, "paused": True}).json()
        link = client.post(f"/sessions/{made['id']}/shares", json={"name": "a guest"}).json()
        context = new_context(browser, viewport=SMALL)
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.add_init_script(SPY)
        tab.goto(f"{address}{link['url']}")
        shown = Shown(tab, address)
        shown.wait("cardan.pose('far') && sockets.at(-1)?.readyState === 1")
        playwright_api.expect(tab.locator("#role")).to_have_text("View only")
        # what acts on the run is pale, and what is asked for nevertheless is refused
        tab.locator("#stage canvas").focus()
        tab.keyboard.press(" ")
        said = tab.locator("#messages")
        playwright_api.expect(said).to_contain_text("You may watch this run, not steer it.")
        assert client.get(f"/sessions/{made['id']}").json()["state"] == "paused"
        # masses come with the link
        tab.keyboard.press("x")
        shown.wait("cardan.inertias().length === 2 * 12 * 6")
        client.post(f"/sessions/{made['id']}:step", json={"n": 10}).raise_for_status()
        shown.wait("cardan.shown().step === 10")
        # who comes again when the link is over is told so, and may have a key
        client.delete(f"/sessions/{made['id']}/shares/{link['id']}").raise_for_status()
        playwright_api.expect(said).to_contain_text("The session is over")
        tab.reload()
        playwright_api.expect(said).to_contain_text("has expired or was withdrawn")
        said.get_by_role("button", name="Enter a key").click()
        playwright_api.expect(tab.get_by_role("textbox", name="API key")).to_be_focused()
        context.close()
        client.delete(f"/sessions/{made['id']}")


@pytest.mark.painted
def test_a_floor_mirrors_what_stands_on_it(page: Any, shown: Shown) -> None:
    """Where the image of a red ball is seen, the floor is redder than beside it."""
    page.set_viewport_size(SMALL)
    ball = {"type": "sphere", "radius": 0.2, "color": "#ff0000"}
    # down the middle of the image, and beside it
    places = {f"image {k}": [0, 0, -0.05 * k] for k in range(1, 9)}
    places["beside"] = [-0.32, 0, -0.1]
    scene = {
        **FLOATING,
        "bodies": [
            {"name": "floor", "type": "static",
             "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
            {"name": "ball", "mass": 1, "position": [0, 0, 0.25], "shapes": [ball]},
            *({"name": name, "type": "static", "position": at} for name, at in places.items()),
        ],
    }  # fmt: skip
    made = httpx.post(f"{shown.server}/v1/sessions", json={"scene": scene, "paused": True})
    page.goto(f"{shown.server}/#session={made.json()['id']}")
    shown.wait("cardan.pose('ball') && cardan.stats().triangles > 0")
    box = page.locator("#stage canvas").bounding_box()
    seen = [page.evaluate("(name) => cardan.screen(name)", name) for name in places]
    spots = [
        [(at["x"] - box["x"]) / box["width"], 1 - (at["y"] - box["y"]) / box["height"]]
        for at in seen
    ]

    def redder() -> float:
        *image, beside = page.evaluate("(spots) => cardan.colours(spots)", spots)
        return max(r - b for r, _, b, _ in image) - (beside[0] - beside[2])

    # it comes after the first picture
    shown.wait_for(lambda: redder() > 8, "an image in the floor")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_camera_glides_unless_less_motion_is_wanted(
    page: Any, shown: Shown, motion: str
) -> None:
    page.set_viewport_size(TINY)
    page.emulate_media(reduced_motion=motion)
    shown.open("incline", paused=True)
    before = page.evaluate("cardan.camera()")
    # within one task: no picture is drawn between the key and the answer
    at_once = page.evaluate(
        """() => {
          const key = new KeyboardEvent("keydown", { key: "6", bubbles: true });
          document.querySelector("#stage canvas").dispatchEvent(key);
          return cardan.camera();
        }"""
    )
    assert (at_once == before) == (motion == "no-preference")
    turned = f"Math.abs(cardan.camera()[0] - {before[0]}) > 0.05"
    shown.wait(turned)
    # it arrives at the same distance, and stays there
    shown.wait(
        "(([x, y, z, a, b, c]) => Math.abs(Math.hypot(x - a, y - b, z - c) -"
        f" {sum((before[k] - before[k + 3]) ** 2 for k in range(3)) ** 0.5}) < 1e-6)"
        "(cardan.camera())"
    )
