"""Who steers, what keys do, what is repeated: the hands of a person on a run."""

import importlib
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import ROOT, new_context
from tests.web.shown import FLOATING, PATIENCE, SMALL, SPY, Shown

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

pytestmark = pytest.mark.e2e


@pytest.fixture
def page(page: Any) -> Any:
    page.set_viewport_size(SMALL)
    return page


def create(server: str, **more: Any) -> str:
    made = httpx.post(f"{server}/v1/sessions", json={"scene": FLOATING, **more}, timeout=60)
    made.raise_for_status()
    return str(made.json()["id"])


def test_one_viewer_takes_control_and_lets_go(page: Any, server: str, shown: Shown) -> None:
    session = create(server, paused=True)
    page.goto(f"{server}/#session={session}")
    role = page.locator("#role")
    shown.wait("sockets.at(-1)?.readyState === 1")
    playwright_api.expect(role).to_be_hidden()  # alone
    context = new_context(page.context.browser, viewport=SMALL)
    other = context.new_page()
    other.set_default_timeout(PATIENCE)
    other.add_init_script(SPY)
    other.goto(f"{server}/#session={session}")
    theirs = Shown(other, server)
    theirs.wait("sockets.at(-1)?.readyState === 1 && cardan.pose('near')")

    role.click()
    playwright_api.expect(role).to_have_text("Release control")
    there = other.locator("#role")
    playwright_api.expect(there).to_have_text("Another steers")
    other.get_by_role("button", name="Forward one step").click()
    playwright_api.expect(other.locator("#messages")).to_contain_text("Another viewer steers")
    assert shown.rest()["step"] == 0
    page.get_by_role("button", name="Forward one step").click()
    theirs.wait("cardan.shown().edge.step === 1")
    role.click()
    playwright_api.expect(there).to_have_text("Take control")
    other.get_by_role("button", name="Forward one step").click()
    shown.wait("cardan.shown().edge.step === 2")
    context.close()


def test_a_part_of_the_history_is_repeated(tab: Any, server: str) -> None:
    page, shown = tab, Shown(tab, server)
    page.set_viewport_size(SMALL)
    # thirty steps last for many frames of a slow browser: else each may show the same one of them
    session = create(server, paused=True, overrides={"/simulation/dt": 0.02})
    page.goto(f"{server}/#session={session}")
    shown.wait("sockets.at(-1)?.readyState === 1")
    shown.post("step", n=400)
    shown.wait("cardan.shown().step === 400")
    # it begins at the moment in the view, which the panels show up to a tenth of a second later
    page.keyboard.press("Shift+ArrowLeft")
    page.evaluate(
        """() => new Promise((done) => {
          const look = () => {
            if (cardan.shown().step !== 390) return requestAnimationFrame(look);
            document.querySelector("#loop").click();
            done();
          };
          look();
        })"""
    )
    loop = page.locator("#loop")
    playwright_api.expect(loop).to_have_text("Loop to here")
    for step in (380, 370, 360):
        page.keyboard.press("Shift+ArrowLeft")
        shown.wait(f"cardan.shown().step === {step}")
    page.keyboard.press("o")
    playwright_api.expect(loop).to_have_text("Stop loop")
    # it comes back to where it began, twice, and never leaves the part; the run itself stands
    page.evaluate(
        """() => {
          window.seen = [];
          const look = () => { seen.push(cardan.shown().step); requestAnimationFrame(look); };
          look();
        }"""
    )
    shown.wait("seen.filter((step, i) => i && step < seen[i - 1]).length >= 2")
    assert set(page.evaluate("[Math.min(...seen), Math.max(...seen)]")) <= set(range(360, 391))
    assert shown.rest()["step"] == 400
    # the session ends before one's eyes: so does what is repeated, with one message
    httpx.delete(f"{server}/v1/sessions/{session}", timeout=60)
    message = page.locator("#messages .message")
    playwright_api.expect(message).to_contain_text("The session is over")
    playwright_api.expect(page.get_by_role("button", name="Replay from here")).to_be_visible()
    page.wait_for_timeout(300)
    playwright_api.expect(message).to_have_count(1)


