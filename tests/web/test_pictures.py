"""Pictures of the page: those of the gallery are what the page draws, within a tolerance.

`CARDAN_KEEP_SCREENSHOT=1` renews them (web/pictures) and docs/images/page.webp.
"""

import base64
import io
import json
import os
from typing import Any

import numpy as np
import pytest

from cardan.schemas.examples import example_document, example_names
from tests.web.conftest import ROOT, WEB
from tests.web.shown import Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

pytestmark = [pytest.mark.e2e, pytest.mark.painted]

keeping = pytest.mark.skipif(
    os.environ.get("CARDAN_KEEP_SCREENSHOT") != "1", reason="CARDAN_KEEP_SCREENSHOT is not 1"
)
PICTURES, IMAGES = WEB / "pictures", ROOT / "docs" / "images"
# of brightness 0 to 255: the mean, and what a twentieth of the pixels may differ by
MEAN, OFTEN = 4.0, 16.0
# of the animation: simulated seconds between two pictures, pictures, width [px]
PERIOD, PERIODS, WIDTH = 0.06, 50, 880


def painted(tab: Any, scene: dict[str, Any], theme: str) -> bytes:
    """The page's own picture of a scene, as WebP."""
    url = tab.evaluate("([scene, theme]) => cardan.paint(scene, theme)", [scene, theme])
    kind, _, text = url.partition(",")
    assert kind == "data:image/webp;base64"
    return base64.b64decode(text)


def pixels(data: bytes) -> np.ndarray:
    """(height, width, 3) of 0 to 255, over grey where the picture is transparent."""
    drawn = image.open(io.BytesIO(data)).convert("RGBA")
    under = image.new("RGBA", drawn.size, (128, 128, 128, 255))
    return np.asarray(image.alpha_composite(under, drawn).convert("RGB"), float)


@pytest.mark.parametrize("name", ["slider-crank", "pile", "robot-arm", "terrain"])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_gallery_shows_what_the_page_draws(
    tab: Any, server: str, name: str, theme: str
) -> None:
    tab.goto(f"{server}/")
    Shown(tab, server).wait("cardan.sessionId() !== null")
    drawn = pixels(painted(tab, example_document(name), theme))
    stored = pixels((PICTURES / f"{name}-{theme}.webp").read_bytes())
    assert drawn.shape == stored.shape
    difference = np.abs(drawn - stored).max(axis=2)
    assert difference.mean() < MEAN
    assert np.quantile(difference, 0.95) < OFTEN
    # and it is the picture of this scene: that of another one is farther away
    other = pixels((PICTURES / f"incline-{theme}.webp").read_bytes())
    assert np.abs(drawn - other).max(axis=2).mean() > 2.0 * difference.mean()


@keeping
def test_keeps_an_animation(page: Any, shown: Shown) -> None:
    """The pile falls, step by step: what is drawn does not depend on how fast it is drawn."""
    shown.open("pile", paused=True)
    page.get_by_role("button", name="Frame").click()
    n = round(PERIOD / example_document("pile")["simulation"].get("dt", 0.001))
    frames = []
    for k in range(PERIODS):
        frame = image.open(io.BytesIO(page.screenshot())).convert("RGB")
        frames.append(frame.resize((WIDTH, round(frame.height * WIDTH / frame.width))))
        shown.post("step", n=n)
        shown.wait(f"cardan.shown().step === {n * (k + 1)}")
    first, rest = frames[0], frames[1:]
    kept = {"duration": round(1000 * PERIOD), "loop": 0, "quality": 55, "method": 6}
    first.save(IMAGES / "page.webp", save_all=True, append_images=rest, **kept)
    assert 100_000 < (IMAGES / "page.webp").stat().st_size < 3_000_000


@keeping
def test_keeps_the_pictures_of_the_gallery(tab: Any, server: str) -> None:
    tab.goto(f"{server}/")
    Shown(tab, server).wait("cardan.sessionId() !== null")
    PICTURES.mkdir(exist_ok=True)
    compared = json.loads((WEB / "comparisons.json").read_text())["comparisons"]
    scenes = {name: example_document(name) for name in example_names()}
    scenes |= {one["name"]: one["scene"] for one in compared}
    for name, scene in scenes.items():
        for theme in ("dark", "light"):
            (PICTURES / f"{name}-{theme}.webp").write_bytes(painted(tab, scene, theme))
