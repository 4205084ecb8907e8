"""What the view shows when asked: names, forces of motors, solver errors; and failures."""

import copy
from typing import Any

import httpx
import pytest

from tests.web.modules import run_module
from tests.web.shown import SMALL, Shown
from tests.web.test_runs import WHEEL
from tests.web.test_work import BROKEN

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# how far the middle of the only name is from its body, along the page or down [px]
OFF_ITS_BODY = """(name) => {
  const at = cardan.screen(name);
  const box = document.querySelector(".labels span").getBoundingClientRect();
  return Math.max(Math.abs(box.x + box.width / 2 - at.x), Math.abs(box.y + box.height / 2 - at.y));
}"""
RESIDUALS = "return residualsOf(input, true);"
# a box that slides, and one that stands and is pulled less than friction holds
BOXES: dict[str, Any] = {
    "version": 1,
    "name": "boxes",
    "simulation": {"dt": 0.002, "duration": 60},
    "bodies": [
        {"name": "ground", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        *(
            {"name": name, "mass": 1, "position": [x, 0, 0.1], "linear_velocity": [speed, 0, 0],
             "shapes": [{"type": "box", "size": [0.4, 0.4, 0.2]}]}
            for name, x, speed in (("slides", 0, 2), ("stands", -1, 0))
        ),
    ],
    "forces": [{"type": "wrench", "body": "stands", "force": [0.5, 0.2, 0]}],
}  # fmt: skip


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


def create(server: str, scene: Any) -> str:
    made = httpx.post(f"{server}/v1/sessions", json={"scene": scene, "paused": True}, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def test_residuals_are_what_rows_miss_of_their_laws(node: str, server: str) -> None:
    session = create(server, BOXES)
    url = f"{server}/v1/sessions/{session}"
    httpx.post(f"{url}:step", json={"n": 20}, timeout=60).raise_for_status()
    rows = httpx.get(f"{url}/problem", timeout=60).json()["rows"]
    httpx.delete(url, timeout=60)

    def residuals(changed: list[dict[str, Any]]) -> list[float]:
        return list(run_module(node, "residuals.js", "residualsOf", RESIDUALS, changed))

    assert {row["body_b"] for row in rows} == {"slides", "stands"}
    assert max(residuals(rows)) < 1e-9
    # something slides: its velocity is no residual
    slide = next(i for i, row in enumerate(rows) if abs(row["w"]) > 1)
    assert rows[slide]["kind"] == "tangent"
    assert rows[slide]["body_b"] == "slides"
    # the same along the impulse would be one, and so is a normal that misses its zero
    changed = copy.deepcopy(rows)
    changed[slide]["w"] *= -1
    carried = max(range(len(rows)), key=lambda i: rows[i]["lam"] * (rows[i]["kind"] == "normal"))
    changed[carried]["w"] = 1e-3
    found = residuals(changed)
    assert found[slide] == pytest.approx(abs(rows[slide]["w"]), rel=1e-6)
    assert found[carried] == pytest.approx(1e-3)
    # a contact that opens has none
    free = [{**rows[carried], "lam": 0.0, "w": 0.7}]
    assert residuals(free) == [0.0]


def test_solver_errors_colour_what_they_act_on(page: Any, server: str, shown: Shown) -> None:
    scene = copy.deepcopy(BOXES)
    scene["bodies"].append(
        {"name": "flies", "mass": 1, "position": [0, 0, 9],
         "shapes": [{"type": "sphere", "radius": 0.2}]}
    )  # fmt: skip
    page.goto(f"{server}/#session={create(server, scene)}")
    shown.wait("sockets.at(-1)?.readyState === 1")
    shown.post("step", n=20)
    shown.wait("cardan.shown().step === 20")
    page.locator("[data-overlay=heat]").check()
    legend = page.locator(".heat-legend")
    playwright_api.expect(legend).to_contain_text("largest")
    shown.wait("cardan.heat()?.[1] !== undefined")
    _, slides, stands, flies = page.evaluate("cardan.heat()")
    assert slides is not None
    assert stands is not None
    assert flies is None
    page.locator("[data-overlay=heat]").uncheck()
    playwright_api.expect(legend).to_be_hidden()
    shown.wait("cardan.heat() === null")


def test_names_and_forces_of_motors_are_drawn(page: Any, server: str, shown: Shown) -> None:
    scene = {**WHEEL, "bodies": [{**WHEEL["bodies"][0], "name": "a wheel by name"}]}
    scene["joints"] = [{**WHEEL["joints"][0], "child": "a wheel by name"}]
    page.goto(f"{server}/#session={create(server, scene)}")
    shown.wait("sockets.at(-1)?.readyState === 1")
    page.locator("#stage canvas").focus()
    page.keyboard.press("d")
    label = page.locator(".labels span")
    playwright_api.expect(label).to_have_text("a wheel by name")
    # panes may still move, and names move with the next picture
    shown.wait(f"({OFF_ITS_BODY})('a wheel by name') < 2")
    page.keyboard.press("k")
    shown.post("set_motor", joint="axle", target=-2)
    shown.post("step", n=1)  # the motor turns it round
    shown.wait("cardan.drawn().drives === 1")
    page.keyboard.press("k")
    shown.wait("cardan.drawn().drives === 0")


def test_a_failed_run_is_marked_where_it_failed(page: Any, server: str, shown: Shown) -> None:
    """Its forces are shown too, without becoming what this browser shows of other scenes."""
    wait = {"Prefer": "wait=30"}
    made = httpx.post(f"{server}/v1/simulations", json={"scene": BROKEN}, headers=wait, timeout=120)
    made.raise_for_status()
    page.goto(f"{server}/#run={made.json()['id']}")
    playwright_api.expect(page.locator(".labels .failure")).to_have_text("failed here")
    playwright_api.expect(page.locator("[data-overlay=forces]")).to_be_checked()
    page.locator("#stage canvas").focus()
    page.keyboard.press("Home")
    playwright_api.expect(page.locator(".labels .failure")).to_have_count(0)
    page.reload()
    page.goto(f"{server}/#session={create(server, BOXES)}")
    shown.wait("cardan.pose('stands')")
    playwright_api.expect(page.locator("[data-overlay=forces]")).not_to_be_checked()
