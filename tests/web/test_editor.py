"""Writing a scene: what the editor proposes, leaves out, adds and compares; undo in a browser."""

import json
from typing import Any

import pytest

from cardan.schemas import load_scene
from cardan.schemas.examples import example_document, example_names
from cardan.schemas.json_schema import scene_json_schema
from tests.web.modules import run_module
from tests.web.shown import FLOATING, SMALL, Shown

SCHEMA = scene_json_schema()
CURSOR = "|"


def expanded(name: str) -> dict[str, Any]:
    return load_scene(example_document(name)).model_dump(mode="json")


def test_a_scene_without_its_defaults_is_the_same_scene(node: str) -> None:
    """Of every example; and its text is JSON of the same."""
    scenes = [expanded(name) for name in example_names()]
    body = """return input.scenes.map((scene) => {
      const short = withoutDefaults(scene, input.schema);
      return [short, JSON.parse(formatted(short)), formatted(short)]; });"""
    given = {"scenes": scenes, "schema": SCHEMA}
    answers = run_module(node, "scene_format.js", "withoutDefaults, formatted", body, given)
    for scene, (short, again, text) in zip(scenes, answers, strict=True):
        assert short == again
        assert load_scene(short).model_dump(mode="json") == scene
        # triangles have no defaults
        brief, full = ({**one, "meshes": {}} for one in (short, scene))
        assert len(json.dumps(brief)) < 0.6 * len(json.dumps(full))
        assert len(text.splitlines()) < len(json.dumps(scene, indent=1).splitlines()) / 2


def suggested(node: str, text: str) -> set[str]:
    at = text.index(CURSOR)
    given = {"text": text.replace(CURSOR, ""), "at": at, "schema": SCHEMA}
    body = "return suggest(input.text, input.at, input.schema)"
    found = run_module(node, "completion.js", "suggest", body, given)
    return set() if found is None else {option["label"] for option in found["options"]}


def test_what_can_stand_at_a_place_is_proposed(node: str) -> None:
    body = '{"version": 1, "bodies": [{"name": "a", "shapes": [{%s}]}], "joints": [{%s}]}'
    names = suggested(node, body % ("", '"type": "hinge", "na|'))
    assert {'"name"', '"axis"', '"motor"', '"limits"'} <= names
    assert '"type"' not in names  # it is there
    assert '"pitch"' not in names  # of another joint
    assert suggested(node, body % ("", '"type": "|"')) == {
        json.dumps(kind) for kind in ("ball", "hinge", "slider", "hinge2", "universal", "fixed",
                                      "cylindrical", "planar", "distance", "screw", "gear", "rack",
                                      "coupling")
    }  # fmt: skip
    assert suggested(node, body % ("", '"type": "hinge", "parent": |')) >= {'"world"', '"a"'}
    assert '"radius"' in suggested(node, body % ('"type": "sphere", "|', ""))
    assert '"size"' not in suggested(node, body % ('"type": "sphere", "|', ""))
    # a text that is not finished
    assert '"simulation"' in suggested(node, '{"version": 1, "sim|')
    assert suggested(node, '{"simulation": {"formulation": |') == {
        '"maximal"',
        '"reduced"',
        '"auto"',
    }
    assert suggested(node, '{"simulation": {"collisions": |') == {"true", "false"}
    assert suggested(node, "|") == set()


def test_a_member_is_explained(node: str) -> None:
    given = {"text": '{"simulation": {"dt": 0.001}}', "schema": SCHEMA}
    body = "return explain(input.text, 19, input.schema)"
    found = run_module(node, "completion.js", "explain", body, given)
    told = SCHEMA["$defs"]["SimulationOptions"]["properties"]["dt"]["description"]
    assert found == {"from": 16, "to": 20, "text": told}


def test_pieces_make_scenes_that_run_and_leave_the_text_alone(node: str) -> None:
    """All of them one after another, on an empty text and on one that a person has laid out."""
    body = """return Object.keys(PIECES).reduce((text, name) => {
      const { from, to, insert } = withPiece(text, PIECES[name]);
      return text.slice(0, from) + insert + text.slice(to); }, input);"""
    for text in ("", '{ "version": 1,\n\n  "bodies": [ ]  }', json.dumps(FLOATING, indent=4)):
        made = run_module(node, "scene_pieces.js", "PIECES, withPiece", body, text)
        scene = load_scene(json.loads(made))
        assert len(scene.bodies) == 5 + (2 if "floating" in text else 0)
        assert len(scene.joints) == 4
        assert made.startswith(text.rstrip("}] \n"))


