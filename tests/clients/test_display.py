"""A run that a notebook shows, in a real browser and without the server."""

import time

import numpy as np
import pytest
from cardan_client import Client, Problem

from tests.service.real_server import DROP, run_to_end
from tests.web.conftest import browser, chromium, playwright  # noqa: F401
from tests.web.shown import PATIENCE, SMALL

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

# what would end a script or the attribute of the frame, if it were not made harmless
SCENE = {
    **DROP,
    "name": '</script>"><b>{{run}}',
    "meshes": {"chip": {"vertices": [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0]], "faces": [[0, 1, 2]]}},
}
SCENE["bodies"] = [
    *DROP["bodies"][:3],
    {
        **DROP["bodies"][3],
        "angular_velocity": [1, 2, 3],
        "visuals": [{"type": "mesh", "mesh": "chip"}],
    },
]


@pytest.fixture
def client(server):
    with Client(server.url) as made:
        yield made


def test_a_notebook_plays_a_run(client, browser, tmp_path):  # noqa: F811
    result = client.run(SCENE)
    track = client.trajectory(result)
    view = client.display(result, height=300)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><meta charset='utf-8'><body>{view._repr_html_()}</body>")
    context = browser.new_context(viewport=SMALL, offline=True)
    tab = context.new_page()
    asked, said = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("console", lambda text: said.append(text.text) if text.type == "error" else None)
    tab.goto(cell.as_uri())
    shown = tab.frame_locator("iframe")
    # it plays by itself, to the end
    playwright_api.expect(shown.locator("#said")).to_have_text(
        "0.200 s of 0.200 s", timeout=PATIENCE
    )
    assert shown.locator("h1").text_content() == SCENE["name"]
    assert tab.locator("iframe").bounding_box()["height"] == 300
    inside = tab.frames[1]
    until = time.monotonic() + PATIENCE / 1000
    while not inside.evaluate("cardan.calls() > 0"):
        assert time.monotonic() < until
    for frame, at in enumerate(track.times):
        inside.evaluate("(time) => cardan.seek(time)", at)
        for body, name in enumerate(track.bodies):
            px, py, pz, qw, qx, qy, qz = track.poses[frame, body]
            drawn = inside.evaluate("(name) => cardan.pose(name)", name)
            assert np.allclose(drawn, [px, py, pz, qx, qy, qz, qw], atol=2e-6), (name, at)
    assert {url.split(":")[0] for url in asked} <= {"file", "about", "data", "blob"}
    assert said == []
    context.close()


def test_a_page_is_a_file_and_no_larger_than_allowed(client, tmp_path):
    result = client.run(SCENE)
    file = tmp_path / "run.html"
    client.display(result, stride=5).save(file)
    assert 500_000 < file.stat().st_size < 2_000_000
    with pytest.raises(ValueError, match="of which 1000 are allowed; show less"):
        client.display(result, most_bytes=1000)
    still = {**DROP, "record": {"every": 10, "channels": ["energy"]}}
    with pytest.raises(Problem, match="no poses"):
        client.display(client.run(still))


def test_what_is_opened_from_the_service_runs_no_script(server):
    """A scene is the text of a stranger; its page belongs to no origin of the service."""
    with server.client() as http:
        info = run_to_end(http, SCENE)
        answer = http.get(info["links"]["trajectory"], params={"format": "html"})
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
