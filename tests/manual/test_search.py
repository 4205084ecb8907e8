"""The manual in a real browser, served under its policy, with every other host out of reach."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI

from cardan.service import page as pages
from cardan.service.api import problems
from tests.web.conftest import browser, chromium, playwright

__all__ = ["browser", "chromium", "playwright"]

pytestmark = pytest.mark.e2e


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address of an app that is served by a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def manual(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(pages, "files", lambda name: site.parent)
    app = FastAPI()
    problems.install(app)
    pages.mount_manual(app)
    with serving(app) as address:
        yield f"{address}/manual/"


def test_search_formulas_and_their_font_work_without_a_network(browser: Any, manual: str) -> None:
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    context.set_default_timeout(300_000)  # a busy machine is no fault
    tab = context.new_page()
    host = manual.removesuffix("manual/")
    foreign: list[str] = []
    errors: list[str] = []

    def keep_inside(route: Any) -> None:
        if route.request.url.startswith(host):
            route.continue_()
        else:
            foreign.append(route.request.url)
            route.abort()

    context.route("**/*", keep_inside)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda text: errors.append(text.text) if text.type == "error" else None)

    tab.goto(f"{manual}theory.html")
    tab.evaluate("() => document.fonts.ready.then(() => true)")
    assert tab.evaluate("() => document.fonts.check('16px \"STIX Two Math\"')")
    # a fraction is higher than a line only where MathML is laid out
    heights = [
        tab.locator(f".formula {one}").first.bounding_box()["height"] for one in ("mfrac", "mi")
    ]
    assert heights[0] > 1.5 * heights[1]

    # the page searches when keys are released, which `fill` does not do
    tab.get_by_role("textbox", name="Search").press_sequentially("differential")
    result = tab.locator(".md-search-result__link[href*='joints.html#coupling']").first
    result.wait_for(state="visible")
    tab.goto(result.get_attribute("href"))
    assert tab.get_by_role("heading", name="Coupling").is_visible()
    assert foreign == []
    assert errors == []
    context.close()