def test_changes_are_told_by_name(node: str) -> None:
    before = {"gravity": [0, 0, -9.81], "bodies": [{"name": "a", "mass": 1}, {"name": "b"}]}
    after = {
        "gravity": [0, 0, -1.62],
        "bodies": [{"name": "b"}, {"name": "a", "mass": 2}, {"name": "c"}],
    }
    body = """return changesBetween(...input)
      .map(({ path, before, after }) => [path, before ?? null, after ?? null]);"""
    found = run_module(node, "scene_format.js", "changesBetween", body, [before, after])
    assert found == [
        ["gravity", [0, 0, -9.81], [0, 0, -1.62]],
        ["bodies/a/mass", 1, 2],
        ["bodies/c", None, {"name": "c"}],
    ]
    assert run_module(node, "scene_format.js", "changesBetween", body, [before, before]) == []


def test_gravity_and_motors_are_patched_and_nothing_else(node: str) -> None:
    joint = {
        "name": "a/b",
        "type": "hinge",
        "motor": {"type": "velocity", "target": 1, "max_force": 5},
    }
    before = {"gravity": [0, 0, -9.81], "bodies": [{"name": "a", "mass": 1}], "joints": [joint]}

    def patch(change: str) -> Any:
        body = f"const after = structuredClone(input); {change}; return patchOf(input, after)"
        return run_module(node, "patch.js", "patchOf", body, before)

    assert patch("") is None
    assert patch("after.gravity = [0, 0, 0]") == [{"op": "gravity", "fields": {"value": [0, 0, 0]}}]
    # without the field it is that of the earth
    assert patch("delete after.gravity") is None
    faster = {"joint": "a/b", "axis": 0, "target": 2, "max_force": 7}
    assert patch("Object.assign(after.joints[0].motor, {target: 2, max_force: 7})") == [
        {"op": "set_motor", "fields": faster}
    ]
    for change in (
        "after.gravity = [0, 0, 0]; after.bodies[0].mass = 2",
        "after.joints[0].motor.type = 'force'",
        "after.joints[0].motor.target = {times: [0, 1], values: [0, 1]}",
        "delete after.joints[0].motor.max_force",
        "delete after.joints[0].motor",
        "after.joints = []; after.gravity = [0, 0, 0]",
        "after.name = 'other'",
    ):
        assert patch(change) is None, change


