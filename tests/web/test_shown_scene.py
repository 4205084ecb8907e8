"""Links to stored scenes: whoever has one looks at the scene; who has a key runs a copy."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.web.conftest import serving
from tests.web.shown import FLOATING, PATIENCE, SMALL, SPY, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

SECRET = "a-secret-of-some-length-for-the-owner"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service whose keys are asked for."""
    with serving(tmp_path_factory.mktemp("data"), api_key=SECRET) as running:
        yield running


@pytest.fixture
def owner(address: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {SECRET}"}
    with httpx.Client(base_url=f"{address}/v1", timeout=60, headers=headers) as client:
        yield client


@pytest.fixture
def visitor(browser: Any) -> Iterator[Any]:
    """A tab of somebody without a key."""
    context = browser.new_context(viewport=SMALL)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script(SPY)
    yield tab
    context.close()


def stored(owner: httpx.Client) -> tuple[str, dict[str, Any]]:
    """A stored scene and a link to it."""
    made = owner.post("/scenes", json={**FLOATING, "name": "kept"})
    made.raise_for_status()
    scene = str(made.json()["id"])
    link = owner.post(f"/scenes/{scene}/shares", json={"name": "a guest"}).json()
    return scene, link


def test_a_link_shows_the_scene_and_nothing_moves(
    visitor: Any, address: str, owner: httpx.Client
) -> None:
    scene, link = stored(owner)
    errors: list[str] = []
    visitor.on("pageerror", lambda error: errors.append(str(error)))
    visitor.goto(f"{address}{link['url']}")
    shown = Shown(visitor, address)
    shown.wait(f"cardan.sessionId() === '{scene}' && cardan.pose('far')")
    assert visitor.url == f"{address}/#scene={scene}"
    assert shown.pose("far")[:3] == [0, 2, 0]
    playwright_api.expect(visitor.locator("#scene-name")).to_have_text("kept")
    playwright_api.expect(visitor.locator("#run-state")).to_have_text("stored scene")
    playwright_api.expect(visitor.locator("#messages .message")).to_have_count(0)
    assert visitor.evaluate("sockets.length") == 0
    # there is no next example: they need a key
    visitor.locator("#stage canvas").focus()
    visitor.keyboard.press("]")
    # a step is not taken, and running needs a key, which is said
    visitor.get_by_role("button", name="Forward one step").click()
    playwright_api.expect(visitor.locator("#messages")).to_contain_text("“Run a copy” starts it")
    visitor.get_by_role("button", name="Run a copy").click()
    playwright_api.expect(visitor.locator("#messages")).to_contain_text("unauthorized")
    assert shown.now()["step"] == 0
    assert visitor.evaluate("cardan.sessionId()") == scene
    assert owner.get("/sessions").json()["items"] == []
    assert errors == []


def test_the_owner_runs_a_copy_and_the_stored_scene_stays(
    page: Any, address: str, owner: httpx.Client
) -> None:
    scene, _ = stored(owner)
    page.set_viewport_size(SMALL)
    page.goto(f"{address}/?key={SECRET}")
    page.goto("about:blank")
    page.goto(f"{address}/#scene={scene}")
    shown = Shown(page, address)
    shown.wait(f"cardan.sessionId() === '{scene}'")
    page.get_by_role("button", name="Play", exact=True).click()
    shown.wait("cardan.shown().time > 0 && cardan.shown().state === 'running'")
    playwright_api.expect(page.locator("#messages")).to_contain_text("A copy of the stored scene")
    playwright_api.expect(page.locator("#scene-name")).to_have_text("kept")
    running = page.evaluate("cardan.sessionId()")
    assert running != scene
    assert owner.get(f"/scenes/{scene}").json()["name"] == "kept"
    # Back comes to the scene as it starts
    page.go_back()
    shown.wait(f"cardan.sessionId() === '{scene}' && cardan.shown().step === 0")
    owner.delete(f"/sessions/{running}")


@pytest.mark.parametrize("how", ["the link", "the address", "a wrong link"])
def test_a_link_that_is_over_says_so(
    visitor: Any, address: str, owner: httpx.Client, how: str
) -> None:
    scene, link = stored(owner)
    shown = Shown(visitor, address)
    if how == "the address":
        visitor.goto(f"{address}{link['url']}")
        shown.wait(f"cardan.sessionId() === '{scene}'")
    if how != "a wrong link":
        owner.delete(f"/scenes/{scene}/shares/{link['id']}").raise_for_status()
    if how == "the address":
        visitor.reload()
    else:
        visitor.goto(f"{address}{link['url']}{'x' if how == 'a wrong link' else ''}")
    said = visitor.locator("#messages .message")
    playwright_api.expect(said).to_contain_text("has expired")
    playwright_api.expect(said).to_contain_text("Whoever sent it can make another.")
    playwright_api.expect(said).to_have_count(1)
    assert visitor.evaluate("cardan.sessionId()") is None


def test_who_has_no_key_is_asked_for_one(visitor: Any, address: str) -> None:
    expect = playwright_api.expect
    dialog = visitor.get_by_role("dialog", name="API key")
    visitor.goto(f"{address}/")
    field = dialog.get_by_label("API key")
    expect(field).to_be_focused()
    # what is asked for is told once
    expect(visitor.locator("#messages .message")).to_have_count(0)
    field.fill("not the key")
    field.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("This is no API key of this service.")
    # an address with a key that is none asks for another one, too, and does not keep it
    visitor.goto(f"{address}/?key=nor-this-one")
    field.fill(SECRET)
    with visitor.expect_navigation():
        dialog.get_by_role("button", name="Open").click()
    Shown(visitor, address).wait("cardan.shown().time > 0")
    expect(dialog).to_have_count(0)
    assert "key" not in visitor.url
