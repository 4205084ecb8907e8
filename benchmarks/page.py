"""Ten thousand moving bodies in the page: when they are seen, and its script a frame.

Created         from the request to the answer: the scene is checked, its session built
Pose, picture   after opening the link: the first pose, the first frame drawn with all of it
Script          of each animation frame, what the page computes itself; the main thread has no more
                for it than 4 ms. Drawing in software takes the other core and longer than that:
                frames a second say nothing here.

Wants Chromium (CARDAN_CHROMIUM or on the PATH) and Playwright, which `make test` brings.
"""

import random
import shutil
import sys
import time
from os import environ
from statistics import median, quantiles
from typing import Any

import httpx

from benchmarks.server import serving

BODIES = 10_000
SECONDS = 60.0
PATIENCE_S = 300.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SPY = """
window.spent = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => ask((now) => {
  const began = performance.now();
  draw(now);
  window.spent.push(performance.now() - began);
});
"""


def scene(count: int) -> dict[str, Any]:
    """Balls and boxes that tumble above a floor, so that every pose changes in every frame."""
    chance = random.Random(1)
    side = round(count**0.5)
    bodies: list[dict[str, Any]] = [
        {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    ]
    for i in range(count):
        box = {"type": "box", "size": [1, 0.6, 0.4]}
        bodies.append({
            "name": f"body {i}",
            "mass": 1,
            "position": [2.0 * (i % side), 2.0 * (i // side), 3],
            "linear_velocity": [0, 0, chance.uniform(0, 3)],
            "angular_velocity": [chance.uniform(-3, 3), 1, 2],
            "shapes": [box if i % 2 else {"type": "sphere", "radius": 0.4}],
        })  # fmt: skip
    simulation = {"dt": 0.01, "duration": 10 * SECONDS}
    return {"bodies": bodies, "gravity": [0, 0, -0.05], "simulation": simulation}


def measure(server: str, browser: str) -> dict[str, float]:
    """Milliseconds of script a frame, seconds of what comes before."""
    from playwright.sync_api import sync_playwright

    began = time.perf_counter()
    made = httpx.post(f"{server}/v1/sessions", json={"scene": scene(BODIES)}, timeout=PATIENCE_S)
    made.raise_for_status()
    found = {"created_s": time.perf_counter() - began}
    session = made.json()["id"]
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=browser, args=SOFTWARE) as chromium,
    ):
        page = chromium.new_page(viewport={"width": 480, "height": 320})
        page.add_init_script(SPY)
        opened = time.perf_counter()
        page.goto(f"{server}/#session={session}")
        _until(page, "window.cardan && cardan.pose('body 1') !== null")
        found["pose_s"] = time.perf_counter() - opened
        _until(page, f"cardan.stats().triangles > {BODIES}")
        found["picture_s"] = time.perf_counter() - opened
        httpx.post(f"{server}/v1/sessions/{session}:resume", timeout=PATIENCE_S).raise_for_status()
        _until(page, "cardan.shown().time > 0")
        page.evaluate("window.spent.length = 0")
        page.wait_for_timeout(1000 * SECONDS)
        spent = page.evaluate("window.spent")
        found["draw_calls"] = page.evaluate("cardan.stats().calls")
    httpx.delete(f"{server}/v1/sessions/{session}", timeout=PATIENCE_S)
    frames = {"frames": len(spent), "script_ms": median(spent)}
    return {**found, **frames, "script_p90_ms": quantiles(spent, n=10)[-1]}


def _until(page: Any, condition: str) -> None:
    """Asks until it holds: the page's policy forbids what would wait inside it."""
    end = time.perf_counter() + PATIENCE_S
    while not page.evaluate(condition):
        if time.perf_counter() > end:
            raise TimeoutError(condition)
        page.wait_for_timeout(20)


def main() -> None:
    """Print the figures of one run."""
    names = [environ["CARDAN_CHROMIUM"]] if "CARDAN_CHROMIUM" in environ else BROWSERS
    browser = next((found for name in names if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser: none of {', '.join(names)} is on the PATH")
    with serving() as server:
        for name, value in measure(server.http, browser).items():
            print(f"{name:16} {value:8.2f}")


if __name__ == "__main__":
    main()
