"""A disk that is full for a while: the page says so, shows what it has, and goes on by itself."""

from pathlib import Path
from typing import Any

import pytest

from tests.service.test_full_disk import disk as disk
from tests.service.test_full_disk import fill
from tests.web.conftest import serving
from tests.web.shown import Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


def test_a_full_disk_is_told_and_what_is_shown_goes_on(tab: Any, disk: Path) -> None:
    expect = playwright_api.expect
    with serving(disk / "data", min_free_bytes="0") as server:
        shown = Shown(tab, server)
        shown.open("double-pendulum")
        session = tab.evaluate("cardan.sessionId()")
        fill(disk / "ballast")
        tab.get_by_role("button", name="Dominoes").click()
        message = tab.locator(".message")
        expect(message).to_contain_text("Storage failed")
        expect(message).to_contain_text("The session cannot be stored: No space left on device.")
        expect(message).to_contain_text("trying again may help")
        assert tab.evaluate("cardan.sessionId()") == session
        tab.evaluate("window.before = cardan.shown().step")
        shown.wait("cardan.shown().step > window.before")
        (disk / "ballast").unlink()
        message.get_by_role("button", name="Try again").click()
        shown.wait(f"cardan.sessionId() !== '{session}' && cardan.shown().time > 0")
        expect(message).to_have_count(0)
        shown.close()
