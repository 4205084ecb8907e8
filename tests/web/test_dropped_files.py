"""Files that are dropped on the page or chosen, whatever they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.shown import FLOATING, SMALL, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e

SCENE = json.dumps(FLOATING)


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


def drop(page: Any, place: str, *files: Path) -> None:
    """As a hand does."""
    box = page.locator(place).bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    hand = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        hand.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})


def text(page: Any) -> str:
    return str(page.evaluate("cardan.editor()")["text"])


def test_a_file_that_is_dropped_on_the_text_takes_its_place(
    page: Any, shown: Shown, tmp_path: Path
) -> None:
    """The editor wrote it into its text as well."""
    shown.open("double-pendulum", paused=True)
    file = tmp_path / "scene.json"
    file.write_text(SCENE)
    drop(page, "#stage", file)
    playwright_api.expect(page.locator("#scene-text")).to_contain_text("floating")
    other = tmp_path / "other.json"
    other.write_text(SCENE.replace("floating", "another"))
    drop(page, "#scene-text", other)
    playwright_api.expect(page.locator("#scene-text")).to_contain_text("another")
    # the editor reads files in tasks of its own
    page.wait_for_timeout(200)
    assert text(page) == SCENE.replace("floating", "another")
    # it is taken back like any change
    page.get_by_role("button", name="Undo").click()
    assert text(page) == SCENE


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("folder", None, "“folder” cannot be read. It may be a folder"),
        ("run.npz", b"PK\x03\x04\xff\xfe\x00", "“run.npz” is no text in UTF-8"),
        ("none.json", b"", "“none.json” is empty"),
    ],
    ids=["folder", "binary", "empty"],
)
def test_what_cannot_be_a_scene_is_told_and_takes_nothing_away(
    page: Any, shown: Shown, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    shown.open("double-pendulum", paused=True)
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill(SCENE)
    path = tmp_path / name
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    faults = page.locator("#scene-faults")
    drop(page, "#scene-dialog h2", path)
    playwright_api.expect(faults).to_contain_text(words)
    assert text(page) == SCENE
    # beside another file, too: a folder looked like a service that does not answer
    if content is None:
        robot = tmp_path / "robot.urdf"
        robot.write_text("<robot name='r'/>")
        drop(page, "#scene-dialog h2", robot, path)
        playwright_api.expect(faults).to_contain_text(words)


def test_a_text_that_is_not_json_says_so_at_once(page: Any, shown: Shown, tmp_path: Path) -> None:
    shown.open("double-pendulum", paused=True)
    file = tmp_path / "scene.json"
    file.write_text('{"version": 1,, "bodies": []}')
    drop(page, "#stage", file)
    faults = page.locator("#scene-faults")
    playwright_api.expect(faults).to_contain_text("line 1, column 15")
    playwright_api.expect(faults).to_contain_text("This is not JSON")


def test_a_file_that_was_changed_can_be_chosen_again(
    page: Any, shown: Shown, tmp_path: Path
) -> None:
    shown.open("double-pendulum", paused=True)
    page.get_by_role("button", name="Open scene").click()
    file = tmp_path / "scene.json"
    for name in ("floating", "another"):
        file.write_text(SCENE.replace("floating", name))
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Choose files").click()
        # as a browser does, which tells of a change alone
        assert page.evaluate("document.querySelector('#scene-file').files.length") == 0
        chooser.value.set_files(file)
        playwright_api.expect(page.locator("#scene-text")).to_contain_text(name)