def test_keys_turn_the_view_and_push_what_is_chosen(page: Any, server: str, shown: Shown) -> None:
    page.goto(f"{server}/#session={create(server, paused=False)}")
    shown.wait("cardan.pose('far') && cardan.shown().time > 0")
    before = page.evaluate("cardan.screen('far')")
    page.locator("#stage canvas").focus()
    page.keyboard.press("6")
    page.keyboard.press("8")
    page.keyboard.press("+")
    shown.wait(f"Math.abs(cardan.screen('far').x - {before['x']}) > 3")
    page.keyboard.press("p")
    playwright_api.expect(page.locator("#messages")).to_contain_text("Choose a body")
    page.locator("#outline").get_by_role("button", name="far").click()
    page.locator("#stage canvas").focus()
    page.keyboard.press("p")
    shown.wait("Math.hypot(cardan.pose('far')[0], cardan.pose('far')[1] - 2) > 0.1")
    # away from who looks, level
    x, y, z = np.subtract(shown.pose("far")[:3], [0, 2, 0])
    assert y > abs(x)
    assert z == pytest.approx(0, abs=1e-6)


def test_a_key_is_given_to_something_else_and_all_are_switched_off(
    page: Any, server: str, shown: Shown
) -> None:
    page.goto(f"{server}/#session={create(server, paused=True)}")
    shown.wait("cardan.pose('near')")
    trails = page.locator("[data-overlay=trails]")

    def help_with(action: str) -> Any:
        page.get_by_role("button", name="Keys and help").click()
        return page.locator(f"#help-keys [data-does='{action}']")

    key = help_with("trails")
    key.click()
    page.keyboard.press("r")  # that of the reset
    playwright_api.expect(page.locator("#messages")).to_contain_text("is for “reset”")
    key.click()
    page.keyboard.press("z")
    playwright_api.expect(key).to_have_text("Z")
    page.get_by_role("button", name="Close").click()
    page.locator("#stage canvas").focus()
    page.keyboard.press("l")
    playwright_api.expect(trails).not_to_be_checked()
    page.keyboard.press("z")
    playwright_api.expect(trails).to_be_checked()
    # kept, as is that none of them acts
    page.reload()
    shown.wait("cardan.pose('near')")
    page.keyboard.press("z")
    playwright_api.expect(trails).not_to_be_checked()
    help_with("trails")
    page.get_by_label("Single keys act").uncheck()
    page.get_by_role("button", name="Close").click()
    page.locator("#stage canvas").focus()
    page.keyboard.press("z")
    page.keyboard.press("Control+k")
    playwright_api.expect(page.get_by_role("combobox", name="Search commands")).to_be_visible()
    playwright_api.expect(trails).not_to_be_checked()


def test_a_first_visit_is_told_what_hands_can_do(tab: Any, server: str) -> None:
    """Once, and of a scene that goes on long enough to be taken hold of."""
    page, shown = tab, Shown(tab, server)
    page.set_viewport_size(SMALL)
    page.goto(f"{server}/")
    hint = page.locator("#stage-hint")
    playwright_api.expect(hint).to_have_text("Drag to turn. Hold Ctrl and drag a body to pull it.")
    told = hint.bounding_box()
    for button in page.locator("#stage-tools button").all():
        box = button.bounding_box()
        assert box["y"] + box["height"] <= told["y"], button.inner_text()
    shown.wait("cardan.shown().time > 0")
    assert shown.rest("/scene")["simulation"]["duration"] >= 60
    box = page.locator("#stage").bounding_box()
    page.mouse.click(box["x"] + 20, box["y"] + 0.6 * box["height"])
    playwright_api.expect(hint).to_be_hidden()
    shown.close()
    page.goto(f"{server}/")
    shown.wait("cardan.shown().time > 0")
    playwright_api.expect(hint).to_be_hidden()
    shown.close()