@pytest.mark.e2e
def test_a_scene_is_changed_and_changes_are_undone(page: Any, shown: Shown) -> None:
    """The shown scene without defaults, a change with its diff, a piece; undone and done again."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

    def text() -> str:
        return str(page.evaluate("cardan.editor()")["text"])

    page.set_viewport_size(SMALL)
    shown.open("heavy-top")
    page.get_by_role("button", name="Open scene").click()
    dialog = page.get_by_role("dialog", name="Open a scene")
    api.expect(dialog.get_by_role("button", name="Undo")).to_be_disabled()
    dialog.get_by_role("button", name="Insert the shown scene").click()
    inserted = text()
    assert '"integrator_tolerance"' not in inserted  # a default
    assert json.loads(inserted)["name"] == "heavy-top"
    changes = page.locator("#scene-changes")
    api.expect(changes).to_contain_text("As it runs now")
    # what can change while it runs needs no new start
    patched = dialog.get_by_role("button", name="Apply to the run")
    api.expect(patched).to_be_hidden()
    session = page.evaluate("cardan.sessionId()")
    page.locator("#scene-text").fill(json.dumps({**json.loads(inserted), "gravity": [0, 0, -1]}))
    patched.click()
    api.expect(dialog).to_be_hidden()
    assert page.evaluate("cardan.sessionId()") == session
    told = shown.rest("/commands")["items"][-1]
    assert (told["op"], told["value"]) == ("gravity", [0, 0, -1])
    page.get_by_role("button", name="Open scene").click()
    dialog.get_by_role("button", name="Undo").click()
    assert text() == inserted
    api.expect(patched).to_be_hidden()
    dialog.get_by_label("Add to the scene").select_option("Box")
    added = text()
    assert [body["name"] for body in json.loads(added)["bodies"]][-1] == "box"
    api.expect(changes).to_contain_text("1 change to what runs")
    api.expect(changes).to_contain_text("bodies/box")
    dialog.get_by_role("button", name="Undo").click()
    assert text() == inserted
    dialog.get_by_role("button", name="Redo").click()
    assert text() == added
    page.locator("#scene-text").press("Control+z")
    assert text() == inserted
    page.locator("#scene-text").press("Control+y")
    # completion by keyboard: a member of the scene, at its end
    page.locator("#scene-text").press("Control+End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type(', "sens')
    proposed = page.locator(".cm-tooltip-autocomplete")
    api.expect(proposed).to_contain_text('"sensors"')
    # a list that has just opened takes no Enter for 75 ms: who typed on meant a new line
    page.evaluate("window.opened = Date.now()")
    shown.wait("Date.now() > window.opened + 75")
    page.keyboard.press("Enter")
    page.keyboard.type("[]")
    assert json.loads(text())["sensors"] == []
    # a fault is underlined while it is written
    page.keyboard.type("]")
    api.expect(page.locator(".cm-lintRange-error")).to_have_count(1)
    page.keyboard.press("Backspace")
    dialog.get_by_role("button", name="Check and run").click()
    api.expect(dialog).to_be_hidden()
    shown.wait("cardan.pose('box') && cardan.shown().time > 0")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("null", "/ "),
        ('{"version": 1, "bodies": 5}', "/bodies"),
        ('{"version": 1, "bodies": [null]}', "/bodies/0"),
        ('{"version": 1, "bodies": [{"name": "near", "position": 5}], "joints": 5}', "/joints"),
    ],
)
def test_what_is_no_scene_is_told_whatever_is_done_with_it(
    page: Any, shown: Shown, text: str, place: str
) -> None:
    """Values of another kind than a scene has there: an error in the console was all."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum", paused=True)
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill(text)
    faults = page.locator("#scene-faults")
    for act in (
        lambda: page.get_by_label("Add to the scene").select_option("Box"),
        lambda: page.get_by_role("button", name="Fix the base").click(),
        lambda: page.get_by_role("button", name="Check and run").click(),
    ):
        faults.evaluate("(list) => list.replaceChildren()")
        act()
        playwright_api.expect(faults).to_contain_text(place)
        assert page.evaluate("cardan.editor()")["text"] == text


@pytest.mark.e2e
def test_what_was_written_is_there_when_the_page_is_loaded_again(page: Any, shown: Shown) -> None:
    playwright_api = pytest.importorskip("playwright.sync_api")
    shown.open("double-pendulum", paused=True)
    page.get_by_role("button", name="Open scene").click()
    page.locator("#scene-text").fill('{"version": 1, "name": "an hour of')
    page.reload()
    page.get_by_role("button", name="Open scene").click()
    dialog = page.get_by_role("dialog", name="Open a scene")
    playwright_api.expect(dialog.locator("#scene-text")).to_contain_text("an hour of")
    playwright_api.expect(dialog.get_by_role("button", name="Undo")).to_be_disabled()


@pytest.mark.e2e
def test_what_is_chosen_last_is_written(page: Any, shown: Shown) -> None:
    """The answer about a robot comes when a scene was chosen in its place."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    page.set_viewport_size(SMALL)
    shown.open("double-pendulum", paused=True)
    page.get_by_role("button", name="Open scene").click()
    ball = '<body><freejoint/><geom type="sphere" size=".1"/></body>'
    robot = f"<mujoco><worldbody>{ball}</worldbody></mujoco>"
    files = page.locator("#scene-file")
    held: list[Any] = []
    page.route("**/scenes:import*", lambda route: held.append(route))
    with page.expect_request("**/scenes:import*"):
        files.set_input_files({"name": "r.xml", "mimeType": "text/xml", "buffer": robot.encode()})
    api.expect(page.locator("#scene-faults")).to_contain_text("Importing")
    text = json.dumps(FLOATING)
    files.set_input_files(
        {"name": "s.json", "mimeType": "application/json", "buffer": text.encode()}
    )
    api.expect(page.locator("#scene-run")).to_be_enabled()
    api.expect(page.locator("#scene-faults")).to_be_empty()
    with page.expect_response("**/scenes:import*") as answered:
        held[0].continue_()
    answered.value.finished()
    # what came late has been read by then
    page.evaluate("new Promise((done) => setTimeout(done))")
    assert page.evaluate("cardan.editor()")["text"] == text
    api.expect(page.locator("#scene-faults")).to_be_empty()
