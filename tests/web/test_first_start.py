"""The first start: kernels are not compiled yet, and somebody opens the page."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from cardan.engine.compiler.cache import complete_folder
from tests.web.conftest import OPEN, new_context, serving
from tests.web.shown import SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


def test_the_page_is_there_while_kernels_are_compiled(browser: Any, tmp_path: Path) -> None:
    """Also a service that compiles ends when it is told to."""
    context = new_context(browser, viewport=SMALL)
    tab = context.new_page()
    cache = tmp_path / "cache"
    with serving(tmp_path / "data", when=OPEN, kernel_cache=str(cache)) as address:
        tab.goto(f"{address}/")
        waiting = tab.locator("#waiting")
        playwright_api.expect(waiting).to_contain_text("“wheeled-cart” starts by itself")
        playwright_api.expect(waiting).to_contain_text("is being compiled for this machine")
        # what comes is in the view, and what else there is beside it
        playwright_api.expect(tab.locator("#scene-name")).to_have_text("wheeled-cart")
        playwright_api.expect(tab.locator("#gallery")).to_contain_text("Double pendulum")
        answer = httpx.get(f"{address}/readyz", timeout=60)
        told = answer.json()
        assert (answer.status_code, told["checks"]["kernels"]) == (503, False)
        assert told["kernels"]["done"] <= told["kernels"]["total"]
    context.close()


def test_a_session_asked_for_meanwhile_starts_by_itself(browser: Any, tmp_path: Path) -> None:
    """The kernels are there, but nobody has noted so: they are loaded before anything starts."""
    compiled = complete_folder()
    if compiled is None:
        pytest.skip("the kernels of these sources are not compiled")
    cache = tmp_path / "kernels"
    shutil.copytree(compiled.parent, cache / compiled.parent.name)
    context = new_context(browser, viewport=SMALL)
    tab = context.new_page()
    with serving(tmp_path / "data", when=OPEN, kernel_cache=str(cache)) as address:
        tab.goto(f"{address}/#scene=double-pendulum")
        shown = Shown(tab, address)
        playwright_api.expect(tab.locator("#waiting")).to_be_visible()
        shown.wait("cardan.shown().time > 0")
        playwright_api.expect(tab.locator("#waiting")).to_be_hidden()
        assert httpx.get(f"{address}/readyz", timeout=60).json()["status"] == "ready"
    context.close()