def test_a_place_on_the_timeline_stays_its_moment_while_it_is_dragged(
    page: Any, server: str, shown: Shown
) -> None:
    """Also of a run that goes on meanwhile; afterwards the timeline has all of it again."""
    page.goto(f"{server}/#session={create(server, paused=False)}")
    shown.wait("cardan.shown().edge?.step > 200")
    slider = page.locator("#timeline")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.7 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=3)
    shown.wait("cardan.shown().mode === 'history'")
    edge, place = page.evaluate(
        "[cardan.shown().edge.step, document.getElementById('timeline').value]"
    )
    shown.wait(f"cardan.shown().edge.step > {edge + 200}")
    assert slider.input_value() == place
    assert int(slider.get_attribute("max")) < edge + 200
    page.mouse.up()
    shown.wait(f"Number(document.getElementById('timeline').max) > {edge + 200}")


def test_somebody_without_a_pointer_finds_a_body_and_moves_it(
    page: Any, server: str, shown: Shown
) -> None:
    """From the first Tab on; skip links keep the address, which names the run."""
    page.goto(f"{server}/#session={create(server, paused=True)}")
    shown.wait("cardan.pose('far') && sockets.at(-1)?.readyState === 1")
    address = page.url
    page.keyboard.press("Tab")
    playwright_api.expect(page.get_by_role("link", name="Skip to the outline")).to_be_focused()
    page.keyboard.press("Enter")
    playwright_api.expect(page.locator("#outline-search")).to_be_focused()
    assert page.url == address
    page.keyboard.type("far")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    playwright_api.expect(page.locator(".inspector-name")).to_have_text("far")
    page.keyboard.press("p")
    page.keyboard.press("Shift+ArrowRight")
    shown.wait("cardan.pose('far')[1] > 2.01")
    assert shown.rest()["step"] == 10


def test_a_notebook_cell_plays_the_run(
    page: Any, server: str, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Share copies is a cell of the Python client: run here without a notebook."""
    monkeypatch.syspath_prepend(ROOT / "clients" / "python")
    client = importlib.import_module("cardan_client")
    scene = {**FLOATING, "simulation": {"dt": 0.002, "duration": 0.02}}
    page.goto(f"{server}/#session={create(server, scene=scene)}")
    shown.wait("cardan.pose('far')")
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Notebook cell").click()
    cell = dialog.get_by_label("What was copied").input_value()
    *lines, last = cell.strip().split("\n")
    given: dict[str, Any] = {}
    exec(compile("\n".join(lines), "cell", "exec"), given)
    view = eval(last, given)
    assert isinstance(given["client"], client.Client)
    given["client"].close()
    assert "<iframe" in view._repr_html_()


def test_a_speed_that_is_not_in_the_list_is_shown(page: Any, server: str, shown: Shown) -> None:
    """The list was empty, and 3/4 was called 1/1."""
    page.goto(f"{server}/#session={create(server, paused=True, speed=0.75)}")
    speed = page.get_by_role("combobox", name="Speed")
    for factor, number in ((0.75, "0.75"), (0.3, "0.3"), (3, "3"), (0.25, "1/4")):
        words = f"{number}\N{MULTIPLICATION SIGN}"
        shown.wait("cardan.shown().state === 'paused'")
        shown.post("speed", factor=factor)
        playwright_api.expect(speed).to_have_value(str(factor))
        assert speed.locator("option:checked").text_content() == words
        playwright_api.expect(page.locator("#read-target")).to_have_text(words)


def test_gravity_that_was_changed_is_what_is_shown(page: Any, server: str, shown: Shown) -> None:
    """By anybody, to who comes later too, in a fork, and until a reset."""
    page.goto(f"{server}/#session={create(server, paused=True)}")
    shown.wait("cardan.shown().state === 'paused'")
    facts = page.locator("#inspector")
    playwright_api.expect(facts).to_contain_text("0.00  0.00  0.00 m/s²")
    shown.post("gravity", value=[0, 0, -1.62])
    playwright_api.expect(facts).to_contain_text("1.62 m/s²")
    page.reload()
    playwright_api.expect(facts).to_contain_text("1.62 m/s²")
    shown.post("step", n=2)
    shown.wait("cardan.shown().step === 2")
    before = page.evaluate("cardan.sessionId()")
    page.get_by_role("button", name="Fork here").click()
    shown.wait(f"cardan.sessionId() !== '{before}'")
    playwright_api.expect(facts).to_contain_text("1.62 m/s²")
    shown.post("reset")
    playwright_api.expect(facts).to_contain_text("0.00  0.00  0.00 m/s²")
